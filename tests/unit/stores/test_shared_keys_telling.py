"""Idempotency keys that records of their own share: Redis is told what a call came to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.redis_servers import RedisServer
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.unit.stores.sharing_gates import (
    ARGUMENTS,
    SELECTED,
    C,
    Gates,
    answered,
    entries,
    said,
    state_of,
)
from tests.unit.stores.test_terms import A, B, later, terms_of
from tests.waiting import until

from sluicegate.gates import debts
from sluicegate.gates.events import AuditEvent, EventKind, Outcome
from sluicegate.gates.forwarding import ForwardingStore
from sluicegate.gates.operator_acts import Found, resolve
from sluicegate.gates.ports import AuditStore, AuditUnavailable, HeldBack
from sluicegate.gates.terms import IF_INTENDED, Allowance, TermRefused, Terms
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.shared_keys import SharedKeysStore
from sluicegate.stores.shared_keys_fates import Became
from sluicegate.stores.shared_keys_scripts import SPOKEN
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("ACC-4")


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize(
    ("found", "expected"), [("done", f"done as {A}"), ("not-done", "recorded")]
)
@pytest.mark.parametrize("became", [None, Outcome.UNKNOWN], ids=["no end", "unknown"])
async def test_what_an_operator_found_out_counts_at_every_gate(
    gates: Gates, became: Outcome | None, found: Found, expected: str
) -> None:
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    if became is not None:
        await one.record([outcome(A, became=became)])
    act, _ = resolve(
        one.events(),
        A,
        found=found,
        who="ada",
        reason="looked",
        now=later(2),
        gate_is_gone=became is None,
    )
    await one._store.record([act])  # by another process: this store hears nothing of it
    assert await one.settle(A) is True
    assert await said(other, intent(B, time=later(3))) == expected


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize("found", ["done", "not-done"])
@pytest.mark.parametrize("attempt", [1, 2])
@pytest.mark.parametrize("became", [Outcome.UNKNOWN, Outcome.FAILURE, Outcome.SUCCESS])
async def test_only_a_success_takes_back_an_operators_word_at_any_gate(
    gates: Gates, became: Outcome, attempt: int, found: Found
) -> None:
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await resolve_elsewhere(one, found)
    assert await one.settle(A) is True
    await one.record([outcome(A, attempt=attempt, became=became)])
    is_done = found == "done" or became is Outcome.SUCCESS
    expected = f"done as {A}" if is_done else "recorded"
    assert await said(other, intent(B, time=later(3))) == expected


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize("found", ["done", "not-done"])
async def test_what_was_read_before_an_operators_word_is_told_too_late(
    gates: Gates, found: Found
) -> None:
    """The gate reads that its call is unknown, and is held up on its way to Redis."""
    one = await gates.open()
    await one.record([intent(A)], terms=terms_of())
    claim = one._claims[A]
    await one.record([outcome(A, became=Outcome.UNKNOWN)])
    await resolve_elsewhere(one, found)
    await one.settle(A)
    assert await one._table.settle(claim, Became.UNKNOWN, NOW) == "late"
    assert state_of(gates.server) == ("done" if found == "done" else "free", A)


@pytest.mark.requirement("RET-2")
async def test_an_operators_word_is_told_too_late_behind_what_was_done_since(gates: Gates) -> None:
    one = await gates.open()
    await one.record([intent(A)], terms=terms_of())
    claim = one._claims[A]
    await one.record([outcome(A)])
    word = replace(claim, attempt=claim.attempt + SPOKEN)
    assert await one._table.settle(word, Became.FREE, NOW) == "late"
    # Of an attempt that came behind that success the word is no late one.
    word = replace(claim, attempt=2 + SPOKEN)
    assert await one._table.settle(word, Became.FREE, NOW) == "settled"
    assert state_of(gates.server) == ("free", A)


@pytest.mark.requirement("RET-2")
async def test_of_a_call_that_an_operator_resolved_no_further_attempt_is_reserved(
    gates: Gates,
) -> None:
    one, other = await gates.open(), await gates.open()
    await free_by_operator(one)
    again = intent(A, attempt=2, time=later(3))
    assert await said(one, again) == "OUTCOME_UNKNOWN"
    assert await said(other, intent(B, time=later(4))) == "recorded"


class Meanwhile(ForwardingStore):
    """A record in whose commit of B's intent something happens elsewhere first."""

    def __init__(self, inner: AuditStore, happens: Callable[[], Awaitable[object]]) -> None:
        super().__init__(inner)
        self.happens = happens
        self.refuses = True

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> Sequence[str]:
        if events[0].request_id == B and events[0].kind is EventKind.INTENT:
            await self.happens()
            if self.refuses:
                raise TermRefused(Code.QUOTA_EXCEEDED)
        return await super().record(events, **how)


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize("refuses", [True, False], ids=["refused", "recorded"])
async def test_a_success_that_comes_while_another_holds_the_key_lets_nothing_be_sent(
    gates: Gates, refuses: bool
) -> None:
    """An operator freed the key, another gate reserved it, and then the success was seen."""
    one, third = await gates.open(), await gates.open()

    async def succeed() -> None:
        await one.record([outcome(A, kept=kept(SELECTED, "selected"))])
        assert state_of(gates.server) == ("reserved", B)
        assert await said(third, intent(C, time=later(3))) == "IN_PROGRESS"

    record = Meanwhile(SqliteStore(gates.folder / "other.db", gates.keys), succeed)
    record.refuses = refuses
    other = await gates.open(record)
    await free_by_operator(one)
    if refuses:
        assert await said(other, intent(B, time=later(3))) == "QUOTA_EXCEEDED"
    else:
        with pytest.raises(AuditUnavailable, match="taken over before anything was sent"):
            await other.record([intent(B, time=later(3))], terms=terms_of())
        await other.record([outcome(B, became=Outcome.REFUSED)], terms=IF_INTENDED)
    for gate in (one, other, third):
        assert await said(gate, intent(C, time=later(4))) == f"done as {A}"
    given = await answered(third, now=later(4))
    assert given is not None
    assert given.data == {"restarted": "PLANTED-DATA"}


