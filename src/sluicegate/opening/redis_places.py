"""From a setting that names a Redis to the connections to it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from sluicegate.errors import ConfigurationError

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

CONNECT_S: Final = 0.25
"""A call waits no longer than this for a connection or a reply."""

_FROM_ENVIRONMENT: Final = "redis:env:"
_DATABASE: Final = re.compile(r"/?|/[0-9]{1,5}")
_FORM: Final = "redis://HOST:PORT/DATABASE, or rediss:// with TLS"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisPlace:
    """Where a Redis is, and who asks. Only the address of an environment variable has a password.

    The certificates that vouch for a server with TLS are those of the machine.
    """

    host: str
    port: int
    database: int
    tls: bool
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def options(self) -> dict[str, Any]:
        """Return the place as options of a connection; TLS is checked, the name as well."""
        found: dict[str, Any] = {
            "host": self.host,
            "port": self.port,
            "db": self.database,
            "username": self.user,
            "password": self.password,
        }
        if self.tls:
            found |= {"ssl_cert_reqs": "required", "ssl_check_hostname": True}
        return found


def open_pool(
    store: str,
    setting: str,
    *,
    patience_s: float = CONNECT_S,
    most: int | None = None,
    **options: Any,
) -> ConnectionPool:
    """Return the pool of connections to ``store``: ``redis:env:NAME``, or an address.

    ``setting`` is the key that says so; that the library is there was demanded before.
    ``patience_s`` is for a connection and for each reply. With ``most`` there are never more
    connections, and whoever finds none waits for one. Nothing is connected yet. Raises:
    ConfigurationError where the address is none.
    """
    from redis.asyncio import BlockingConnectionPool, Connection, ConnectionPool, SSLConnection

    place = find_redis(store, setting)
    options |= {
        **place.options(),
        "connection_class": SSLConnection if place.tls else Connection,
        "socket_timeout": patience_s,
        "socket_connect_timeout": patience_s,
    }
    if most is None:
        return ConnectionPool(**options)
    return BlockingConnectionPool(max_connections=most, timeout=patience_s, **options)


def find_redis(store: str, setting: str, environment: Mapping[str, str] = os.environ) -> RedisPlace:
    """Return the place that ``setting`` names: an address, or ``redis:env:NAME`` for one.

    An address is held to its form here and not by the client, which would take options from it that
    leave TLS unchecked. Raises: ConfigurationError, which repeats nothing of the address.
    """
    if not store.startswith(_FROM_ENVIRONMENT):
        return _read_address(store, setting)
    name = store.removeprefix(_FROM_ENVIRONMENT)
    address = environment.get(name, "")
    if not address:
        raise ConfigurationError(
            f"{setting}: the variable {name} is not set: give it redis://:PASSWORD@HOST:PORT/DATABASE"
        )
    return _read_address(address, f"{setting}: the variable {name}")


def demand_libraries(setting: str, extras: str, *libraries: str) -> None:
    """Raises: ConfigurationError where a library that ``setting`` needs is not installed."""
    for library in libraries:
        if find_spec(library) is None:
            raise ConfigurationError(
                f"{setting} needs {library}, which is not installed: install sluicegate[{extras}]"
            )


def say_silent(setting: str, error: Exception, meanwhile: str = "") -> ConfigurationError:
    """Return what to raise where the Redis of ``setting`` does not answer, or refuses.

    The text of ``error`` may quote the address. ``meanwhile`` is what that means until it does.
    """
    does, remedy = _say_failed(error)
    return ConfigurationError(
        f"{setting}: Redis {does} ({type(error).__name__}){meanwhile}: {remedy}"
    )


def _say_failed(error: Exception) -> tuple[str, str]:
    """Say what Redis does, and what mends it."""
    from redis import exceptions

    refuses = (exceptions.AuthenticationError, exceptions.AuthenticationWrongNumberOfArgsError)
    text = str(error)
    if isinstance(error, refuses) or text.startswith(("NOAUTH", "WRONGPASS")):
        return "answers and refuses who asks", "mend the user and the password in the address"
    if isinstance(error, exceptions.NoPermissionError | exceptions.AuthorizationError):
        return "answers and refuses a command", "give the user of the address its rights (ACL)"
    if isinstance(error, exceptions.BusyLoadingError):
        return "answers and still loads its data", "wait until it has"
    if "DB index is out of range" in text:
        says = "name a database that it has at the end of the address, as /0"
        return "answers and has no such database", says
    if isinstance(error, exceptions.ResponseError):
        return "answers and refuses a command", "look at its log and its settings"
    return "does not answer", "start it, or mend the address"


def _read_address(address: str, where: str) -> RedisPlace:
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ConfigurationError(f"{where}: this is no address of Redis: write {_FORM}") from None
    is_address = parts.scheme in ("redis", "rediss") and _DATABASE.fullmatch(parts.path)
    if not is_address or not host or parts.query or parts.fragment:
        raise ConfigurationError(f"{where}: this is no address of Redis: write {_FORM}")
    return RedisPlace(
        host=host,
        port=6379 if port is None else port,
        database=int(parts.path.strip("/") or 0),
        tls=parts.scheme == "rediss",
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
    )
