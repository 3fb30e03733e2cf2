from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.postgres_servers import new_place, prepare
from tests.redis_servers import RedisServer, run_redis
from tests.unit.stores.sharing_gates import Gates

from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.queued import QueuedStore
from sluicegate.stores.sqlite import SqliteStore

Store = MemoryStore | SqliteStore | PostgresStore


@pytest.fixture
def keys() -> AuditKeys:
    return draw_keys()


@pytest.fixture
def place(keys: AuditKeys) -> Place:
    """A chain in PostgreSQL whose tables stand, empty."""
    made = new_place()
    prepare(made, keys)
    return made


@pytest.fixture(params=["sqlite", "postgres"])
def durable(request: pytest.FixtureRequest) -> QueuedStore:
    """A store whose record outlives its process, so that it is verified."""
    opened: QueuedStore = request.getfixturevalue(request.param)
    return opened


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, keys: AuditKeys
) -> AsyncIterator[Store]:
    opened: Store
    if request.param == "memory":
        opened = MemoryStore(keys)
    elif request.param == "sqlite":
        opened = SqliteStore(tmp_path / "a.db", keys)
    else:
        opened = PostgresStore(request.getfixturevalue("place"), keys)
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite(tmp_path: Path, keys: AuditKeys) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "a.db", keys)
    yield opened
    await opened.close()


@pytest.fixture
async def postgres(place: Place, keys: AuditKeys) -> AsyncIterator[PostgresStore]:
    opened = PostgresStore(place, keys)
    yield opened
    await opened.close()


@pytest.fixture(scope="module")
def running_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with run_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
async def gates(
    running_redis: RedisServer, keys: AuditKeys, tmp_path: Path
) -> AsyncIterator[Gates]:
    """Gates over a Redis that holds nothing yet."""
    with running_redis.client() as client:
        client.flushall()
    made = Gates(running_redis, keys, tmp_path)
    yield made
    for shared in made.opened:
        await shared.close()
