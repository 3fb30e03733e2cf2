"""Quotas that are counted elsewhere than in the record: in this process, or in Redis (ACC-3).

The moving window is that of ``limits``. A quota that is counted here is spent before the intent is
recorded: a crash between the two costs an attempt, never admits one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from sluicegate.gates.terms import Allowance

if TYPE_CHECKING:
    from limits.aio.storage import Storage
    from redis.asyncio import ConnectionPool

PATIENCE_S: Final = 0.25
"""A store that does not answer within this time denies."""

_SKEW_S: Final = 60.0
"""How far the clocks of those who count in one storage may differ."""


class LimitsQuota:
    """Counts in one storage of ``limits``; each allowance is one moving window of its own."""

    def __init__(
        self, storage: Storage, release: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        from limits.aio.strategies import MovingWindowRateLimiter

        self._limiter = MovingWindowRateLimiter(storage)
        self._release = release

    async def spend(self, allowances: Sequence[Allowance]) -> bool:
        """Count one attempt under each, or under none where one is spent.

        Between the two looks another may take the last of a quota: then what was counted before
        it stays counted, and the attempt is denied.

        Raises: TimeoutError past the patience, ValueError for a storage that does not tell what it
        counted, and whatever the storage raises.
        """
        from limits import RateLimitItemPerSecond

        async with asyncio.timeout(PATIENCE_S):
            for allowance in allowances:  # one that is spent costs nothing under the others
                window = RateLimitItemPerSecond(allowance.count, allowance.window_s)
                if not await self._limiter.test(window, allowance.key):
                    return False
            for allowance in allowances:
                window = RateLimitItemPerSecond(allowance.count, allowance.window_s)
                if not await self._limiter.hit(window, allowance.key):
                    return False
                # The library takes whatever a storage says for a yes; what was counted is asked.
                counted = await self._limiter.get_window_stats(window, allowance.key)
                ends = counted.reset_time - time.time()
                if not (
                    0 <= counted.remaining < allowance.count
                    and -_SKEW_S <= ends <= allowance.window_s + _SKEW_S
                ):
                    raise ValueError("the storage of the quota does not tell what it counted")
        return True

    async def close(self) -> None:
        """Release the connections."""
        if self._release is not None:
            await self._release()


def count_in_memory() -> LimitsQuota:
    """Return what counts in this process. Raises: ImportError."""
    from limits.aio.storage import MemoryStorage

    return LimitsQuota(MemoryStorage())


def count_in_redis(pool: ConnectionPool) -> LimitsQuota:
    """Return what counts in the Redis behind ``pool``. Raises: ImportError."""
    from limits.aio.storage import RedisStorage

    options: dict[str, Any] = {"connection_pool": pool}
    storage = RedisStorage("async+redis://", implementation="redispy", **options)
    return LimitsQuota(storage, pool.aclose)
