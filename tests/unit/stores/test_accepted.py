"""Who writes into the database without the chain's key makes no evidence, and hides none in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.postgres_servers import unguarded
from tests.unit.stores.made import intent, outcome
from tests.unit.stores.test_terms import ANSWER_OF_A, A, B, Store, found, later, proof

from sluicegate.gates.events import Outcome
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.memory import MemoryStore

Intrude: TypeAlias = Callable[[str], object]

pytestmark = pytest.mark.requirement("EVI-1", "AUD-3")

GUARD = "DROP TRIGGER audit_event_no_update"


@pytest.fixture
def intrude(store: Store, request: pytest.FixtureRequest, tmp_path: Path) -> Intrude:
    """Do one statement as somebody who may do anything to the database, and holds no key."""

    def write(statement: str) -> None:
        if isinstance(store, MemoryStore):
            store._connection.execute(GUARD)
            store._connection.execute(statement)
        elif (tmp_path / "a.db").exists():
            with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
                connection.execute(GUARD)
                connection.execute(statement)
                connection.commit()
        else:
            with unguarded(request.getfixturevalue("place")) as connection:
                connection.execute(statement.encode())

    return write


CHANGED = {
    "a cache gave it": """detail = '{"from_cache": true}'""",
    "an earlier call gave it": """detail = '{"replays": "req.00000009"}'""",
    "its detail is a list": "detail = '[]'",
    "its detail is no JSON": "detail = 'x'",
    "a column that nobody reads": "endpoint = 'x'",
    "it was recorded earlier": f"time = '{later(0.5):%Y-%m-%dT%H:%M:%S.%fZ}'",
    "it is of another call": f"request_id = '{A}'",
}


@pytest.mark.parametrize("case", CHANGED)
async def test_of_an_answer_nothing_is_read_before_its_own_link_holds(
    store: Store, intrude: Intrude, case: str
) -> None:
    await store.record([proof(A)])
    await store.record([proof(B, time=later(1))])
    intrude(f"UPDATE audit_event SET {CHANGED[case]} WHERE seq = 2")
    with pytest.raises(AuditUnavailable, match="CHAIN_BROKEN: event 2 "):
        await found(store)


async def test_a_call_with_other_arguments_than_were_written_is_not_believed(
    store: Store, intrude: Intrude
) -> None:
    await store.record([proof(A)])
    intrude("UPDATE audit_event SET arguments_hmac = 'x' WHERE seq = 1")
    query = replace(ANSWER_OF_A, arguments=proof(A).arguments)
    with pytest.raises(AuditUnavailable, match="CHAIN_BROKEN: event 1 "):
        await store.answer_of(query, now=later(5))


@pytest.mark.requirement("EVI-2")
@pytest.mark.parametrize("seq", [1, 4], ids=["the attempt before", "the intent of the answer"])
async def test_what_was_asked_for_when_is_held_to_the_chain_as_well(
    store: Store, intrude: Intrude, seq: int
) -> None:
    (after,) = await store.record([outcome("req.00000009", became=Outcome.FAILURE)])
    await store.record([intent(A), proof(A), intent(B), proof(B, time=later(1))])
    assert await found(store, after=after) == [B, A]
    intrude(f"UPDATE audit_event SET endpoint = 'x' WHERE seq = {seq}")
    with pytest.raises(AuditUnavailable, match=f"CHAIN_BROKEN: event {seq} "):
        await found(store, after=after)


UNSEEN = {
    "kind": "'operator'",
    "outcome": "'failure'",
    "tool": "'other'",
    "caller_subject": "'svc-other'",
    "caller_tenant": "NULL",
    "contract_digest": "'sha256:e'",
    "time": "'2026-11-30T11:00:00.000000Z'",
}


@pytest.mark.parametrize("column", UNSEEN)
async def test_what_is_changed_so_that_it_is_not_found_is_named_by_verify_alone(
    store: Store, intrude: Intrude, column: str
) -> None:
    await store.record([proof(A)])
    await store.record([proof(B, time=later(1))])
    intrude(f"UPDATE audit_event SET {column} = {UNSEEN[column]} WHERE seq = 2")
    assert await found(store) == [A]
    assert store.verify().broken_at == 2
