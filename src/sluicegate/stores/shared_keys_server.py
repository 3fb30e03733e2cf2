"""What a Redis must be before a key in it is believed: it loses nothing that it acknowledged."""

from __future__ import annotations

import re
import secrets as randomness
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError, ResponseError

from sluicegate.errors import ConfigurationError
from sluicegate.stores.shared_keys_scripts import OPEN, RING
from sluicegate.stores.shared_keys_secrets import SharedSecrets

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.asyncio.connection import AbstractConnection

_LASTING: Final = (
    ("appendonly", "yes"),
    ("appendfsync", "always"),
    ("no-appendfsync-on-rewrite", "no"),
)
_MEMORY: Final = ("maxmemory", "maxmemory-policy")
_ASKED: Final = (*(name for name, _ in _LASTING), *_MEMORY)
_RING: Final = re.compile(rb"([0-9a-f]{64}):[0-9a-f]{16}")


class UnfitServer(RedisError):  # noqa: N818  (a state of the server)
    """This Redis may lose or evict a key that it acknowledged, or does not tell."""


async def demand_lasting(connection: AbstractConnection) -> None:
    """Begin a connection, and see that what is written through it lasts.

    Asked of each new connection: a server that was started anew may have other settings. Raises:
    UnfitServer, which says what to set.
    """
    try:
        await _demand(connection)
    except BaseException:
        # Also of who gave up waiting: replies that nobody read would answer somebody else.
        await connection.disconnect(nowait=True)
        raise


async def _demand(connection: AbstractConnection) -> None:
    await connection.on_connect()
    questions = [("CONFIG", "GET", name) for name in _ASKED]
    await connection.send_packed_command(connection.pack_commands([*questions, ("ROLE",)]))
    told = {}
    for name in _ASKED:
        told[name] = _read_setting(name, await _read(connection))
    role = await _read(connection)
    fault = find_fault(told, role)
    if fault is not None:
        raise UnfitServer(fault)


def find_fault(told: Mapping[str, str], role: object) -> str | None:
    """Return why a server with these settings is not to be trusted with keys, and what to set."""
    for name, wanted in _LASTING:
        if told[name] != wanted:
            return (
                f"Redis may lose a key that it acknowledged, since {name} is {told[name]}:"
                f" set {name} {wanted}"
            )
    if told["maxmemory"] != "0" and told["maxmemory-policy"] != "noeviction":
        return (
            "Redis may evict a key that is held, since maxmemory-policy is"
            f" {told['maxmemory-policy']}: set maxmemory-policy noeviction"
        )
    if not isinstance(role, Sequence) or not role or role[0] != b"master":
        return "this Redis is no master: name the one that takes writes"
    return None


async def join_ring(client: Redis, secrets: SharedSecrets) -> bytes:
    """Return what marks the keys of these gates in this Redis; the first gate writes it.

    Gates with other keys would not see each other's, and would make one write twice. The mark ends
    in random digits: a Redis that was emptied and begun anew is another one. Raises:
    ConfigurationError; what the client raises.
    """
    mark = f"{secrets.fingerprint}:{randomness.token_hex(8)}"
    await client.set(RING, mark, nx=True)
    found = await look_for_ring(client, secrets)
    if found is None:
        raise ConfigurationError("limits.key_store: Redis did not keep what was written")
    return found


async def look_for_ring(client: Redis, secrets: SharedSecrets) -> bytes | None:
    """Return the mark that stands, None where there is none. Raises: as ``join_ring``."""
    found = await client.get(RING)
    if found is None:
        return None
    told = _RING.fullmatch(found) if isinstance(found, bytes) else None
    if told is None or not isinstance(found, bytes):
        raise ConfigurationError(
            f"limits.key_store: what stands in Redis under {RING} was not written by a gate: name"
            " a database of its own"
        )
    if told[1].decode() != secrets.fingerprint:
        raise ConfigurationError(
            "limits.key_store: the gates that share keys in this Redis have other audit keys, so"
            " neither would see what the other does: give all of them the same audit.keys, or name"
            " another database"
        )
    return found


async def count_open(client: Redis) -> int:
    """Return how many keys are held by calls that have no end yet."""
    counted = await client.hlen(OPEN)
    if counted.__class__ is not int:
        raise UnfitServer("what answers there is no Redis")
    return int(counted)


async def _read(connection: AbstractConnection) -> object:
    try:
        return await connection.read_response()
    except ResponseError as error:
        raise UnfitServer(
            "Redis does not tell whether it keeps what it acknowledges"
            f" ({type(error).__name__}): let this account ask CONFIG GET and ROLE"
        ) from None


def _read_setting(name: str, reply: object) -> str:
    if isinstance(reply, list) and len(reply) == 2:
        key, value = reply
        if key == name.encode() and isinstance(value, bytes):
            return value.decode("ascii", "replace")
    raise UnfitServer(f"Redis does not tell its {name}")
