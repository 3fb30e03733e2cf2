"""From the settings to what counts attempts elsewhere than in the record (ACC-3)."""

from __future__ import annotations

from typing import Final

from sluicegate.access.quota import count_in_memory, count_in_redis
from sluicegate.gates.ports import Quota
from sluicegate.opening.redis_places import open_pool, say_not_installed

_SETTING: Final = "limits.quota_store"
_EXTRAS: Final = "access,redis"


def open_quota(store: str) -> Quota | None:
    """Return what counts under ``limits.quota_store``; None where the record does.

    Raises: ConfigurationError where a library is not installed or the address is none.
    """
    if store == "audit:":
        return None
    try:
        if store == "memory:":
            return count_in_memory()
        return count_in_redis(open_pool(store, _SETTING, extras=_EXTRAS))
    except ImportError as error:
        raise say_not_installed(_SETTING, error, _EXTRAS) from None
