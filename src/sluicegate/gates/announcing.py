"""The record of the sets that a gate serves: one is opened, swapped for another, kept (CON-3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.errors import SluicegateError
from sluicegate.gates.envelopes import Refused
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.means import Means
from sluicegate.gates.ports import AuditUnavailable, Notice
from sluicegate.gates.recording import Subject, record_set
from sluicegate.gates.refusing import refuse
from sluicegate.gates.serving import Serving
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.rejections import Rejected

_LOG: Final = logging.getLogger("sluicegate")


class Announcer:
    """Records which set was opened, once, before the first call is judged by it."""

    __slots__ = ("_announced", "_announcing")

    def __init__(self) -> None:
        self._announced = False
        self._announcing = asyncio.Lock()

    def renew(self) -> None:
        """Have the set recorded again: the one that calls are judged by is another now."""
        self._announced = False

    async def announce(
        self, means: Means, serving: Callable[[], Serving], subject: Subject
    ) -> Refused | None:
        """Return the refusal of the call where the set cannot be recorded.

        ``serving`` is asked when it is recorded: another call may have to wait for that.
        """
        return None if self._announced else await self._announce_once(means, serving, subject)

    async def _announce_once(
        self, means: Means, serving: Callable[[], Serving], subject: Subject
    ) -> Refused | None:
        async with self._announcing:
            if self._announced:
                return None
            try:
                await means.store.record([_set_event(means, serving(), "opened", ())])
            except AuditUnavailable as error:
                _LOG.error("call %s: no record: %s", subject.request_id, error)
                rejected = Rejected(stage=Stage.AUDIT, code=Code.AUDIT_UNAVAILABLE)
                return refuse(rejected, tool=subject.tool, request_id=subject.request_id)
            self._announced = True
        return None


async def record_swapped(means: Means, serving: Serving) -> None:
    """Record that ``serving`` takes the place of the set before it. Raises: AuditUnavailable."""
    await means.store.record([_set_event(means, serving, "swapped", ())])


async def record_kept(means: Means, serving: Serving, problems: Sequence[Problem]) -> None:
    """Record that ``serving`` stays because of ``problems``, and tell the operators.

    Raises: AuditUnavailable.
    """
    await means.store.record([_set_event(means, serving, "kept", problems)])
    first = problems[0]
    means.notifier.notify(
        Notice(
            owner="",
            tool="",
            contract_version="",
            code=str(first.code),
            stage=str(Stage.REGISTER),
            request_id="",
            time=means.clock.now(),
            findings=(Finding(code=first.code, hint=str(first)),),
            says=str(first),
        )
    )


def tell_unopened(error: BaseException) -> Problem:
    """Return the problem of a folder that could not be opened anew."""
    if isinstance(error, SluicegateError | OSError):
        message = str(error)
    else:
        # The text of an unexpected exception may quote anything, so only its type is told.
        message = f"the folder could not be opened: {type(error).__name__}"
    return Problem(code=Code.CONTRACT_INVALID, document="", message=message, mend="")


def _set_event(
    means: Means, serving: Serving, what: str, problems: Sequence[Problem]
) -> AuditEvent:
    return record_set(
        serving.contracts,
        serving.withdrawn,
        what=what,
        problems=problems,
        request_id=means.new_request_id(),
        time=means.clock.now(),
    )
