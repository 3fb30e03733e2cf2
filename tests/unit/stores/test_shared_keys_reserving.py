"""Idempotency keys that records of their own share: one call holds a key, at every gate."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.unit.stores.sharing_gates import (
    ARGUMENTS,
    CALLER,
    DAY_S,
    SELECTED,
    C,
    Gates,
    entries,
    name_of,
    said,
    state_of,
)
from tests.unit.stores.test_terms import A, B, later, terms_of

from sluicegate.gates.events import AuditEvent, Outcome
from sluicegate.gates.operator_acts import resolve
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import CallQuery
from sluicegate.gates.terms import (
    Allowance,
    TermRefused,
    Terms,
)
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.memory import MemoryStore

pytestmark = pytest.mark.requirement("ACC-4")

ENDS: dict[str, tuple[Outcome | None, float, str]] = {
    "still runs": (None, 5.0, "IN_PROGRESS"),
    "should have ended": (None, 10.0, "OUTCOME_UNKNOWN"),
    "should have ended long ago": (None, 200.0, "OUTCOME_UNKNOWN"),
    "succeeded": (Outcome.SUCCESS, 5.0, f"done as {A}"),
    "failed": (Outcome.FAILURE, 5.0, "recorded"),
    "was refused": (Outcome.REFUSED, 5.0, "recorded"),
    "nobody knows": (Outcome.UNKNOWN, 5.0, "OUTCOME_UNKNOWN"),
    "nobody knew in all the time": (Outcome.UNKNOWN, 200.0, "OUTCOME_UNKNOWN"),
    "is kept no more": (Outcome.SUCCESS, 100.0, "recorded"),
}


@pytest.mark.parametrize("case", ENDS)
async def test_a_key_is_for_every_gate_what_became_of_its_call(gates: Gates, case: str) -> None:
    became, at, expected = ENDS[case]
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    if became is not None:
        await one.record([outcome(A, became=became, time=later(1))])
    assert await said(other, intent(B, time=later(at)), terms_of(keep_s=300)) == expected
    assert [event.kind for event in other.events()] == (
        ["intent"] if expected == "recorded" else []
    )


async def test_one_key_is_for_one_set_of_arguments_at_every_gate(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    strange = intent(B, arguments={"project_id": "other"})
    await one.record([intent(A)], terms=terms_of())
    assert await said(other, strange) == "KEY_REUSED"
    await one.record([outcome(A, became=Outcome.FAILURE)])
    assert await said(other, strange) == "KEY_REUSED"
    assert await said(other, strange, terms_of("l" * 64)) == "recorded"


@pytest.mark.requirement("RET-3")
async def test_a_later_attempt_holds_its_own_key(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await one.record([outcome(A, became=Outcome.FAILURE)])
    assert await said(one, intent(A, attempt=2, time=later(1)), terms_of(runs_s=20)) == "recorded"
    assert await said(other, intent(B, time=later(12)), terms_of(runs_s=40)) == "IN_PROGRESS"


@pytest.mark.requirement("RET-2", "RET-3")
async def test_what_was_sent_once_stays_dispatched_whatever_a_later_attempt_comes_to(
    gates: Gates,
) -> None:
    """The first attempt is not known; the second one is reserved, and never recorded."""
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await one.record([outcome(A, became=Outcome.UNKNOWN)])
    again = intent(A, attempt=2, time=later(1), detail={"a": b"what no record takes"})
    with pytest.raises(AuditUnavailable):
        await one.record([again], terms=terms_of(runs_s=20))
    assert await said(other, intent(B, time=later(12))) == "IN_PROGRESS"
    assert await said(other, intent(B, time=later(200))) == "OUTCOME_UNKNOWN"
    # The record knows of one attempt, Redis of two: an operator's word counts for both.
    act, _ = resolve(one.events(), A, found="not-done", who="ada", reason="b", now=later(201))
    await one.record([act])
    assert await one.settle(A) is True
    assert await said(other, intent(B, time=later(202)), terms_of(runs_s=300)) == "recorded"


async def test_of_one_key_at_once_one_call_is_recorded_at_one_gate(gates: Gates) -> None:
    stores = [await gates.open() for _ in range(3)]
    ends = await asyncio.gather(
        *(
            stores[number % 3].record([intent(f"req.{number:08}")], terms=terms_of())
            for number in range(60)
        ),
        return_exceptions=True,
    )
    assert sum(not isinstance(end, BaseException) for end in ends) == 1
    assert {str(end.code) for end in ends if isinstance(end, TermRefused)} == {"IN_PROGRESS"}
    assert sum(len(list(store.events())) for store in stores) == 1


async def test_before_a_call_may_run_its_key_is_dispatched_and_no_time_frees_it(
    gates: Gates,
) -> None:
    one = await gates.open()
    await one.record([intent(A)], terms=terms_of())
    assert state_of(gates.server) == ("dispatched", A)
    with gates.server.client() as client:
        name = name_of(gates.server)
        assert client.pttl(name) == -1
        await one.record([outcome(A, became=Outcome.UNKNOWN)])
        assert client.pttl(name) == -1
        act, _ = resolve(one.events(), A, found="done", who="a", reason="b", now=later(2))
        await one.record([act])
        await one.settle(A)
        assert (100 + DAY_S - 10) * 1000 < client.pttl(name) <= (100 + DAY_S) * 1000


async def test_the_term_that_the_record_refuses_gives_the_key_back(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    spent = Allowance(key="q" * 64, count=1, window_s=60)
    await one.record([intent(C)], terms=Terms(allowances=(spent,)))
    refused = Terms(reservation=terms_of().reservation, allowances=(spent,))
    assert await said(one, intent(A), refused) == "QUOTA_EXCEEDED"
    assert entries(gates.server) == []
    assert await said(other, intent(B)) == "recorded"


async def test_a_key_that_is_given_back_stays_the_one_of_its_arguments(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await other.record([intent(B)], terms=terms_of())
    await other.record([outcome(B, became=Outcome.FAILURE)])
    spent = Allowance(key="q" * 64, count=1, window_s=60)
    await one.record([intent(C)], terms=Terms(allowances=(spent,)))
    refused = Terms(reservation=terms_of().reservation, allowances=(spent,))
    assert await said(one, intent(A), refused) == "QUOTA_EXCEEDED"
    assert state_of(gates.server) == ("free", B)
    assert await said(one, intent(A, arguments={"project_id": "other"})) == "KEY_REUSED"


class Slow(MemoryStore):
    """Commits an intent, and returns only when it is let go."""

    def __init__(self, keys: AuditKeys) -> None:
        super().__init__(keys)
        self.committed, self.release = asyncio.Event(), asyncio.Event()

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        ids = await super().record(events, **how)
        if how:
            self.committed.set()
            await self.release.wait()
        return ids


async def test_who_comes_too_late_for_its_key_sends_nothing(gates: Gates) -> None:
    held = Slow(gates.keys)
    slow, other = await gates.open(held), await gates.open()
    late = asyncio.ensure_future(slow.record([intent(A)], terms=terms_of()))
    await held.committed.wait()
    assert await said(other, intent(B, time=later(9))) == "IN_PROGRESS"
    assert await said(other, intent(B, time=later(10)), terms_of(runs_s=60)) == "recorded"
    held.release.set()
    with pytest.raises(AuditUnavailable, match="taken over before anything was sent"):
        await late
    await slow.record([outcome(A, became=Outcome.REFUSED)])  # as the gate closes it
    assert state_of(gates.server) == ("dispatched", B)
    await other.record([outcome(B, kept=kept(SELECTED, "selected"))])
    assert await said(slow, intent(C, time=later(20))) == f"done as {B}"


async def test_a_key_that_was_reserved_and_whose_gate_is_gone_may_be_taken_over_in_time(
    gates: Gates,
) -> None:
    held = Slow(gates.keys)
    gone, other = await gates.open(held), await gates.open()
    crashed = asyncio.ensure_future(gone.record([intent(A)], terms=terms_of()))
    await held.committed.wait()
    crashed.cancel()  # between its commit and the dispatch
    await asyncio.wait([crashed])
    assert state_of(gates.server) == ("reserved", A)
    assert await said(other, intent(B, time=later(3))) == "IN_PROGRESS"
    assert await said(other, intent(B, time=later(10), arguments={"x": 1})) == "KEY_REUSED"
    assert await said(other, intent(B, time=later(10))) == "recorded"
    # The gate's own record knows the call as open: there it waits for an operator.
    assert await said(gone, intent(C, time=later(300)), terms_of(keep_s=900)) == "OUTCOME_UNKNOWN"
    assert [event.request_id for event in gone.open_intents()] == [A]


async def test_a_reservation_that_is_judged_is_not_kept(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    a, b = (
        CallQuery(request_id=each, tool="restart", caller=CALLER, arguments=ARGUMENTS)
        for each in (A, B)
    )
    reservation = terms_of().reservation
    assert reservation is not None
    await other.demand_key(reservation, b, now=NOW)
    assert entries(gates.server) == []
    for attempt in (1, 2, 3):
        await one.record([intent(A, attempt=attempt)], terms=terms_of())
        await one.demand_key(reservation, a, now=NOW)
    with pytest.raises(TermRefused, match="IN_PROGRESS"):
        await other.demand_key(reservation, b, now=NOW)
