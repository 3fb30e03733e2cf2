"""The ways out of a call but its own answer: refused, stopped between attempts, or failed.

Whatever is unexpected ends as a closed failure, recorded where possible; a call that is cancelled
still closes its intent. Source: SPEC RES-9, AUD-1, ARG-8.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from sluicegate.gates.envelopes import Failure, Refused
from sluicegate.gates.failures import is_failure, text_of
from sluicegate.gates.journal import Journal
from sluicegate.gates.means import Means
from sluicegate.gates.owing import Due
from sluicegate.gates.ports import AuditUnavailable, HeldBack, KeyUnreadable
from sluicegate.gates.recording import Subject
from sluicegate.gates.refusing import fail, refuse
from sluicegate.gates.retrying import Tally
from sluicegate.gates.serving import Line
from sluicegate.values.codes import AgentCode, Code, Stage
from sluicegate.values.names import show_name
from sluicegate.values.rejections import Rejected

R = TypeVar("R")

_LOG: Final = logging.getLogger("sluicegate")
_ABANDONED: Final = Rejected(stage=Stage.FETCH, code=Code.UPSTREAM_TIMEOUT)


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far one call came.

    ``valid``: the call ladder accepted the arguments. ``sent``: something was handed to an adapter.
    ``open``: a write was sent whose effect is not known; ``left_open``: by an attempt before the
    running one.
    """

    tally: Tally = field(default_factory=Tally)
    valid: bool = False
    sent: bool = False
    open: bool = False
    left_open: bool = False


