"""From the settings to the record whose idempotency keys are shared through Redis (ACC-4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sluicegate.contracts.settings import Settings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.operator_acts import StoryChanged
from sluicegate.gates.ports import AuditStore, AuditUnavailable
from sluicegate.gates.terms import Terms
from sluicegate.opening.record_files import demand_key_files
from sluicegate.opening.redis_places import CONNECT_S, demand_libraries, open_pool, say_silent
from sluicegate.opening.redis_terms import demand_address
from sluicegate.opening.running_apart import run_apart
from sluicegate.stores.keys import AuditKeys, open_keys
from sluicegate.stores.shared_keys_fates import find_fate
from sluicegate.values.looks import Look

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from sluicegate.stores.shared_keys import SharedKeysStore

T = TypeVar("T")
SETTING: Final = "limits.key_store"
_MOST: Final = 16
"""Connections of one gate: a script takes a moment, and each new connection is looked at."""
_PATIENCE_S: Final = 5.0
"""Opening a gate, looking at one and an operator's act may wait longer than a call."""


class KeyStoreNotTold(AuditUnavailable):
    """An operator's act is recorded, and the key store does not know of it yet."""


def demand_key_store(to: str) -> None:
    """See that keys can be shared through ``to``, as far as that can be told without asking it.

    Raises: ConfigurationError where the library is not installed or the address is none.
    """
    if to != "audit:":
        _demand_redis()
        demand_address(to, SETTING)


def _demand_redis() -> None:
    demand_libraries(SETTING, "redis", "redis")


def share_keys(
    store: AuditStore, settings: Settings, folder: Path, now: Callable[[], datetime]
) -> AuditStore:
    """Return the store whose keys are shared where ``limits.key_store`` names a Redis.

    Redis is looked at here, and told what the record knows of calls that are open there. Raises:
    ConfigurationError for one that may lose a key, that gates with other keys share, or that does
    not answer; the caller closes ``store`` then.
    """
    if settings.limits.key_store == "audit:":
        return store
    keys = open_keys(settings.audit.keys, folder, may_create=False)

    async def begin() -> bytes:
        async with joined(store, settings.limits.key_store, keys, now) as (shared, ring):
            await shared.reconcile()
            return ring

    try:
        ring = run_apart(_told(begin()))
    except AuditUnavailable as error:
        raise ConfigurationError(f"{SETTING}: {error}") from error
    return share(store, settings.limits.key_store, keys, now, ring)


async def record_and_tell(
    store: AuditStore,
    act: AuditEvent,
    terms: Terms,
    settings: Settings,
    folder: Path,
    now: Callable[[], datetime],
) -> datetime | None:
    """Record an operator's word on a call under its terms, and tell the key store as well (RET-2).

    Of a call that holds a shared key the key store is asked first: where it does not answer nothing
    is recorded. Returns until when the call's key is kept, None where it holds none. Raises:
    KeyStoreNotTold behind the act; StoryChanged, ConfigurationError with nothing recorded;
    AuditUnavailable where it may be recorded.
    """

    async def record() -> None:
        if not await store.record([act], terms=terms):
            raise StoryChanged

    fate = find_fate(store.events(request_id=act.request_id))
    if fate is None or settings.limits.key_store == "audit:":
        await record()
        return None if fate is None else fate.kept_until
    keys = open_keys(settings.audit.keys, folder, may_create=False)

    async def tell() -> None:
        async with joined(store, settings.limits.key_store, keys, now) as (shared, _):
            await shared.demand_ring()
            await record()
            try:
                await shared.settle(act.request_id)
            except AuditUnavailable as error:
                raise KeyStoreNotTold(
                    f"the act is recorded, but {error}; the key store is told when a gate of this"
                    " record opens or meets the key"
                ) from error

    await _told(tell())
    return fate.kept_until


async def purge_and_tell(
    store: AuditStore,
    settings: Settings,
    folder: Path,
    now: Callable[[], datetime],
    *,
    who: str,
    expired_by: datetime | None = None,
) -> int:
    """Purge the record, and take what it gives no more out of the key store as well (AUD-4).

    The record goes first: what is to be destroyed waits for no Redis. Returns how many blobs went.
    Raises: KeyStoreNotTold behind the act; ConfigurationError, MisuseError and AuditUnavailable
    with nothing destroyed.
    """
    moment = now()
    is_shared = settings.limits.key_store != "audit:"
    keys = open_keys(settings.audit.keys, folder, may_create=False) if is_shared else None
    count = await store.purge(now=moment, who=who, expired_by=expired_by)
    if keys is None:
        return count

    async def tell(keys: AuditKeys) -> None:
        async with joined(store, settings.limits.key_store, keys, now) as (shared, _):
            await shared.forget_destroyed(moment)

    try:
        await _told(tell(keys))
    except (AuditUnavailable, ConfigurationError) as error:
        done = f"{count} purged, and the act is recorded" if count else "nothing more to purge here"
        raise KeyStoreNotTold(
            f"{done}, but other gates may still give an answer that is gone here: {error}; then run"
            " `sluicegate audit purge` once more"
        ) from error
    return count


