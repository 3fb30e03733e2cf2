"""Quotas that are counted elsewhere than in the record: in this process, or in Redis (ACC-3).

The moving window is that of ``limits``. A quota that is counted here is spent before the intent is
recorded: a crash between the two costs an attempt, never admits one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Quota
from sluicegate.gates.terms import Allowance

if TYPE_CHECKING:
    from limits.aio.storage import Storage

PATIENCE_S: Final = 0.25
"""A store that does not answer within this time denies."""


class LimitsQuota:
    """Counts in one storage of ``limits``; each allowance is one moving window of its own."""

    def __init__(self, storage: Storage) -> None:
        from limits.aio.strategies import MovingWindowRateLimiter

        self._limiter = MovingWindowRateLimiter(storage)

    async def spend(self, allowances: Sequence[Allowance]) -> bool:
        """Count one attempt under each, in order; False at the first that is spent.

        Raises: TimeoutError past the patience, and whatever the storage raises.
        """
        from limits import RateLimitItemPerSecond

        async with asyncio.timeout(PATIENCE_S):
            for allowance in allowances:
                window = RateLimitItemPerSecond(allowance.count, allowance.window_s)
                if not await self._limiter.hit(window, allowance.key):
                    return False
        return True


def open_quota(store: str) -> Quota | None:
    """Return what counts under ``limits.quota_store``; None where the record does.

    Raises: ConfigurationError where the library is not installed or the address is none.
    """
    if store == "audit:":
        return None
    try:
        from limits.aio.storage import MemoryStorage, Storage
        from limits.storage import storage_from_string
    except ImportError:
        raise ConfigurationError(
            f"limits.quota_store {store.split(':')[0]}: needs the library limits:"
            " pip install 'sluicegate[access,redis]'"
        ) from None
    if store == "memory:":
        return LimitsQuota(MemoryStorage())
    address = _address(store)
    try:
        storage = storage_from_string(
            f"async+{address}",
            implementation="redispy",
            socket_timeout=PATIENCE_S,
            socket_connect_timeout=PATIENCE_S,
        )
    except Exception as error:  # noqa: BLE001  (a library's own; told and closed)
        # The text of such an error may quote the address, and that a password.
        raise ConfigurationError(
            "limits.quota_store: Redis cannot be used with this address"
            f" ({type(error).__name__}): write redis://HOST:PORT/DATABASE"
        ) from None
    if not isinstance(storage, Storage):
        raise ConfigurationError("limits.quota_store: this library has no such storage")
    return LimitsQuota(storage)


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
