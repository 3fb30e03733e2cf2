"""What somebody else was not told: paid off the callers' path, until it is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic, TypeVar

from sluicegate.gates.failures import is_failure, tell_failure

T = TypeVar("T")

_LOG: Final = logging.getLogger("sluicegate")
_AGAIN_S: Final = 1.0
_SELDOM_S: Final = 60.0
"""What fails is tried again after ``_AGAIN_S``, each further time after twice as long."""


class Debts(Generic[T]):
    """What is owed, by name; ``pay`` tells one, and raises where that fails.

    ``pay`` returns False where there is nothing to be told yet: it is owed further. ``silent`` is
    raised where none of the others would be taken either. ``say`` tells in the log how many are
    owed, for each new reason once. At most ``most`` are kept. One may be told twice, side by side.
    """

    def __init__(
        self,
        pay: Callable[[T], Coroutine[Any, Any, bool]],
        *,
        most: int,
        silent: type[Exception],
        say: Callable[[int], str],
    ) -> None:
        self._pay = pay
        self._most = most
        self._silent = silent
        self._say = say
        self._owed: dict[str, T] = {}
        self._again_s = _AGAIN_S
        self._problem: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def count(self) -> int:
        """How many are owed."""
        return len(self._owed)

    def owe(self, name: str, debt: T) -> str | None:
        """Take note of a debt, and see that it is tried again in time.

        Returns the name of the oldest one, where it was let go for this one.
        """
        self._owed[name] = debt
        oldest = None
        if len(self._owed) > self._most:
            oldest = next(iter(self._owed))
            del self._owed[oldest]
        self._again_s = _AGAIN_S
        if self._timer is not None and self._timer.when() > self._in_time():
            self._stop_timer()
        self._plan()
        return oldest

    def find(self, name: str) -> T | None:
        """Return what is owed under a name."""
        return self._owed.get(name)

    async def pay(self, name: str) -> bool:
        """Tell of one now; False: it is owed no more, or there is nothing to tell yet.

        Raises: what ``pay`` raises.
        """
        debt = self._owed.get(name)
        if debt is None or not await self._pay(debt):
            return False
        if self._owed.get(name) is debt:
            del self._owed[name]
        return True

    async def settle(self) -> None:
        """Tell of all that is owed now, and wait for it. Raises: what the first one raises."""
        for name in list(self._owed):
            await self.pay(name)

    def begin(self) -> None:
        """Begin to pay what is owed, as where the other side is known to answer."""
        self._stop_timer()
        if self._owed and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Try once more what is owed, and then no more; what is left is told.

        Twice where the first one fails: it may be that one alone, and stands behind the others
        then. So it is where some came behind what is being paid already.
        """
        for _ in range(2):
            self.begin()
            if self._task is not None:
                await asyncio.wait([self._task])
        self._stop_timer()
        if self._owed:
            _LOG.error("%s, and no longer tried", self._say(len(self._owed)))

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
            for name in list(self._owed):
                try:
                    await self.pay(name)
                except self._silent as error:
                    problem = str(error)
                    # Nor would it take the others; where it is this one alone, they come first.
                    debt = self._owed.pop(name, None)
                    if debt is not None:
                        self._owed[name] = debt
                    break
                except BaseException as error:
                    if not is_failure(error):
                        raise
                    problem = tell_failure(error)
        finally:
            self._task = None
            self._again_s = min(2 * self._again_s, _SELDOM_S) if self._owed else _AGAIN_S
            self._plan()
        if problem is not None and problem != self._problem:
            _LOG.warning("%s: %s", self._say(len(self._owed)), problem)
        self._problem = problem
