"""Waiting for what comes by itself: asked again until it is so, and never for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

WITHIN_S = 20.0
_BETWEEN_S = 0.002


async def until(
    predicate: Callable[[], bool | Awaitable[bool]], *, within_s: float = WITHIN_S
) -> None:
    """Return once ``predicate`` holds. Raises: TimeoutError."""
    async with asyncio.timeout(within_s):
        while True:
            found = predicate()
            if await found if isinstance(found, Awaitable) else found:
                return
            await asyncio.sleep(_BETWEEN_S)