class Closing:
    """Ends one call, and says what the agent sees of that. Not shared, not used twice."""

    def __init__(
        self, means: Means, line: Line, subject: Subject, raw: bytes, journal: Journal
    ) -> None:
        self._means = means
        self._line = line
        self._subject = subject
        self._raw = raw
        self._journal = journal
        self.progress = Progress()

    async def run(self, work: Callable[[], Awaitable[R]]) -> R | Failure | Refused:
        """Do ``work``; every way out but its own or a cancellation is a closed failure (RES-9)."""
        running, request_id = self._means.running, self._subject.request_id
        running.add(request_id)
        try:
            return await self._closed(work)
        except asyncio.CancelledError:
            # A cancelled call still closes its intent, without its caller.
            self._close_behind(lambda: self._abandon(_ABANDONED))
            raise
        finally:
            running.discard(request_id)

    async def _closed(self, work: Callable[[], Awaitable[R]]) -> R | Failure | Refused:
        try:
            done = await work()
        except AuditUnavailable as error:
            return await self._unavailable(error)  # no event, no answer (AUD-1)
        except BaseException as error:
            if not is_failure(error):
                raise
            return await self._unexpected(error)  # closed, and audited where possible
        self._means.owing.begin()
        return done

    async def stop(self, rejected: Rejected) -> Failure | Refused:
        """End a call before, or between, dispatches. Raises: AuditUnavailable."""
        if self.progress.sent:
            failure = self.failure(rejected)
            await self._journal.abandoned(
                rejected,
                failure,
                attempt=self.progress.tally.attempts + 1,
                outcome_open=self.progress.open,
            )
            return failure
        refused = self._refuse(rejected)
        invalid = refused.code in (AgentCode.INVALID_ARGUMENTS, AgentCode.CHECK_FAILED)
        if self.progress.valid and not invalid:
            self.end_row()  # denied, or held up: valid all the same
        subject = self._subject
        if invalid and self._means.repetition.is_repeated(subject.caller, subject.tool, self._raw):
            rejected = Rejected(
                stage=Stage.CONFORM,
                code=Code.REPEATED_INVALID_CALL,
                findings=rejected.findings,
            )
            refused = self._refuse(rejected)
        await self._journal.refused(rejected, refused)
        return refused

    def failure(self, rejected: Rejected) -> Failure:
        """Return what the agent sees of a call that ran, or may have run."""
        return fail(
            rejected,
            tool=self._subject.tool,
            request_id=self._subject.request_id,
            errors=self._line.contract.errors,
            outcome_open=self.progress.open,
            left_open=self.progress.left_open,
        )

    def end_row(self) -> None:
        """A valid call ends the row of identical invalid ones (ARG-8)."""
        self._means.repetition.forget(self._subject.caller, self._subject.tool)

    async def _unavailable(self, error: AuditUnavailable) -> Failure | Refused:
        _LOG.error("call %s: no record: %s", self._subject.request_id, error)
        rejected = Rejected(stage=Stage.AUDIT, code=Code.AUDIT_UNAVAILABLE)
        if isinstance(error, HeldBack):
            # What attends the record holds back what begins, and not what is told of it.
            held = replace(rejected, told={"held_back": str(error)})
            return await self._still_closed(lambda: self.stop(held), held)
        return await self._unrecorded(rejected)

    async def _unexpected(self, error: BaseException) -> Failure | Refused:
        # The text of an unexpected exception may quote an answer: it goes to custody only.
        key = show_name(str(error.name)) if isinstance(error, KeyUnreadable) else None
        _LOG.error(
            "call %s: %s, closed as INTERNAL",
            self._subject.request_id,
            f"unexpected {type(error).__name__}"
            if key is None
            else f"the key {key} of upstream.signature cannot be read",
        )
        rejected = Rejected(
            stage=Stage.INTERNAL,
            code=Code.INTERNAL,
            engine_message=text_of(error),
            told=None if key is None else {"unreadable_key": key},
        )
        if self.progress.sent:
            return await self._still_closed(lambda: self._abandon(rejected), rejected)
        return await self._still_closed(lambda: self.stop(rejected), rejected)

    async def _still_closed(
        self, record: Callable[[], Awaitable[Failure | Refused | None]], rejected: Rejected
    ) -> Failure | Refused:
        """Record how the call ends; where the record fails as well, it is still closed."""
        ended = None
        try:
            ended = await record()
        except BaseException as failed:
            if not is_failure(failed):
                raise
            _LOG.error("call %s: no record: %s", self._subject.request_id, type(failed).__name__)
        return await self._unrecorded(rejected) if ended is None else ended

    async def _unrecorded(self, rejected: Rejected) -> Failure | Refused:
        """Answer without a record; an intent that may be there is closed behind the answer."""
        self._close_behind(lambda: self._close_intent(rejected))
        # One turn of the loop puts it into the queue, before the caller can ask again.
        await asyncio.sleep(0)
        if self.progress.valid:
            self.end_row()
        if self.progress.sent:
            return self.failure(rejected)
        return self._refuse(rejected)

    async def _close_intent(self, rejected: Rejected) -> None:
        """Close an intent that may be in the record although recording it failed (AUD-1).

        Its commit may have come too late, or stand in one of two sinks alone. Left open, it
        would hold up every further call of a write that was never sent (RET-2).
        """
        if self.progress.sent:
            await self._abandon(rejected)
        else:
            await self._journal.refused(rejected, self._refuse(rejected))

    def _close_behind(self, close: Due) -> None:
        if self._journal.waits:
            self._means.owing.finish_later(self._surely(close))

    async def _surely(self, close: Due) -> None:
        """Do what closes the intent; where the record takes it not, it is owed until it does."""

        async def again() -> None:
            self._journal.end_anew()
            await close()

        try:
            await close()
        except BaseException as error:
            if not is_failure(error):
                raise
            self._means.owing.owe(self._subject.request_id, again)
            _LOG.error(
                "call %s: its intent may stand open until the record takes events again: %s",
                self._subject.request_id,
                type(error).__name__,
            )

    async def _abandon(self, rejected: Rejected) -> None:
        if self._journal.waits:
            await self._journal.abandoned(
                rejected,
                self.failure(rejected),
                attempt=self._journal.attempt,
                outcome_open=self.progress.open,
            )

    def _refuse(self, rejected: Rejected) -> Refused:
        return refuse(rejected, tool=self._subject.tool, request_id=self._subject.request_id)