@pytest.mark.requirement("RET-2")
async def test_a_success_that_came_while_a_key_was_reserved_outlives_that_gate(
    gates: Gates,
) -> None:
    one, other = await gates.open(), await gates.open()
    await free_by_operator(one)
    reservation = terms_of().reservation
    assert reservation is not None
    gone = other._claim(reservation, request_id=B, attempt=1, arguments=ARGUMENTS)
    assert (await other._table.reserve(gone, later(3))).word == "reserved"
    await one.record([outcome(A)])
    third = await gates.open()
    assert await said(third, intent(C, time=later(4))) == "IN_PROGRESS"
    assert await said(third, intent(C, time=later(12))) == f"done as {A}"


@pytest.mark.requirement("RET-2")
async def test_an_operators_done_leaves_the_answer_of_the_success_behind_it(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    claim = one._claims[A]
    await resolve_elsewhere(one, "done")
    await one.record([outcome(A, kept=kept(SELECTED, "selected"))])
    word = replace(claim, attempt=claim.attempt + SPOKEN)
    assert await one._table.settle(word, Became.DONE, NOW) == "late"
    assert await said(other, intent(B, time=later(3))) == f"done as {A}"
    given = await answered(other, now=later(4))
    assert given is not None
    assert given.data == {"restarted": "PLANTED-DATA"}


@pytest.mark.requirement("RET-2")
async def test_a_success_is_doubted_also_where_its_caller_went_while_it_was_told(
    gates: Gates,
) -> None:
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    tell, began = one._telling.tell, asyncio.Event()

    async def held_up(*told: Any) -> None:
        began.set()
        await asyncio.Event().wait()

    one._telling.tell = held_up  # type: ignore[method-assign]
    telling = asyncio.create_task(one.record([outcome(A)]))
    await began.wait()
    telling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await telling
    one._telling.tell = tell  # type: ignore[method-assign]
    one._debts.begin()  # as any other call does
    await until(lambda: one._debts.count == 0)
    assert state_of(gates.server) == ("done", A)
    doubt = [intent(A, attempt=2), outcome(A, attempt=2, became=Outcome.UNKNOWN)]
    await one.record(doubt, terms=IF_INTENDED)
    assert state_of(gates.server) == ("unknown", A)
    assert await said(other, intent(B, time=later(3))) == "OUTCOME_UNKNOWN"


async def free_by_operator(one: SharedKeysStore) -> None:
    """Begin the call A and free its key by an operator's word, while its gate still runs."""
    await one.record([intent(A)], terms=terms_of())
    await resolve_elsewhere(one, "not-done")
    await one.settle(A)


async def resolve_elsewhere(one: SharedKeysStore, found: Found) -> None:
    """Record what an operator found out, as another process: this store hears nothing of it."""
    act, _ = resolve(
        one.events(), A, found=found, who="ada", reason="b", now=later(2), gate_is_gone=True
    )
    await one._store.record([act])


async def test_what_a_record_says_of_a_key_wins_over_a_redis_that_was_not_told(
    gates: Gates,
) -> None:
    """As where a gate ends between the commit of an outcome and the word to Redis."""
    record = MemoryStore(gates.keys)
    one, other = await gates.open(record), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await record.record([outcome(A, kept=kept(SELECTED, "selected"))])
    assert state_of(gates.server) == ("dispatched", A)
    assert await said(other, intent(B, time=later(20))) == "OUTCOME_UNKNOWN"
    assert await said(one, intent(B, time=later(20))) == f"done as {A}"  # met by whoever knows
    assert await said(other, intent(B, time=later(20))) == f"done as {A}"


@pytest.mark.parametrize(
    ("became", "state"),
    [(Outcome.SUCCESS, "done"), (Outcome.FAILURE, "free"), (Outcome.UNKNOWN, "unknown")],
)
async def test_a_gate_that_opens_tells_redis_what_its_record_knows(
    gates: Gates, became: Outcome, state: str
) -> None:
    record = MemoryStore(gates.keys)
    one = await gates.open(record)
    await one.record([intent(A)], terms=terms_of())
    await record.record([outcome(A, became=became)])
    assert state_of(gates.server) == ("dispatched", A)
    await gates.open()  # another record: it knows nothing of this call
    assert state_of(gates.server) == ("dispatched", A)
    await gates.open(record)
    assert state_of(gates.server) == (state, A)


async def test_an_outcome_that_redis_cannot_be_told_stands_and_is_told_later(
    gates: Gates, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    gates.server.kill()
    try:
        ids = await one.record([outcome(A, kept=kept(SELECTED, "selected"))])
    finally:
        gates.server.start()
    assert len(ids) == 1
    assert state_of(gates.server) == ("dispatched", A)
    assert f"call {A}: its key stays as it was" in caplog.text
    assert await said(one, intent(B), terms_of("l" * 64)) == "recorded"
    await until(lambda: state_of_all(gates.server)[A] == "done")
    assert await said(other, intent(C, time=later(20))) == f"done as {A}"


async def test_a_key_that_was_reserved_for_nothing_is_given_back_when_it_is_met(
    gates: Gates,
) -> None:
    """As where the reply to a reservation was lost, or Redis was too slow to be waited for."""
    one, other = await gates.open(patience_s=1), await gates.open()
    await one.record([intent(C)], terms=terms_of("l" * 64))
    gates.server.hold()
    asked = asyncio.ensure_future(one.record([intent(A)], terms=terms_of()))
    with pytest.raises(HeldBack):
        await asked
    gates.server.let_go()
    # it takes what it was sent before
    await until(lambda: A in state_of_all(gates.server))
    assert await said(other, intent(B)) == "IN_PROGRESS"
    assert await said(one, intent(B)) == "recorded"


async def test_calls_that_found_no_redis_leave_no_claim_and_their_keys_are_counted(
    gates: Gates, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debts, "_AGAIN_S", 0.01)
    one = await gates.open()
    gates.server.kill()
    try:
        for number in range(3):
            with pytest.raises(HeldBack):
                await one.record([intent(f"req.{number:08}")], terms=terms_of(f"{number}" * 64))
        assert one._claims == {}
        await until(lambda: "3 keys are not settled in the key store yet" in caplog.text)
    finally:
        gates.server.start()


async def test_a_key_that_could_not_be_given_back_is_given_back_in_time(
    gates: Gates, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody meets it and nobody calls: it is tried again, and the log says once that it failed."""
    monkeypatch.setattr(debts, "_AGAIN_S", 0.01)
    one, other = await gates.open(), await gates.open()
    spent = Allowance(key="q" * 64, count=1, window_s=60)
    await one.record([intent(C)], terms=Terms(allowances=(spent,)))
    kill = Killing(one._store, gates.server)
    one._store = kill
    refused = Terms(reservation=terms_of().reservation, allowances=(spent,))
    assert await said(one, intent(A), refused) == "QUOTA_EXCEEDED"
    one._store = kill._store
    await until(lambda: "not settled in the key store yet" in caplog.text)
    gates.server.start()
    await until(lambda: entries(gates.server) == [])
    assert await said(other, intent(B)) == "recorded"
    assert caplog.text.count("1 key is not settled in the key store yet") == 1


class Killing(ForwardingStore):
    """Redis ends while the record judges an intent."""

    def __init__(self, store: AuditStore, server: RedisServer) -> None:
        super().__init__(store)
        self._server = server

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> Sequence[str]:
        self._server.kill()
        return await super().record(events, **how)


def state_of_all(server: RedisServer) -> dict[str, str]:
    with server.client() as client:
        found = [client.hgetall(name) for name in entries(server)]
    return {each[b"holder"].decode(): each[b"state"].decode() for each in found}


@pytest.mark.requirement("RET-2")
async def test_a_word_that_comes_late_changes_nothing(gates: Gates) -> None:
    """A done that was sent first may arrive after the unknown that was sent later."""
    one = await gates.open()
    await one.record([intent(A)], terms=terms_of())
    claim = one._claims[A]
    await one.record([intent(A, attempt=2), outcome(A, attempt=2, became=Outcome.UNKNOWN)])
    assert await one._table.settle(claim, Became.DONE, NOW) == "late"
    assert await one._table.settle(claim, Became.FREE, NOW) == "late"
    assert await one._table.dispatch(claim) is False
    await one._table.undo(claim)
    assert state_of(gates.server) == ("unknown", A)


@pytest.mark.requirement("RET-2")
async def test_a_success_that_nobody_heard_is_unknown(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await one._store.record([outcome(A)])  # the commit whose waiter had gone
    await one.record([intent(A, attempt=2), outcome(A, attempt=2, became=Outcome.UNKNOWN)])
    assert await said(other, intent(B, time=later(3))) == "OUTCOME_UNKNOWN"
