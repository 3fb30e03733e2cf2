"""The table of open calls: same cost at any length, in step with the events, safe from hands."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.stores.made import intent, kept, outcome, resolution

from sluicegate.gates.events import Outcome
from sluicegate.gates.record_queries import CallQuery
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.record_open_calls import OPEN_CALL_TRIGGERS, find_open_row
from sluicegate.stores.record_terms import TERM_TRIGGERS, key_columns
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy", tenant="t-1")
ARGUMENTS = {"project_id": "bluebird"}


async def unresolved(store: SqliteStore | MemoryStore) -> bool:
    found = await store.find_open_call(
        CallQuery(request_id="req.another0", tool="restart", caller=CALLER, arguments=ARGUMENTS)
    )
    return found is not None


@pytest.mark.requirement("AUD-3", "RET-2")
async def test_the_question_costs_the_same_after_a_thousand_equal_calls(
    sqlite: SqliteStore, keys: AuditKeys
) -> None:
    asked = CallQuery(request_id="req.another0", tool="restart", caller=CALLER, arguments=ARGUMENTS)
    columns = key_columns(keys, asked)

    def steps() -> int:
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        with closing(sqlite3.connect(sqlite.path)) as connection:
            connection.set_progress_handler(step, 1)
            found = find_open_row(connection, columns)
            assert found is None
        return count

    await sqlite.record([intent(), outcome()])
    few = steps()
    await sqlite.record(
        [
            event
            for number in range(1_000)
            for event in (intent(f"req.{number:08}"), outcome(f"req.{number:08}"))
        ]
    )
    assert 0 < few == steps()


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("DELETE FROM open_call", id="delete"),
        pytest.param("UPDATE open_call SET attempt = 0", id="update"),
        pytest.param("REPLACE INTO open_call SELECT * FROM open_call", id="replace"),
    ],
)
async def test_nobody_frees_an_open_call_but_by_an_event(
    sqlite: SqliteStore, statement: str
) -> None:
    await sqlite.record([intent(), outcome(became=Outcome.UNKNOWN)])
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA recursive_triggers = ON")
        with pytest.raises(sqlite3.IntegrityError, match="APPEND_ONLY"):
            connection.execute(statement)
    assert await unresolved(sqlite)
    await sqlite.record([resolution()])
    assert not await unresolved(sqlite)


@pytest.mark.requirement("AUD-3", "RET-2")
@pytest.mark.parametrize("spoil", ["DELETE FROM open_call", "DROP TABLE open_call"])
async def test_verify_names_the_call_that_was_freed_by_hand(
    sqlite: SqliteStore, spoil: str
) -> None:
    await sqlite.record([outcome("req.00000009"), intent()])
    assert sqlite.verify().broken_at is None
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER open_call_no_delete")
        connection.execute(spoil)
    report = sqlite.verify()
    assert report.broken_at is not None
    assert "open calls" in str(report.problem)


@pytest.mark.requirement("RET-2")
async def test_words_in_a_reason_free_no_call(sqlite: SqliteStore) -> None:
    act = resolution()
    said = {"resolves": "req.other000", "reason": '","resolves":"req.00000001"'}
    await sqlite.record([intent(), intent(kind=act.kind, outcome=act.outcome, detail=said)])
    assert await unresolved(sqlite)


def make_old(path: Path) -> list[tuple[object, ...]]:
    """Take the file back to what the first release made; return its events."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name in (*OPEN_CALL_TRIGGERS, *TERM_TRIGGERS):
            connection.execute(f"DROP TRIGGER {name}")
        for table in ("open_call", "quota_spent", "reservation", "evidence_spent", "custody_share"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("DROP INDEX audit_event_success")
        connection.execute(
            "CREATE INDEX audit_event_intent ON audit_event (arguments_hmac) WHERE kind = 'intent'"
        )
        connection.execute("PRAGMA user_version = 1")
        return connection.execute("SELECT * FROM audit_event").fetchall()


@pytest.mark.requirement("AUD-3", "RET-2")
async def test_a_record_of_the_first_release_is_brought_up_with_its_open_calls(
    tmp_path: Path, keys: AuditKeys
) -> None:
    path = tmp_path / "a.db"
    store = SqliteStore(path, keys)
    await store.record([intent("req.00000002"), outcome("req.00000002"), intent()])
    await store.record([outcome(became=Outcome.UNKNOWN, kept=kept(b"raw"), raw=b"raw")])
    await store.close()
    before = make_old(path)
    again = SqliteStore(path, keys)
    assert await unresolved(again)
    assert again.verify().broken_at is None
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM audit_event").fetchall() == before
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    await again.record([resolution()])
    assert not await unresolved(again)
    await again.close()
