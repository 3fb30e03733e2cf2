"""The file takes events only at its end, and a tampered file is named by verify."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing

import pytest
from tests.unit.stores.made import NOW, intent, kept, outcome

from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.encoding import COLUMNS
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.stores.sqlite_schema import TRIGGERS


@pytest.fixture
async def connection(sqlite: SqliteStore) -> AsyncIterator[sqlite3.Connection]:
    await sqlite.record([intent(), outcome(kept=kept(b"raw"), raw=b"raw"), intent("req.00000002")])
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as opened:
        yield opened


COPY = ", ".join("event_id || 'x'" if name == "event_id" else name for name in COLUMNS[1:])


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("UPDATE audit_event SET outcome = 'success'", id="update"),
        pytest.param("DELETE FROM audit_event WHERE seq = 3", id="delete"),
        pytest.param(
            f"REPLACE INTO audit_event SELECT 2, {COPY} FROM audit_event WHERE seq = 2",
            id="replace",
        ),
        pytest.param(
            f"INSERT INTO audit_event SELECT 2, {COPY} FROM audit_event WHERE seq = 2"
            " ON CONFLICT (seq) DO UPDATE SET outcome = 'success'",
            id="upsert",
        ),
        pytest.param(
            f"INSERT INTO audit_event SELECT 5, {COPY} FROM audit_event WHERE seq = 3", id="gap"
        ),
        pytest.param(
            f"INSERT INTO audit_event SELECT 0, {COPY} FROM audit_event WHERE seq = 3",
            id="before the first",
        ),
        pytest.param(
            f"INSERT INTO audit_event SELECT NULL, {COPY} FROM audit_event WHERE seq = 3",
            id="seq left to SQLite",
        ),
        pytest.param("DELETE FROM custody_blob", id="blob deleted"),
        pytest.param("REPLACE INTO custody_blob SELECT * FROM custody_blob", id="blob replaced"),
        pytest.param("UPDATE custody_blob SET contract_digest = 'x'", id="blob moved"),
    ],
)
def test_the_file_refuses_all_but_the_next_event(
    connection: sqlite3.Connection, statement: str
) -> None:
    before = connection.execute("SELECT * FROM audit_event").fetchall()
    with pytest.raises(sqlite3.IntegrityError, match="APPEND_ONLY"):
        connection.execute(statement)
    assert connection.execute("SELECT * FROM audit_event").fetchall() == before


def test_what_is_purged_stays_purged(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE custody_blob SET ciphertext = NULL, purged_at = 'now'")
    with pytest.raises(sqlite3.IntegrityError, match="APPEND_ONLY"):
        connection.execute("UPDATE custody_blob SET purged_at = NULL")


def test_a_column_takes_only_its_type(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT"):
        connection.execute(
            f"INSERT INTO audit_event SELECT 4, {COPY.replace('attempt', 'tool', 1)}"
            " FROM audit_event WHERE seq = 3"
        )


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("statement", "broken_at"),
    [
        pytest.param("UPDATE audit_event SET outcome = 'failure' WHERE seq = 2", 2, id="edit"),
        pytest.param("UPDATE audit_event SET code = '' WHERE seq = 1", 1, id="null to empty"),
        pytest.param("DELETE FROM audit_event WHERE seq = 2", 2, id="delete"),
        pytest.param("UPDATE audit_event SET seq = 9 WHERE seq = 3", 3, id="renumber"),
        pytest.param(
            f"INSERT INTO audit_event SELECT 4, {COPY} FROM audit_event WHERE seq = 3",
            4,
            id="forged append",
        ),
    ],
)
def test_who_removes_the_triggers_is_found_by_the_chain(
    sqlite: SqliteStore, connection: sqlite3.Connection, statement: str, broken_at: int
) -> None:
    assert sqlite.verify().broken_at is None
    for name in TRIGGERS:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement)
    assert sqlite.verify().broken_at == broken_at


def rewrite_tables(connection: sqlite3.Connection) -> None:
    """Make the table of events anew without types, keys and triggers, as whoever may write can."""
    connection.execute("CREATE TABLE copy AS SELECT * FROM audit_event")
    for name in TRIGGERS:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("DROP TABLE audit_event")
    connection.execute(f"CREATE TABLE audit_event ({', '.join(COLUMNS)})")
    connection.execute("INSERT INTO audit_event SELECT * FROM copy ORDER BY seq")


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("value", ["NULL", "x'00'", "1.5", "'x'", "7", "1e400"])
@pytest.mark.parametrize("column", COLUMNS)
def test_a_row_that_is_no_event_is_the_broken_one(
    sqlite: SqliteStore, connection: sqlite3.Connection, column: str, value: str
) -> None:
    rewrite_tables(connection)
    connection.execute(f"UPDATE audit_event SET {column} = {value} WHERE seq = 2")
    told = connection.execute(
        f"SELECT {column} IS NOT (SELECT {column} FROM copy WHERE seq = 2)"
        " FROM audit_event ORDER BY rowid LIMIT 1 OFFSET 1"
    ).fetchone()
    report = sqlite.verify()
    first = 1 if (column, value) == ("seq", "NULL") else 2  # it now stands first
    assert (report.broken_at, bool(report.problem)) == ((first, True) if told[0] else (None, False))


@pytest.mark.requirement("AUD-3")
async def test_nothing_is_read_from_or_appended_to_a_row_that_is_no_event(
    sqlite: SqliteStore, connection: sqlite3.Connection
) -> None:
    rewrite_tables(connection)
    connection.execute("UPDATE audit_event SET link = x'00' WHERE seq = 3")
    with pytest.raises(AuditUnavailable, match="the column link of event 3 holds a blob"):
        list(sqlite.events())
    with pytest.raises(AuditUnavailable, match="the column link of event 3 holds a blob"):
        sqlite.open_intents()
    with pytest.raises(AuditUnavailable, match="CHAIN_BROKEN"):
        await sqlite.record([intent("req.00000003")])


@pytest.mark.requirement("AUD-4")
async def test_purging_blobs_leaves_the_chain_whole(
    sqlite: SqliteStore, connection: sqlite3.Connection
) -> None:
    refs = [event.raw_ref for event in sqlite.events() if event.raw_ref]
    assert await sqlite.purge(now=NOW, who="ada", refs=refs) == 1
    left = connection.execute("SELECT ciphertext, wrapped_key FROM custody_blob").fetchall()
    assert (left, sqlite.verify().broken_at) == ([(None, None)], None)


def test_the_table_has_the_columns_of_a_stored_event(connection: sqlite3.Connection) -> None:
    found = [row[1] for row in connection.execute("PRAGMA table_info(audit_event)")]
    assert found == list(StoredEvent.__dataclass_fields__)
