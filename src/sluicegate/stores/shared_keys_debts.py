"""What the key store was not told: paid off the callers' path, until it is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

from sluicegate.gates.failures import is_failure
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.shared_keys_table import Claim, KeyStoreUnavailable

_LOG: Final = logging.getLogger("sluicegate")
_AGAIN_S: Final = 1.0
_SELDOM_S: Final = 60.0
"""What fails is tried again after ``_AGAIN_S``, each further time after twice as long."""


class Debts:
    """The claims whose end is owed; ``pay`` tells one, and raises where that fails.

    False: there is no end to be told yet, and it is owed further.

    At most ``most`` are kept: whose claim is forgotten is settled when its key is met again.
    """

    def __init__(self, pay: Callable[[Claim], Coroutine[Any, Any, bool]], most: int) -> None:
        self._pay = pay
        self._most = most
        self._owed: dict[str, Claim] = {}
        self._again_s = _AGAIN_S
        self._problem: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def owe(self, claim: Claim) -> None:
        """Take note of a claim, and see that it is tried again in time."""
        self._owed[claim.request_id] = claim
        if len(self._owed) > self._most:
            del self._owed[next(iter(self._owed))]
        self._again_s = _AGAIN_S
        if self._timer is not None and self._timer.when() > self._in_time():
            self._stop_timer()
        self._plan()

    def find(self, request_id: str) -> Claim | None:
        """Return what is owed of a request."""
        return self._owed.get(request_id)

    async def pay(self, claim: Claim) -> bool:
        """Tell of one claim now; False: there is nothing to tell yet. Raises: AuditUnavailable."""
        if not await self._pay(claim):
            return False
        if self._owed.get(claim.request_id) is claim:
            del self._owed[claim.request_id]
        return True

    def begin(self) -> None:
        """Begin to pay what is owed, as where the key store is known to answer."""
        self._stop_timer()
        if self._owed and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Try once more, and then no more."""
        self.begin()
        if self._task is not None:
            await asyncio.wait([self._task])
        self._stop_timer()

    def _in_time(self) -> float:
        return asyncio.get_running_loop().time() + self._again_s

    def _stop_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _plan(self) -> None:
        if self._owed and self._timer is None and self._task is None:
            self._timer = asyncio.get_running_loop().call_at(self._in_time(), self.begin)

    async def _run(self) -> None:
        problem: str | None = None
        try:
            for claim in list(self._owed.values()):
                try:
                    await self.pay(claim)
                except KeyStoreUnavailable as error:
                    problem = str(error)
                    # Nor would it take the others; where it is this one alone, they come first.
                    if self._owed.pop(claim.request_id, None) is not None:
                        self._owed[claim.request_id] = claim
                    break
                except BaseException as error:
                    if not is_failure(error):
                        raise
                    is_told = isinstance(error, AuditUnavailable)
                    problem = str(error) if is_told else type(error).__name__
        finally:
            self._task = None
            self._again_s = min(2 * self._again_s, _SELDOM_S) if self._owed else _AGAIN_S
            self._plan()
        if problem is not None and problem != self._problem:
            count = len(self._owed)
            keys = "key is" if count == 1 else "keys are"
            _LOG.warning("%d %s not settled in the key store yet: %s", count, keys, problem)
        self._problem = problem
