"""From the settings to what counts attempts elsewhere than in the record (ACC-3)."""

from __future__ import annotations

from typing import Final

from sluicegate.access.quota import count_in_memory, count_in_redis
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import Quota
from sluicegate.opening.redis_places import demand_libraries, open_pool, say_silent
from sluicegate.opening.redis_terms import demand_address
from sluicegate.opening.running_apart import run_apart
from sluicegate.values.looks import Look

_SETTING: Final = "limits.quota_store"


def demand_quota(store: str) -> None:
    """See that attempts can be counted in ``store``, as far as that can be told without asking it.

    Raises: ConfigurationError where a library is not installed or the address is none.
    """
    if store == "memory:":
        demand_libraries(_SETTING, "access", "limits")
    elif store != "audit:":
        demand_libraries(_SETTING, "access,redis", "limits", "redis")
        demand_address(store, _SETTING)


def open_quota(store: str) -> Quota | None:
    """Return what counts under ``limits.quota_store``; None where the record does.

    Raises: ConfigurationError where a library is not installed or the address is none.
    """
    if store == "audit:":
        return None
    demand_quota(store)
    if store == "memory:":
        return count_in_memory()
    return count_in_redis(open_pool(store, _SETTING))


def inspect_quota_store(store: str) -> Look:
    """Look whether attempts can be counted in ``store``, which is not the record; counts none.

    Raises nothing for what it finds. Source: SPEC ACC-3.
    """
    name = "quota store"
    try:
        demand_quota(store)
        if store == "memory:":
            return Look(name=name, well=True, says="attempts are counted in each process by itself")
        run_apart(_ask(store))
    except ConfigurationError as error:
        return Look(name=name, well=False, says=str(error))
    return Look(name=name, well=True, says="Redis answers, and attempts are counted there")


async def _ask(store: str) -> None:
    from redis.asyncio import Redis
    from redis.exceptions import RedisError

    pool = open_pool(store, _SETTING)
    try:
        await Redis(connection_pool=pool).ping()
    except (RedisError, OSError) as error:
        meanwhile = ", and until it does every call with a quota is refused"
        raise say_silent(_SETTING, error, meanwhile) from None
    finally:
        await pool.aclose()
