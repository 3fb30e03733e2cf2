"""Quotas that are counted elsewhere than in the record: in this process, or in Redis (ACC-3).

The moving window is that of ``limits``. A quota that is counted here is spent before the intent is
recorded: a crash between the two costs an attempt, never admits one.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Quota
from sluicegate.gates.terms import Allowance

if TYPE_CHECKING:
    from limits.aio.storage import Storage

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


def open_quota(store: str) -> Quota | None:
    """Return what counts under ``limits.quota_store``; None where the record does.

    Raises: ConfigurationError where a library is not installed or the address is none.
    """
    if store == "audit:":
        return None
    try:
        return _count_in_memory() if store == "memory:" else _count_in_redis(_address(store))
    except ImportError as error:
        raise ConfigurationError(
            f"limits.quota_store: the library {error.name} is not installed:"
            " pip install 'sluicegate[access,redis]'"
        ) from None


def _count_in_memory() -> LimitsQuota:
    from limits.aio.storage import MemoryStorage

    return LimitsQuota(MemoryStorage())


def _count_in_redis(address: str) -> LimitsQuota:
    from limits.aio.storage import RedisStorage
    from redis.asyncio import ConnectionPool

    try:
        pool = ConnectionPool.from_url(
            address, socket_timeout=PATIENCE_S, socket_connect_timeout=PATIENCE_S
        )
    except ValueError:
        # The text of such an error may quote the address, and that a password.
        raise ConfigurationError(
            "limits.quota_store: this is no address of Redis: write redis://HOST:PORT/DATABASE"
        ) from None
    options: dict[str, Any] = {"connection_pool": pool}
    storage = RedisStorage("async+redis://", implementation="redispy", **options)
    return LimitsQuota(storage, pool.aclose)


def _address(store: str) -> str:
    prefix = "redis:env:"
    if not store.startswith(prefix):
        return store
    name = store.removeprefix(prefix)
    address = os.environ.get(name, "")
    if not address.startswith(("redis://", "rediss://")):
        raise ConfigurationError(
            f"limits.quota_store: the variable {name} holds no address such as"
            " redis://HOST:PORT/DATABASE"
        )
    return address
