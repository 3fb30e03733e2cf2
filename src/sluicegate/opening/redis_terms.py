"""What an address of Redis must be before anybody connects: told by ``check`` on any machine."""

from __future__ import annotations

from typing import Final

from sluicegate.opening.redis_places import find_redis

_FROM_ENVIRONMENT: Final = "redis:env:"


def demand_address(store: str, setting: str) -> None:
    """See that ``setting`` names an address; what a variable holds is for the machine that serves.

    Raises: ConfigurationError, which repeats nothing of the address.
    """
    if not store.startswith(_FROM_ENVIRONMENT):
        find_redis(store, setting)
