"""Who waits too long for a commit is told so: one alarm serves all who wait in one event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias
from weakref import WeakKeyDictionary

_Waiting: TypeAlias = "deque[tuple[float, asyncio.Future[object]]]"


class Patience:
    """Gives a future ``late()`` as its exception when it is not done within ``patience_s``.

    All are patient for equally long, so the first to come is the first whose time runs out: a
    queue in order of arrival and an alarm for its head, instead of an alarm for each.
    """

    __slots__ = ("_late", "_patience_s", "_waiting")

    def __init__(self, patience_s: float, late: Callable[[], BaseException]) -> None:
        self._patience_s = patience_s
        self._late = late
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiting] = WeakKeyDictionary()

    def watch(self, future: asyncio.Future[object]) -> None:
        """Watch one future; call it in the future's own loop."""
        loop = future.get_loop()
        waiting = self._waiting.get(loop)
        if waiting is None:
            waiting = self._waiting[loop] = deque()
        deadline = loop.time() + self._patience_s
        if waiting:
            # The head stays: an alarm is set for it. What is done behind it is let go early.
            while len(waiting) > 1 and waiting[1][1].done():
                del waiting[1]
        else:
            loop.call_at(deadline, self._ring, loop, waiting)
        waiting.append((deadline, future))

    def _ring(self, loop: asyncio.AbstractEventLoop, waiting: _Waiting) -> None:
        """Tell whose time has run out, and set the alarm for the next that still waits."""
        now = loop.time()
        while waiting:
            deadline, future = waiting[0]
            if not future.done():
                if now < deadline:
                    loop.call_at(deadline, self._ring, loop, waiting)
                    return
                future.set_exception(self._late())
            waiting.popleft()
