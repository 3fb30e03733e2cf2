"""So many calls at once, under a limit that may change while they run."""

from __future__ import annotations

import asyncio


class Places:
    """Where the limit is lowered below what is taken, places are withdrawn as they become free."""

    def __init__(self, limit: int) -> None:
        self._free = asyncio.Semaphore(limit)
        self._limit = limit
        self._withdrawn = 0  # how many of those that are taken do not come back

    async def take(self) -> None:
        """Wait for a place, in the order of asking."""
        await self._free.acquire()

    def give_back(self) -> None:
        """Leave a place to the next one, unless it is withdrawn."""
        if self._withdrawn:
            self._withdrawn -= 1
        else:
            self._free.release()

    async def resize(self, limit: int) -> None:
        """Let ``limit`` calls run at once from now on.

        Suspends never: a coroutine, since a semaphore is taken by one, a free place at once.
        """
        self._withdrawn += self._limit - limit
        self._limit = limit
        while self._withdrawn > 0 and not self._free.locked():
            await self._free.acquire()
            self._withdrawn -= 1
        while self._withdrawn < 0:
            self._free.release()
            self._withdrawn += 1
