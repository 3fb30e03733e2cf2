"""The first bad event is named, whichever table shows it: in SQLite and PostgreSQL alike."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from itertools import permutations

import pytest
from tests.postgres_servers import unguarded
from tests.unit.stores.made import NOW, intent, kept, outcome

from sluicegate.gates.terms import Reservation, Terms
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.queued import QueuedStore
from sluicegate.stores.sqlite import SqliteStore

LONG = NOW + timedelta(days=9)
HELD = Terms(reservation=Reservation(key="k" * 64, runs_until=NOW, kept_until=LONG))
RECORDED = {
    "open call": (intent("req.00000001", arguments={"n": 1}), Terms()),
    "key": (intent("req.00000002", arguments={"n": 2}), HELD),
    "custody": (outcome("req.00000003", kept=kept(b"raw")), Terms()),
}
SPOILED = {
    "open call": (
        "DELETE FROM open_call",
        "the table of open calls does not say of it what the events say",
    ),
    "key": ("DELETE FROM reservation", "the key that it holds is not held by it"),
    "custody": ("DELETE FROM custody_blob", "custody has no row of what it handed over"),
}
FIRST_TWO = pytest.mark.parametrize("order", [*permutations(SPOILED, 2)], ids=" before ".join)


async def _record(store: QueuedStore, order: tuple[str, ...]) -> None:
    """Events 1 and 2 are those of ``order``, 3 closes the call that holds the key."""
    for case in order:
        event, terms = RECORDED[case]
        await store.record([event], terms=terms)
    await store.record([outcome("req.00000002")])
    assert store.verify().broken_at is None


@pytest.mark.requirement("AUD-3")
@FIRST_TWO
async def test_of_two_tables_that_were_changed_the_first_bad_event_is_named(
    order: tuple[str, str], sqlite: SqliteStore
) -> None:
    await _record(sqlite, order)
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
        for trigger in ("custody_blob_no_delete", "open_call_no_delete"):
            connection.execute(f"DROP TRIGGER {trigger}")
        for case in order:
            connection.execute(SPOILED[case][0])
    report = sqlite.verify()
    assert (report.broken_at, report.problem) == (1, SPOILED[order[0]][1])


@pytest.mark.requirement("AUD-3")
@FIRST_TWO
async def test_postgres_names_the_first_of_two_too(
    order: tuple[str, str], postgres: PostgresStore, place: Place
) -> None:
    await _record(postgres, order)
    with unguarded(place) as connection:
        for case in order:
            connection.execute(SPOILED[case][0].encode())
    report = postgres.verify()
    assert (report.broken_at, report.problem) == (1, SPOILED[order[0]][1])