def inspect_key_store(settings: Settings, folder: Path) -> Look:
    """Look at the Redis of ``limits.key_store``; changes nothing, raises nothing for what it finds.

    Source: SPEC ACC-4.
    """
    name = "key store"
    if settings.limits.key_store == "audit:":
        return Look(name=name, well=True, says="keys are kept in the record, with each intent")
    keys = None
    with suppress(ConfigurationError):  # what is wrong with them is told where they are looked at
        demand_key_files(settings.audit, folder)
        keys = open_keys(settings.audit.keys, folder, may_create=False)
    try:
        return Look(name=name, well=True, says=run_apart(_told(_say_well(settings, keys))))
    except ConfigurationError as error:
        return Look(name=name, well=False, says=str(error))


async def _say_well(settings: Settings, keys: AuditKeys | None) -> str:
    from sluicegate.stores.shared_keys_secrets import derive_secrets
    from sluicegate.stores.shared_keys_server import count_open, look_for_ring

    well = "Redis keeps what it acknowledges"
    async with _connected(settings.limits.key_store, _PATIENCE_S) as client:
        count = await count_open(client)
        if keys is None:
            return f"{well}; audit.keys holds none yet: give every gate at this Redis the same"
        if await look_for_ring(client, derive_secrets(keys)) is None:
            return f"{well}; the first gate begins its keys"
    return f"{well}; keys held by calls without an end: {count}"


@asynccontextmanager
async def _connected(to: str, patience_s: float) -> AsyncIterator[Redis]:
    """Yield a client of connections that were looked at; they are released afterwards."""
    client = connect(to, patience_s)
    try:
        yield client
    finally:
        await client.aclose()
        await client.connection_pool.aclose()


def connect(to: str, patience_s: float) -> Redis:
    """Return a client of ``to``, each of whose connections is looked at before it is used.

    Nothing is connected yet. Raises: ConfigurationError.
    """
    _demand_redis()
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    from sluicegate.stores.shared_keys_server import demand_lasting

    pool = open_pool(
        to,
        SETTING,
        patience_s=patience_s,
        most=_MOST,
        protocol=2,  # the replies that are held to their exact shape
        redis_connect_func=demand_lasting,
        # A connection that a restart of Redis ended is found out by the next command; each of ours
        # may be repeated.
        retry=Retry(NoBackoff(), 1),
    )
    return Redis(connection_pool=pool)


@asynccontextmanager
async def joined(
    store: AuditStore,
    to: str,
    keys: AuditKeys,
    now: Callable[[], datetime],
    *,
    patience_s: float = _PATIENCE_S,
) -> AsyncIterator[tuple[SharedKeysStore, bytes]]:
    """Yield ``store`` with shared keys for one occasion, and what marks the ring."""
    from sluicegate.stores.shared_keys import SharedKeysStore
    from sluicegate.stores.shared_keys_secrets import derive_secrets
    from sluicegate.stores.shared_keys_server import join_ring
    from sluicegate.stores.shared_keys_table import KeyTable

    async with _connected(to, patience_s) as client:
        ring = await join_ring(client, derive_secrets(keys))
        table = KeyTable(client, ring, patience_s=patience_s)
        yield SharedKeysStore(store, table, keys, now), ring


def share(
    store: AuditStore,
    to: str,
    keys: AuditKeys,
    now: Callable[[], datetime],
    ring: bytes,
    *,
    patience_s: float = CONNECT_S,
) -> SharedKeysStore:
    """Return ``store`` with the keys of ``to``, as a gate has it that joined the ``ring``."""
    from sluicegate.stores.shared_keys import SharedKeysStore
    from sluicegate.stores.shared_keys_table import KeyTable

    table = KeyTable(connect(to, patience_s), ring, patience_s=patience_s)
    return SharedKeysStore(store, table, keys, now)


async def _told(work: Coroutine[Any, Any, T]) -> T:
    """Await ``work``; what Redis or its client raises is told as configuration."""
    try:
        _demand_redis()
    except ConfigurationError:
        work.close()
        raise
    from redis.exceptions import RedisError

    try:
        return await work
    except (RedisError, OSError) as error:
        from sluicegate.stores.shared_keys_server import UnfitServer

        if isinstance(error, UnfitServer):
            raise ConfigurationError(f"{SETTING}: {error}") from None
        raise say_silent(SETTING, error) from None
