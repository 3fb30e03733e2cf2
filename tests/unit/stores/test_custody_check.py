"""Custody is held to the events when a record is verified: in SQLite and PostgreSQL alike."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from tests.postgres_servers import unguarded
from tests.unit.stores.made import NOW, kept, outcome

from sluicegate.gates.events import StoredEvent
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.queued import QueuedStore
from sluicegate.stores.sqlite import SqliteStore

PURGED = NOW + timedelta(days=10)
LATER = NOW + timedelta(days=400)

GONE = "custody has no row of what it handed over"
DESTROYED = "what it handed to custody was destroyed, and no purge says so"
MORE = "more was destroyed at its time than it says"
NO_PARTS = "key_id = NULL, wrapped_key = NULL, nonce = NULL, ciphertext = NULL"

TAMPERED = {
    "all rows are gone": ("DELETE FROM custody_blob", (1, GONE)),
    "the row of raw bytes is gone": ("DELETE FROM custody_blob WHERE kind = 'raw'", (1, GONE)),
    "the row of arguments is gone": (
        "DELETE FROM custody_blob WHERE kind = 'arguments'",
        (2, GONE),
    ),
    "the row of selected data is gone": (
        "DELETE FROM custody_blob WHERE kind = 'selected'",
        (3, GONE),
    ),
    "a text is gone": (
        "UPDATE custody_blob SET ciphertext = NULL WHERE kind = 'arguments'",
        (2, DESTROYED),
    ),
    "purged without an act": (
        (
            f"UPDATE custody_blob SET {NO_PARTS}, purged_at = '2026-12-01T00:00:00.000000Z'"
            " WHERE kind = 'selected'"
        ),
        (3, DESTROYED),
    ),
    "purged at the time of an act that names others": (
        (
            f"UPDATE custody_blob SET {NO_PARTS},"
            " purged_at = (SELECT max(purged_at) FROM custody_blob) WHERE kind = 'selected'"
        ),
        (3, DESTROYED),
    ),
}


async def _keep_and_purge(store: QueuedStore) -> None:
    """Events 1 to 3 hand over, 4 too; 5 destroys what 4 did, by its name."""
    for kind in ("raw", "arguments", "selected", "raw"):
        content = f"{kind} {len(list(store.events()))}".encode()
        await store.record([outcome(kept=kept(content, kind))])
    (*_, last) = store.events()
    assert last.raw_ref is not None
    await store.purge(now=PURGED, who="olga", refs=[last.raw_ref])


@pytest.mark.requirement("AUD-3", "AUD-4")
@pytest.mark.parametrize("case", TAMPERED)
async def test_what_custody_lost_without_an_act_is_named(
    case: str, sqlite: SqliteStore, tmp_path: Path
) -> None:
    statement, told = TAMPERED[case]
    await _keep_and_purge(sqlite)
    assert sqlite.verify().broken_at is None
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER custody_blob_no_delete")
        connection.execute(statement)
    report = sqlite.verify()
    assert (report.broken_at, report.problem) == told


@pytest.mark.requirement("AUD-3", "AUD-4")
@pytest.mark.parametrize("case", TAMPERED)
async def test_postgres_holds_custody_to_the_events_too(
    case: str, postgres: PostgresStore, place: Place
) -> None:
    statement, told = TAMPERED[case]
    await _keep_and_purge(postgres)
    assert postgres.verify().broken_at is None
    with unguarded(place) as connection:
        connection.execute(statement.encode())
    report = postgres.verify()
    assert (report.broken_at, report.problem) == told


async def _keep_many(store: QueuedStore) -> tuple[StoredEvent, ...]:
    await store.record([outcome(kept=kept(b"%d" % number)) for number in range(150)])
    return tuple(store.events())


@pytest.mark.requirement("AUD-3", "AUD-4")
@pytest.mark.parametrize("is_named", [True, False], ids=["by name", "by expiry"])
async def test_a_purge_of_more_than_it_names_is_whole(sqlite: SqliteStore, is_named: bool) -> None:
    refs = [event.raw_ref or "" for event in await _keep_many(sqlite)]
    done = await sqlite.purge(now=LATER, who="olga", refs=refs if is_named else None)
    assert (done, sqlite.verify().problem) == (150, None)


@pytest.mark.requirement("AUD-3", "AUD-4")
async def test_what_was_destroyed_under_the_cover_of_a_purge_is_named(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    await _keep_many(sqlite)
    await sqlite.purge(now=LATER, who="olga")
    await sqlite.record([outcome(kept=kept(b"later"))])
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        connection.execute(
            f"UPDATE custody_blob SET {NO_PARTS}, purged_at = (SELECT max(purged_at) FROM"
            " custody_blob) WHERE purged_at IS NULL"
        )
    report = sqlite.verify()
    assert (report.broken_at, report.problem) == (151, MORE)


@pytest.mark.requirement("AUD-3", "AUD-4")
async def test_an_expiry_by_another_time_than_that_of_the_act_is_whole(sqlite: SqliteStore) -> None:
    await _keep_many(sqlite)
    assert await sqlite.purge(now=NOW, who="olga", expired_by=LATER) == 150
    assert sqlite.verify().problem is None
