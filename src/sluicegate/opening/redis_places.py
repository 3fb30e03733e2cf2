"""From a setting that names a Redis to the connections to it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from sluicegate.errors import ConfigurationError

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

CONNECT_S: Final = 0.25
"""A call waits no longer than this for a connection or a reply."""

_FROM_ENVIRONMENT: Final = "redis:env:"


def open_pool(
    store: str,
    setting: str,
    *,
    extras: str,
    patience_s: float = CONNECT_S,
    most: int | None = None,
    **options: Any,
) -> ConnectionPool:
    """Return the pool of connections to ``store``: ``redis:env:NAME``, or an address.

    ``setting`` is the key that says so, and ``extras`` what it needs installed, for messages.
    ``patience_s`` is for a connection and for each reply. With ``most`` there are never more
    connections, and whoever finds none waits for one. Nothing is connected yet. Raises:
    ConfigurationError where the library is not installed or the address is none.
    """
    address = _find_address(store, setting)
    try:
        from redis.asyncio import BlockingConnectionPool, ConnectionPool
    except ImportError as error:
        raise say_not_installed(setting, error, extras) from None
    options |= {"socket_timeout": patience_s, "socket_connect_timeout": patience_s}
    try:
        if most is None:
            return ConnectionPool.from_url(address, **options)
        return BlockingConnectionPool.from_url(
            address, max_connections=most, timeout=patience_s, **options
        )
    except ValueError:
        # The text of such an error may quote the address, and that a password.
        raise ConfigurationError(
            f"{setting}: this is no address of Redis: write redis://HOST:PORT/DATABASE"
        ) from None


def say_not_installed(setting: str, error: ImportError, extras: str) -> ConfigurationError:
    """Return what to raise where ``setting`` needs a library that is not there."""
    return ConfigurationError(
        f"{setting}: the library {error.name} is not installed: install sluicegate[{extras}]"
    )


def _find_address(store: str, setting: str) -> str:
    if not store.startswith(_FROM_ENVIRONMENT):
        return store
    name = store.removeprefix(_FROM_ENVIRONMENT)
    address = os.environ.get(name, "")
    if not address.startswith(("redis://", "rediss://")):
        raise ConfigurationError(
            f"{setting}: the variable {name} holds no address such as redis://HOST:PORT/DATABASE"
        )
    return address
