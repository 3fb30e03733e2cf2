"""Idempotency keys that records of their own share through a real Redis."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.redis_servers import RedisServer, run_redis
from tests.sharing import share
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.unit.stores.test_terms import ANSWER_OF_A, A, B, later, terms_of

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent, Outcome
from sluicegate.gates.forwarding import ForwardingStore
from sluicegate.gates.operator_acts import Found, resolve
from sluicegate.gates.ports import AuditStore, AuditUnavailable, HeldBack
from sluicegate.gates.record_queries import AnswerQuery, CallQuery
from sluicegate.gates.terms import (
    Accepted,
    Allowance,
    AlreadyDone,
    TermRefused,
    Terms,
)
from sluicegate.stores import shared_keys_debts
from sluicegate.stores.custody import SealBroken
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.shared_keys import SharedKeysStore
from sluicegate.stores.shared_keys_fates import Became
from sluicegate.stores.shared_keys_scripts import ANSWER, ENTRY, RING
from sluicegate.stores.shared_keys_secrets import Bond, derive_secrets, open_answer, seal_answer
from sluicegate.stores.shared_keys_server import find_fault
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("ACC-4")

CALLER = Caller(subject="svc-deploy", tenant="t-1")
ARGUMENTS = {"project_id": "bluebird"}
SELECTED = b'{"restarted":"PLANTED-DATA"}'
C = "req.00000003"
DAY_S = 86_400


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with run_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def server(running: RedisServer) -> RedisServer:
    with running.client() as client:
        client.flushall()
    return running


class Gates:
    """Records of their own, with one ring of keys and one clock."""

    def __init__(self, server: RedisServer, keys: AuditKeys, folder: Path) -> None:
        self.server, self.keys, self.folder = server, keys, folder
        self.now = NOW
        self.opened: list[SharedKeysStore] = []

    async def open(self, store: AuditStore | None = None, **patience: float) -> SharedKeysStore:
        record = store or SqliteStore(self.folder / f"{len(self.opened)}.db", self.keys)
        shared = await share(record, self.server.address, self.keys, lambda: self.now, **patience)
        self.opened.append(shared)
        return shared


@pytest.fixture
async def gates(server: RedisServer, keys: AuditKeys, tmp_path: Path) -> AsyncIterator[Gates]:
    made = Gates(server, keys, tmp_path)
    yield made
    for shared in made.opened:
        await shared.close()


async def said(store: AuditStore, event: AuditEvent, terms: Terms | None = None) -> str:
    """Return what is said of an intent; what is refused leaves nothing in the record."""
    before = len(list(store.events()))
    try:
        await store.record([event], terms=terms or terms_of())
    except TermRefused as refused:
        told = str(refused.code)
    except AlreadyDone as done:
        told = f"done as {done.request_id}"
    else:
        return "recorded"
    assert len(list(store.events())) == before
    return told


def entry(server: RedisServer) -> dict[str, str]:
    """The one key that stands in Redis."""
    with server.client() as client:
        found = client.hgetall(name_of(server))
    return {key.decode(): value.decode() for key, value in found.items()}


def name_of(server: RedisServer) -> bytes:
    (name,) = entries(server)
    return name


def entries(server: RedisServer) -> list[bytes]:
    names = [name for name in server.names() if name.startswith(ENTRY.encode())]
    return [name for name in names if not name.endswith(ANSWER.encode())]


def state_of(server: RedisServer) -> tuple[str, str]:
    stands = entry(server)
    return stands["state"], stands["holder"]


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
    act = resolve(one.open_intents(), A, found="not-done", who="ada", reason="b", now=later(201))
    await one.record([act])
    assert await one.settle(A) is True
    assert await said(other, intent(B, time=later(202)), terms_of(runs_s=300)) == "recorded"


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
    act = resolve(one.open_intents(), A, found=found, who="ada", reason="looked", now=later(2))
    await one._store.record([act])  # by another process: this store hears nothing of it
    assert await one.settle(A) is True
    assert await said(other, intent(B, time=later(3))) == expected


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


# --- the steps of one intent, and what comes between them ---------------------------------------


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
        act = resolve(one.open_intents(), A, found="done", who="a", reason="b", now=later(2))
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
    async with asyncio.timeout(10):
        while state_of_all(gates.server)[A] != "done":
            await asyncio.sleep(0.01)
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
    async with asyncio.timeout(10):  # it takes what it was sent before
        while A not in state_of_all(gates.server):
            await asyncio.sleep(0.01)
    assert await said(other, intent(B)) == "IN_PROGRESS"
    assert await said(one, intent(B)) == "recorded"


async def test_calls_that_found_no_redis_leave_no_claim_and_their_keys_are_counted(
    gates: Gates, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_keys_debts, "_AGAIN_S", 0.01)
    one = await gates.open()
    gates.server.kill()
    try:
        for number in range(3):
            with pytest.raises(HeldBack):
                await one.record([intent(f"req.{number:08}")], terms=terms_of(f"{number}" * 64))
        assert one._claims == {}
        async with asyncio.timeout(10):
            while "3 keys are not settled in the key store yet" not in caplog.text:
                await asyncio.sleep(0.01)
    finally:
        gates.server.start()


async def test_a_key_that_could_not_be_given_back_is_given_back_in_time(
    gates: Gates, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody meets it and nobody calls: it is tried again, and the log says once that it failed."""
    monkeypatch.setattr(shared_keys_debts, "_AGAIN_S", 0.01)
    one, other = await gates.open(), await gates.open()
    spent = Allowance(key="q" * 64, count=1, window_s=60)
    await one.record([intent(C)], terms=Terms(allowances=(spent,)))
    kill = Killing(one._store, gates.server)
    one._store = kill
    refused = Terms(reservation=terms_of().reservation, allowances=(spent,))
    assert await said(one, intent(A), refused) == "QUOTA_EXCEEDED"
    one._store = kill._store
    async with asyncio.timeout(10):
        while "not settled in the key store yet" not in caplog.text:
            await asyncio.sleep(0.01)
    gates.server.start()
    async with asyncio.timeout(10):
        while gates.server.names() and entries(gates.server):
            await asyncio.sleep(0.01)
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


