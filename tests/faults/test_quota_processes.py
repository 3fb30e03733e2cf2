"""Many processes spend one quota at once: exactly as many attempts are recorded as it allows."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.faults.audit_processes import fork
from tests.postgres_servers import new_place, prepare
from tests.unit.stores.made import intent

from sluicegate.gates.terms import Allowance, Reservation, TermRefused, Terms
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.sqlite import SqliteStore

QUOTA = 17
ATTEMPTS = 12
CALLERS = 4
NOW = datetime.now(UTC)
ALLOWANCE = Allowance(key="a" * 64, count=QUOTA, window_s=3_600)
RESERVATION = Reservation(
    key="b" * 64,
    runs_until=NOW.replace(year=NOW.year + 1),
    kept_until=NOW.replace(year=NOW.year + 1),
)

Opening = Callable[[], SqliteStore | PostgresStore]


def open_sqlite(folder: Path, keys: AuditKeys) -> Opening:
    SqliteStore(folder / "a.db", keys)._writer.close(10)
    return lambda: SqliteStore(folder / "a.db", keys)


def open_postgres(_: Path, keys: AuditKeys) -> Opening:
    place = new_place()
    prepare(place, keys)
    return lambda: PostgresStore(place, keys)


def try_all(opening: Opening, terms: Terms, pipe: int, process: int) -> None:
    """Record an intent each, from several callers, and write what each was told."""

    async def work() -> None:
        store = opening()

        async def attempt(number: int) -> None:
            event = intent(f"req.{process:04}.{number:04}", time=NOW, arguments={})
            try:
                await store.record([event], terms=terms)
                told = "recorded"
            except TermRefused as refused:
                told = str(refused.code)
            os.write(pipe, f"{told}\n".encode())

        async def call(first: int) -> None:
            for number in range(first, ATTEMPTS, CALLERS):
                await attempt(number)

        await asyncio.gather(*[call(first) for first in range(CALLERS)])
        await store.close()

    asyncio.run(work())


@pytest.mark.requirement("ACC-3", "ACC-4", "EVI-1")
@pytest.mark.parametrize(
    ("opens", "processes"),
    [
        pytest.param(open_sqlite, 8, id="SQLite, 8 processes"),
        pytest.param(open_postgres, 2, id="PostgreSQL, 2 processes"),
        pytest.param(open_postgres, 8, id="PostgreSQL, 8 processes"),
    ],
)
@pytest.mark.parametrize(
    ("terms", "allowed", "refusal"),
    [
        pytest.param(Terms(allowances=(ALLOWANCE,)), QUOTA, "QUOTA_EXCEEDED", id="quota"),
        pytest.param(Terms(reservation=RESERVATION), 1, "IN_PROGRESS", id="idempotency key"),
        pytest.param(Terms(evidence=("an event",)), 1, "EVIDENCE_REQUIRED", id="evidence"),
        pytest.param(Terms(unless_open=True), 1, "OUTCOME_UNKNOWN", id="open call"),
    ],
)
def test_what_many_processes_spend_at_once_is_exact(
    tmp_path: Path,
    opens: Callable[[Path, AuditKeys], Opening],
    processes: int,
    terms: Terms,
    allowed: int,
    refusal: str,
) -> None:
    opening = opens(tmp_path, draw_keys())
    read, write = os.pipe()
    children = []
    for process in range(processes):

        def work(process: int = process) -> None:
            try_all(opening, terms, write, process)

        children.append(fork(work))
    os.close(write)
    received = b""
    while chunk := os.read(read, 65_536):
        received += chunk
    os.close(read)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    store = opening()
    recorded = len(list(store.events()))
    problem = store.verify().problem
    store._writer.close(10)
    expected = min(allowed, processes * ATTEMPTS)
    assert ends == [0] * processes
    assert Counter(received.decode().split()) == Counter(
        {"recorded": expected, refusal: processes * ATTEMPTS - expected}
    )
    assert (recorded, problem) == (expected, None)
