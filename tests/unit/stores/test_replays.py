"""The memory of signed answers: once each, also between processes and after a crash (RES-6)."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import psycopg
import pytest
import pytest_asyncio
from tests.postgres_servers import as_role, gate_role, new_place, owner_of, prepare

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.replays import open_replays
from sluicegate.stores.replays_memory import KEPT_LONGER, MemoryReplays
from sluicegate.stores.replays_postgres import PostgresReplays
from sluicegate.stores.replays_sqlite import SqliteReplays

pytestmark = pytest.mark.requirement("RES-6")
NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
SOON = NOW + timedelta(seconds=60)

Memory: TypeAlias = SqliteReplays | MemoryReplays | PostgresReplays


@pytest_asyncio.fixture(params=["memory", "sqlite", "postgres"])
async def memory(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Memory]:
    opened: Memory
    if request.param == "memory":
        opened = MemoryReplays()
    elif request.param == "sqlite":
        opened = SqliteReplays(tmp_path / "replays.db")
    else:
        opened = PostgresReplays(request.getfixturevalue("place"))
    yield opened
    await opened.close()


async def ask(memory: Memory, name: str, *, scope: str = "s", now: datetime = NOW) -> bool:
    return await memory.is_new(scope=scope, replay_id=name, until=SOON, now=now)


async def test_an_id_is_new_once(memory: Memory) -> None:
    assert [await ask(memory, name) for name in ("a", "b", "a", "b")] == [True, True, False, False]


async def test_the_same_id_of_another_sender_is_another(memory: Memory) -> None:
    assert await ask(memory, "a")
    assert await ask(memory, "a", scope="t")


async def test_of_many_that_ask_at_once_one_is_told_that_it_is_new(memory: Memory) -> None:
    told = await asyncio.gather(*(ask(memory, "a") for _ in range(20)))
    assert sorted(told) == [False] * 19 + [True]


async def test_an_id_is_kept_as_long_as_its_window_and_a_while_longer(memory: Memory) -> None:
    assert await ask(memory, "a")
    edge = SOON + KEPT_LONGER
    assert await ask(memory, "b", now=edge)
    assert not await ask(memory, "a", now=edge)


async def test_what_is_past_is_forgotten(tmp_path: Path) -> None:
    memory = SqliteReplays(tmp_path / "replays.db")
    for name in ("a", "b", "c"):
        assert await ask(memory, name)
    later = SOON + KEPT_LONGER + timedelta(microseconds=1)
    assert await memory.is_new(scope="s", replay_id="d", until=later, now=later)
    await memory.close()
    with sqlite3.connect(tmp_path / "replays.db") as connection:
        kept = connection.execute("SELECT replay_id FROM seen_answer").fetchall()
    connection.close()
    assert kept == [("d",)]


async def test_what_was_seen_outlives_the_process(tmp_path: Path) -> None:
    first = SqliteReplays(tmp_path / "replays.db")
    assert await ask(first, "a")
    await first.close()
    second = SqliteReplays(tmp_path / "replays.db")
    assert not await ask(second, "a")
    await second.close()


ASK = """
import asyncio, sys
from datetime import datetime, timedelta
from pathlib import Path
from sluicegate.stores.replays_sqlite import SqliteReplays

async def main():
    memory = SqliteReplays(Path(sys.argv[1]))
    now = datetime.fromisoformat("2026-11-30T12:00:00+00:00")
    for number in range(int(sys.argv[2])):
        new = await memory.is_new(
            scope="s", replay_id=str(number), until=now + timedelta(seconds=60), now=now
        )
        print(number, new, flush=True)
    await memory.close()

asyncio.run(main())
"""


def start(path: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", ASK, str(path), str(count)], stdout=subprocess.PIPE, text=True
    )


def test_of_several_processes_one_is_told_that_an_id_is_new(tmp_path: Path) -> None:
    running = [start(tmp_path / "replays.db", 30) for _ in range(3)]
    told = [process.communicate()[0].splitlines() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    new = sorted(int(line.split()[0]) for lines in told for line in lines if "True" in line)
    assert new == list(range(30))


async def test_what_was_told_as_new_is_known_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "replays.db"
    process = start(path, 10_000)
    assert process.stdout is not None
    told = [process.stdout.readline() for _ in range(5)]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    memory = SqliteReplays(path)
    for line in told:
        assert not await ask(memory, line.split()[0])
    assert await ask(memory, "another")
    await memory.close()


async def test_a_file_that_cannot_be_written_is_an_error_and_no_answer(tmp_path: Path) -> None:
    memory = SqliteReplays(tmp_path / "replays.db")
    with sqlite3.connect(tmp_path / "replays.db") as connection:
        connection.execute("DROP TABLE seen_answer")
    connection.close()
    with pytest.raises(sqlite3.Error):
        await ask(memory, "a")
    await memory.close()


async def test_two_gates_on_one_postgresql_share_one_memory_with_their_own_rights(
    keys: AuditKeys,
) -> None:
    with gate_role() as role:
        made = new_place()
        prepare(made, keys, gate_role=role)
        gates = [PostgresReplays(as_role(made, role)) for _ in range(2)]
        names = [str(number) for number in range(20)]
        told = await asyncio.gather(*(ask(gate, name) for name in names for gate in gates))
        assert sorted(told) == [False] * 20 + [True] * 20
        later = SOON + KEPT_LONGER + timedelta(seconds=1)
        assert await gates[0].is_new(scope="s", replay_id="x", until=later, now=later)
        with owner_of(made) as owner:
            (kept,) = owner.execute("SELECT replay_id FROM seen_answer").fetchall()
        assert kept == ("x",)
        for gate in gates:
            await gate.close()


async def test_a_broken_connection_is_an_error_and_the_next_one_is_new(place: Place) -> None:
    memory = PostgresReplays(place)
    assert await ask(memory, "a")
    assert memory._session is not None
    ended = memory._session.connection.info.backend_pid
    with owner_of(place) as owner:
        owner.execute("SELECT pg_terminate_backend(%s, 5000)", (ended,))
    with pytest.raises(psycopg.Error):
        await ask(memory, "b")
    assert not await ask(memory, "a")
    await memory.close()


def test_a_record_without_the_table_is_told_with_the_way_on(place: Place) -> None:
    with owner_of(place) as owner:
        owner.execute("DROP TABLE seen_answer")
    with pytest.raises(ConfigurationError, match="audit prepare"):
        PostgresReplays(place)


def test_a_strange_file_is_told_in_one_sentence(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "replays.db") as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(ConfigurationError, match="another program"):
        SqliteReplays(tmp_path / "replays.db")
    (tmp_path / "text.db").write_text("no database at all, but long enough to be one" * 100)
    with pytest.raises(ConfigurationError, match="cannot be opened"):
        SqliteReplays(tmp_path / "text.db")


async def test_it_stands_beside_the_record(tmp_path: Path) -> None:
    memory = open_replays(AuditSettings(store="sqlite:state/audit.db"), tmp_path)
    await memory.close()
    assert (tmp_path / "state" / "replays.db").stat().st_mode & 0o777 == 0o600
    assert isinstance(open_replays(AuditSettings(store="memory:"), tmp_path), MemoryReplays)
    with pytest.raises(ConfigurationError, match="beside the record"):
        open_replays(AuditSettings(store="other:x"), tmp_path)