# --- what another gate gives again ----------------------------------------------------------------


async def answered(
    store: AuditStore,
    request_id: str = A,
    tool: str = "restart",
    caller: Caller = CALLER,
    now: datetime = NOW,
) -> Accepted | None:
    query = AnswerQuery(request_id=request_id, tool=tool, caller=caller, arguments=ARGUMENTS)
    return await store.answer_of(query, now=now)


async def make(store: AuditStore, **members: Any) -> None:
    await store.record([intent(A)], terms=terms_of())
    await store.record([outcome(A, **members)])


async def test_another_gate_gives_the_answer_that_this_one_would(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(other, intent(B)) == f"done as {A}"
    own, given = await answered(one), await answered(other)
    assert own is not None
    assert given is not None
    assert given.data == json.loads(SELECTED)
    assert (given.event_id, given.time, given.contract_digest) == (
        own.event_id,
        own.time,
        own.contract_digest,
    )
    assert await answered(other, now=later(100)) is None  # kept no more


@pytest.mark.parametrize("why", ["not kept", "an operator's word", "expired in custody"])
async def test_what_the_record_would_not_give_again_no_other_gives(gates: Gates, why: str) -> None:
    one, other = await gates.open(), await gates.open()
    if why == "an operator's word":
        await one.record([intent(A)], terms=terms_of())
        act = resolve(one.open_intents(), A, found="done", who="a", reason="b", now=NOW)
        await one.record([act])
        await one.settle(A)
    else:
        days = 0.0 if why == "expired in custody" else 30
        await make(one, kept=kept(SELECTED, "selected", days) if days == 0.0 else ())
    assert await said(other, intent(B)) == f"done as {A}"
    assert await answered(one) is await answered(other) is None


@pytest.mark.requirement("AUD-4")
async def test_what_one_gate_destroyed_no_gate_gives_again(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(one, intent(B)) == await said(other, intent(B)) == f"done as {A}"
    assert await answered(other) is not None
    ref = selected_ref(one)
    await one._store.purge(now=NOW, who="ada", refs=[ref])
    assert await answered(one) is None  # as its record says, whatever Redis still has
    assert await answered(other) is not None
    # Destroyed before, or elsewhere: a purge that finds nothing more tells of it as well.
    assert await one.purge(now=NOW, who="ada") == 0
    assert await answered(other) is None
    assert await said(other, intent(B)) == f"done as {A}"


@pytest.mark.requirement("AUD-4")
async def test_a_rotation_of_one_gate_takes_its_answers_from_no_gate(gates: Gates) -> None:
    new, held = draw_keys(), gates.keys
    both = replace(held, custody={**held.custody, **new.custody}, active=new.active)
    source = [held]
    path = gates.folder / "rotated.db"
    record = SqliteStore(path, held, read_keys=lambda: source[-1])
    one, other = await gates.open(record), await gates.open()
    await one.record([intent(A)], terms=terms_of())
    await record.record([outcome(A, kept=kept(SELECTED, "selected"))])  # Redis is not told yet
    rotating = SqliteStore(path, both)
    await rotating.rewrap(now=NOW, who="ada")
    await rotating.close()
    with pytest.raises(AuditUnavailable, match="not in the keyring"):
        await one.settle(A)
    assert state_of(gates.server) == ("dispatched", A)  # and not: done, without an answer
    source.append(both)
    assert await one.settle(A) is True
    assert await said(other, intent(B)) == f"done as {A}"
    given = await answered(other)
    assert given is not None
    assert given.data == json.loads(SELECTED)


@pytest.mark.requirement("AUD-4")
async def test_what_is_purged_before_its_time_no_gate_gives_again(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    await one.record([intent(C)], terms=terms_of("l" * 64))
    await one.record([outcome(C, kept=kept(b'{"n":1}', "selected", 900))])
    assert await said(other, intent(B)) == f"done as {A}"
    assert await said(other, intent(B), terms_of("l" * 64)) == f"done as {C}"
    assert await one.purge(now=NOW, who="ada", expired_by=later(40 * DAY_S)) == 1
    assert await answered(other) is None
    again = await other.answer_of(replace(ANSWER_OF_A, request_id=C), now=NOW)
    assert again is not None
    assert again.data == {"n": 1}


async def test_a_record_in_postgresql_shares_keys_with_one_in_a_file(
    gates: Gates, postgres: PostgresStore
) -> None:
    one, other = await gates.open(postgres), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(other, intent(B)) == f"done as {A}"
    given = await answered(other)
    assert given is not None
    assert given.data == json.loads(SELECTED)
    await other.record([intent(C)], terms=terms_of("l" * 64))
    assert await said(one, intent(B), terms_of("l" * 64)) == "IN_PROGRESS"


def selected_ref(store: AuditStore) -> str:
    (event,) = [each for each in store.events() if each.outcome == "success"]
    ref: str = json.loads(event.detail)["custody"]["selected"]
    return ref


BOND = Bond(entry="e", request_id=A, tool="restart", caller=CALLER)
BONDS = {
    "entry": Bond(entry="f", request_id=A, tool="restart", caller=CALLER),
    "request": Bond(entry="e", request_id=B, tool="restart", caller=CALLER),
    "tool": Bond(entry="e", request_id=A, tool="remove", caller=CALLER),
    "caller": Bond(entry="e", request_id=A, tool="restart", caller=Caller(subject="x")),
    "tenant": Bond(entry="e", request_id=A, tool="restart", caller=Caller(subject="svc-deploy")),
}


@pytest.mark.requirement("AUD-4")
@pytest.mark.parametrize("case", BONDS)
def test_a_sealed_answer_opens_for_its_own_call_alone(keys: AuditKeys, case: str) -> None:
    answer = Accepted(
        event_id="e",
        seq=7,
        request_id=A,
        time=NOW,
        contract_digest="sha256:aa",
        data={"n": 12345678901234567890},
        spent=False,
    )
    secrets = derive_secrets(keys)
    sealed = seal_answer(secrets, BOND, answer, later(100))
    opened = open_answer(secrets, BOND, sealed, NOW)
    assert opened is not None
    assert opened.data == answer.data
    assert open_answer(secrets, BOND, sealed, later(100)) is None
    with pytest.raises(SealBroken):
        open_answer(secrets, BONDS[case], sealed, NOW)
    for bad in (b"", sealed[:11], sealed[:-1], sealed[:-1] + bytes([sealed[-1] ^ 1])):
        with pytest.raises(SealBroken):
            open_answer(secrets, BOND, bad, NOW)
    with pytest.raises(SealBroken):
        open_answer(derive_secrets(draw_keys()), BOND, sealed, NOW)


async def test_an_answer_that_was_changed_in_redis_closes_the_call(gates: Gates) -> None:
    one, other = await gates.open(), await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    assert await said(other, intent(B)) == f"done as {A}"
    (name,) = [each for each in gates.server.names() if each.endswith(ANSWER.encode())]
    with gates.server.client() as client:
        assert 0 < client.pttl(name) <= 100_000  # not a moment longer than it is kept
        client.set(name, b"anything")
    with pytest.raises(HeldBack, match="not what was sealed"):
        await answered(other)


@pytest.mark.requirement("AUD-4", "AUD-5")
async def test_nothing_stands_in_redis_in_clear(gates: Gates) -> None:
    one = await gates.open()
    planted = {"arguments": {"secret": "PLANTED-ARGUMENT"}, "tool": "planted_tool"}
    members = {**planted, "caller_subject": "planted-caller", "caller_tenant": "planted-tenant"}
    terms = terms_of("0123456789abcdef" * 4)
    await one.record([intent(A, **members)], terms=terms)
    await one.record([outcome(A, **members, kept=kept(SELECTED, "selected"))])
    content = gates.server.content().lower()
    assert A.encode() in content  # what is looked through is what was written
    assert b"planted" not in content
    assert b"0123456789abcdef" not in content


# --- the ring, and the Redis itself ---------------------------------------------------------------


async def test_gates_with_other_keys_do_not_share_one_redis(gates: Gates) -> None:
    await gates.open()
    keys = draw_keys()
    with pytest.raises(ConfigurationError, match="have other audit keys"):
        await share(MemoryStore(keys), gates.server.address, keys, lambda: NOW)


async def test_a_custody_key_that_is_rotated_changes_no_name(gates: Gates) -> None:
    one = await gates.open()
    await make(one, kept=kept(SELECTED, "selected"))
    new = draw_keys()
    rotated = AuditKeys(
        audit=gates.keys.audit,
        chain=gates.keys.chain,
        custody={**gates.keys.custody, **new.custody},
        active=new.active,
    )
    other = await share(MemoryStore(rotated), gates.server.address, rotated, lambda: NOW)
    assert await said(other, intent(B)) == f"done as {A}"
    given = await answered(other)
    assert given is not None
    await other.close()


async def test_a_redis_that_was_emptied_is_another_one(gates: Gates) -> None:
    one = await gates.open()
    await make(one)
    with gates.server.client() as client:
        client.flushall()
    for _ in range(2):
        with pytest.raises(HeldBack, match="not those that this gate began with"):
            await one.record([intent(B)], terms=terms_of("l" * 64))
        await gates.open()  # a gate that begins anew does not make it the old one
    assert [event.request_id for event in one.events()] == [A, A]


async def test_what_no_gate_wrote_is_no_ring(gates: Gates) -> None:
    with gates.server.client() as client:
        client.set(RING, "anything")
    with pytest.raises(ConfigurationError, match="was not written by a gate"):
        await gates.open()


WELL = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory": "1000",
    "maxmemory-policy": "noeviction",
}
FAULTS: dict[str, tuple[dict[str, str], object, str | None]] = {
    "lasting": ({}, [b"master"], None),
    "no log": ({"appendonly": "no"}, [b"master"], "set appendonly yes"),
    "each second": ({"appendfsync": "everysec"}, [b"master"], "set appendfsync always"),
    "not while rewriting": (
        {"no-appendfsync-on-rewrite": "yes"},
        [b"master"],
        "set no-appendfsync-on-rewrite no",
    ),
    "evicts": ({"maxmemory-policy": "allkeys-lru"}, [b"master"], "set maxmemory-policy noeviction"),
    "would evict but has no limit": (
        {"maxmemory-policy": "allkeys-lru", "maxmemory": "0"},
        [b"master"],
        None,
    ),
    "a replica": ({}, [b"slave"], "no master"),
    "no role": ({}, b"OK", "no master"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_redis_that_may_lose_a_key_is_told_what_to_set(case: str) -> None:
    changed, role, expected = FAULTS[case]
    fault = find_fault({**WELL, **changed}, role)
    if expected is None:
        assert fault is None
    else:
        assert fault is not None
        assert expected in fault


@pytest.mark.parametrize(
    ("setting", "value"),
    [("appendonly", "no"), ("appendfsync", "everysec"), ("no-appendfsync-on-rewrite", "yes")],
)
async def test_no_connection_is_used_to_a_redis_that_may_lose_a_key(
    gates: Gates, setting: str, value: str
) -> None:
    one = await gates.open()
    await one._table._client.connection_pool.disconnect()
    with gates.server.client() as client:
        before = client.config_get(setting)[setting]
        client.config_set(setting, value)
        try:
            with pytest.raises(HeldBack, match=f"set {setting} {before}"):
                await one.record([intent(A)], terms=terms_of())
            assert list(one.events()) == []
        finally:
            client.config_set(setting, before)
    assert await said(one, intent(B)) == "recorded"


async def test_a_redis_that_does_not_tell_its_settings_is_not_believed(gates: Gates) -> None:
    with gates.server.client() as client:
        client.execute_command(
            *("ACL", "SETUSER", "gate", "on", ">only-of-tests", "~*", "+@all", "-config")
        )
    address = gates.server.address.replace("//", "//gate:only-of-tests@")
    with pytest.raises(Exception, match=r"does not tell .*NoPermission.*CONFIG GET"):
        await share(MemoryStore(gates.keys), address, gates.keys, lambda: NOW)
