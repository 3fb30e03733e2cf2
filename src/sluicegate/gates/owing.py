"""What a gate does behind its answers: what outlives a call, and what the record is owed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeAlias

from sluicegate.gates.debts import Debts
from sluicegate.gates.failures import is_failure, tell_failure
from sluicegate.gates.ports import AuditUnavailable, HeldBack

Due: TypeAlias = Callable[[], Coroutine[Any, Any, object]]
"""Records the end of one call; what is in the record already is not written again."""

_MOST: Final = 10_000
_LOG: Final = logging.getLogger("sluicegate")


class Owing:
    """Ends of calls that the record did not take. Bound to the event loop that uses it.

    ``owe``: an intent without its end, which holds up every further call of its write.
    ``owe_doubt``: a success that its caller never heard; no write begins before the record says
    that it is open, since its caller may ask again. Source: SPEC AUD-1, RET-2.
    """

    def __init__(self) -> None:
        self._ends: Debts[Due] = Debts(_pay, most=_MOST, silent=AuditUnavailable, say=_say)
        self._doubts: Debts[Due] = Debts(_pay, most=_MOST, silent=AuditUnavailable, say=_say_doubts)
        self._unfinished: set[asyncio.Task[object]] = set()

    @property
    def count(self) -> int:
        """How many ends the record is owed."""
        return self._ends.count + self._doubts.count

    def finish_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Let ``work`` outlive its call; ``close`` waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self._unfinished.add(task)
        task.add_done_callback(self._finished)

    def owe(self, request_id: str, due: Due) -> None:
        """Try again, in time and once the record takes something."""
        _tell_lost(self._ends.owe(request_id, due))

    def owe_doubt(self, request_id: str, due: Due) -> None:
        """Tell it at once; where that fails, likewise, and before another write begins."""
        _tell_lost(self._doubts.owe(request_id, due))
        self.finish_later(self._tell_doubt(request_id))

    def begin(self) -> None:
        """Begin to pay what is owed, as where the record is known to take events."""
        self._doubts.begin()
        self._ends.begin()

    async def demand_no_doubt(self) -> None:
        """See that the record knows of every doubt. Raises: HeldBack while it does not."""
        try:
            await self._doubts.settle()
        except BaseException as error:
            if not is_failure(error):
                raise
            raise HeldBack(tell_failure(error)) from error

    async def _tell_doubt(self, request_id: str) -> None:
        try:
            await self._doubts.pay(request_id)
        except BaseException as error:
            if not is_failure(error):
                raise
            _LOG.error(
                "call %s: its success was not heard, and until the record takes events again it"
                " may call it closed: %s",
                request_id,
                type(error).__name__,
            )

    async def settle(self) -> None:
        """Wait for what outlives its call, and for nothing that it comes to owe."""
        while self._unfinished:
            await asyncio.wait(self._unfinished)

    async def close(self) -> None:
        """Wait for what outlives its call, then try once more what is owed, and no more."""
        await self.settle()
        await self._doubts.close()
        await self._ends.close()

    def _finished(self, task: asyncio.Task[object]) -> None:
        self._unfinished.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("what outlived its call failed: %s", type(task.exception()).__name__)


async def _pay(due: Due) -> bool:
    await due()
    return True


def _say(count: int) -> str:
    calls = "call has its end" if count == 1 else "calls have their ends"
    return f"{count} {calls} not in the record yet"


def _say_doubts(count: int) -> str:
    calls = "success that was not heard is" if count == 1 else "successes that were not heard are"
    return f"{count} {calls} not in the record as open yet, and no write begins before"


def _tell_lost(request_id: str | None) -> None:
    if request_id is not None:
        _LOG.error(
            "call %s: its end is not recorded, and no longer tried: an operator must", request_id
        )
