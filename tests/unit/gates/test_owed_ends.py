"""Ends of calls that the record did not take: recorded once it is well, whatever the end was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer, contracts
from tests.waiting import until

from sluicegate.gates import debts, operator_acts
from sluicegate.gates.events import AuditEvent, begins_something
from sluicegate.gates.gate import Gate
from sluicegate.gates.operator_acts import Found
from sluicegate.gates.ports import AccessQuery, AuditUnavailable, Decision
from sluicegate.gates.terms import TermRefused
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("AUD-1", "RET-2")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
OTHER = Caller(subject="svc-other", tenant="team-a")


class Record(MemoryStore):
    """Takes what begins something; of what ends it, nothing until it is well.

    ``commits``: it takes that as well, and says that it did not.
    """

    def __init__(self, *, commits: bool = False) -> None:
        super().__init__()
        self.is_well = True
        self.commits = commits
        self.begun: Callable[[], None] = lambda: None
        self.ending = asyncio.Event()
        self.waits: asyncio.Event | None = None
        self.raised: Exception = AuditUnavailable("no commit within 10 s")
        self.tries = 0

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        if self.is_well:
            return await super().record(events, **how)
        if begins_something(events):
            ids = await super().record(events, **how)
            self.begun()
            return ids
        self.tries += 1
        self.ending.set()
        if self.waits is not None:
            await self.waits.wait()
        if self.commits:
            await super().record(events, **how)
        raise self.raised


class Deciding:
    """Allows until it is told otherwise."""

    allows = True

    async def decide(self, query: AccessQuery) -> Decision:
        return Decision(allow=self.allows, decision_id="d-1")


class Yard:
    """A gate over one write, its record and its upstream."""

    def __init__(self, received: bytes | Receipt | Exception, **parts: Any) -> None:
        self.store = Record(commits=parts.pop("commits", False))
        self.clock, self.deciding = FixedClock(), Deciding()
        self.upstream = RecordedUpstream(received, answer())
        self.gate: Gate = gate_of(
            contracts(effect=parts.pop("effect", "write"), **parts),
            {"job_status": self.upstream},
            store=self.store,
            clock=self.clock,
            authorizer=self.deciding,
        )

    async def call(self, arguments: str = ARGUMENTS, caller: Caller = CALLER) -> Any:
        return await self.gate.call("job_status", arguments, caller=caller)

    async def fall_ill(self) -> None:
        await self.call("{}")  # which records the set of contracts
        self.store.is_well = False

    def story(self, request_id: str) -> list[tuple[str, str]]:
        return [(e.kind, e.outcome) for e in self.store.events(request_id=request_id)]


def without(fault: Fault) -> Receipt:
    return Receipt(
        adapter="recorded",
        adapter_version="1",
        endpoint="recorded",
        fault=fault,
        dispatched=fault is Fault.TIMEOUT,
    )


def let_time_pass(yard: Yard) -> None:
    yard.store.begun = lambda: yard.clock.advance(3600)


def deny_anew(yard: Yard) -> None:
    def begun() -> None:
        yard.clock.advance(2)
        yard.deciding.allows = False

    yard.store.begun = begun


def nothing(yard: Yard) -> None: ...


ENDS = [
    pytest.param(without(Fault.UNREACHABLE), nothing, "failure", False, id="not-reached"),
    pytest.param(without(Fault.BAD_ARGUMENT), nothing, "refused", False, id="bad-argument"),
    pytest.param(answer(), let_time_pass, "refused", False, id="budget-spent"),
    pytest.param(answer(), deny_anew, "refused", False, id="denied-anew"),
    pytest.param(RuntimeError("?"), nothing, "unknown", True, id="adapter-raises"),
    pytest.param(without(Fault.TIMEOUT), nothing, "unknown", True, id="no-answer"),
    pytest.param(b"<html>", nothing, "unknown", True, id="refused-answer"),
]


@pytest.mark.parametrize("commits", [False, True], ids=["lost", "late"])
@pytest.mark.parametrize(("received", "prepare", "outcome", "is_open"), ENDS)
async def test_an_end_that_the_record_did_not_take_is_recorded_once_it_is_well(
    received: bytes | Receipt | Exception,
    prepare: Callable[[Yard], None],
    outcome: str,
    is_open: bool,
    commits: bool,
) -> None:
    yard = Yard(received, commits=commits)
    await yard.fall_ill()
    prepare(yard)
    lost = await yard.call()
    await yard.gate._means.owing.settle()
    assert (lost.code == "OUTCOME_UNKNOWN") == is_open
    assert lost.outcome == ("refused" if outcome == "refused" else "failure")
    assert commits or yard.story(lost.request_id) == [("intent", "pending")]
    yard.store.is_well, yard.store.begun = True, lambda: None
    await yard.call("{}")  # which shows that the record takes events
    await until(lambda: len(yard.story(lost.request_id)) == 2)
    await until(lambda: not yard.gate._means.owing.count)
    assert yard.story(lost.request_id) == [("intent", "pending"), ("outcome", outcome)]
    assert [e.request_id for e in yard.store.open_intents()] == [lost.request_id] * is_open
    yard.deciding.allows = True
    sent = len(yard.upstream.dispatches)
    again = await yard.call()
    assert (again.code == "OUTCOME_UNKNOWN") == is_open
    assert len(yard.upstream.dispatches) - sent == (not is_open)


async def test_a_cancelled_call_whose_end_is_then_lost_is_closed_all_the_same() -> None:
    yard = Yard(without(Fault.UNREACHABLE))
    await yard.fall_ill()
    yard.store.waits = asyncio.Event()
    calling = asyncio.create_task(yard.call())
    await yard.store.ending.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    yard.store.waits.set()
    await yard.gate._means.owing.settle()
    assert len(yard.store.open_intents()) == 1
    yard.store.is_well = True
    await yard.call("{}")
    await until(lambda: yard.store.open_intents() == ())


async def test_an_end_is_tried_again_in_time_where_nobody_calls(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(debts, "_AGAIN_S", 0.01)
    yard = Yard(without(Fault.UNREACHABLE))
    await yard.fall_ill()
    await yard.call()
    said = "1 call has its end not in the record yet: no commit within 10 s"
    await until(lambda: said in caplog.text)
    yard.store.is_well = True
    await until(lambda: yard.store.open_intents() == ())
    assert caplog.text.count(said) == 1


async def test_a_record_that_stays_ill_is_asked_for_one_end_and_not_for_all() -> None:
    """As where a second sink takes what the record does not: calls end well meanwhile."""
    yard = Yard(without(Fault.UNREACHABLE), effect="read")
    await yard.fall_ill()
    for number in range(20):
        await yard.call(ARGUMENTS.replace("bluebird", f"bluebird-{number}"))
    await yard.gate._means.owing.settle()
    assert yard.gate._means.owing.count == 20
    yard.store.tries = 0
    for _ in range(10):
        yard.gate._means.owing.begin()
        await asyncio.sleep(0)
    await yard.gate._means.owing.settle()
    assert 1 <= yard.store.tries <= 10


@pytest.mark.parametrize("commits", [False, True], ids=["lost", "late"])
async def test_no_write_begins_before_the_record_knows_that_a_success_was_not_heard(
    commits: bool,
) -> None:
    """The success may stand there: without that, the same write would be made again."""
    yard = Yard(answer(), commits=commits)
    await yard.fall_ill()
    unheard = await yard.call()
    await yard.gate._means.owing.settle()
    assert unheard.code == "OUTCOME_UNKNOWN"
    for caller in (CALLER, OTHER):
        held = await yard.call(caller=caller)
        assert (held.outcome, held.code, len(yard.upstream.dispatches)) == (
            "refused",
            "UNAVAILABLE",
            1,
        )
    yard.store.is_well = True
    assert (await yard.call()).code == "OUTCOME_UNKNOWN"
    other = await yard.call(caller=OTHER)
    assert (other.outcome, len(yard.upstream.dispatches)) == ("success", 2)
    assert {e.request_id for e in yard.store.open_intents()} == {unheard.request_id}
    await until(lambda: not yard.gate._means.owing.count)
    unknown = [e for e in yard.store.events(request_id=unheard.request_id) if e.attempt == 2]
    assert [(e.kind, e.outcome) for e in unknown] == [("intent", "pending"), ("outcome", "unknown")]


@pytest.mark.parametrize("tool", ["job_status", "unknown"])
async def test_a_call_that_could_not_be_recorded_is_told_in_the_log_with_the_cause(
    tool: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Also the first one, before the record has the set, and one of a tool that is not served."""
    yard = Yard(answer())
    yard.store.is_well = False
    lost = await yard.gate.call(tool, ARGUMENTS, caller=CALLER)
    assert lost.code == "UNAVAILABLE"
    assert f"call {lost.request_id}: no record: no commit within 10 s" in caplog.text


def resolve(yard: Yard, request_id: str, found: Found) -> None:
    """Say what became of a call, as from another machine: its gate hears nothing of it."""
    story = tuple(yard.store.events(request_id=request_id))
    act, _ = operator_acts.resolve(
        story,
        request_id,
        found=found,
        who="olga",
        reason="looked",
        now=yard.clock.now(),
        gate_is_gone=True,
    )
    yard.store.record_blocking([act])


FOUND: list[Found] = ["done", "not-done"]


@pytest.mark.requirement("ACC-4")
@pytest.mark.parametrize("found", FOUND)
async def test_an_end_that_comes_behind_an_operators_word_takes_nothing_of_it_back(
    found: Found,
) -> None:
    timeless = {"bind": {"/project_id": "/project_id"}, "agent": ["/project_id", "/run_id"]}
    yard = Yard(
        without(Fault.TIMEOUT),
        idempotency={"key": "derived", "keep_s": 60},
        result={"schema": CONTRACT["result"]["schema"], **timeless},
    )
    await yard.fall_ill()
    lost = await yard.call()
    await yard.gate._means.owing.settle()
    resolve(yard, lost.request_id, found)
    yard.store.is_well = True
    await yard.call("{}")
    await until(lambda: not yard.gate._means.owing.count)
    assert yard.story(lost.request_id) == [
        ("intent", "pending"),
        ("operator", "done"),
        ("outcome", "unknown"),
    ]
    assert yard.store.open_intents() == ()
    again = await yard.call()
    assert again.code == ("KEY_REUSED" if found == "done" else None)
    assert len(yard.upstream.dispatches) == (1 if found == "done" else 2)
    assert yard.store.verify().broken_at is None


@pytest.mark.parametrize("found", FOUND)
async def test_a_doubt_that_an_operator_settled_holds_up_no_write(found: Found) -> None:
    yard = Yard(answer())
    await yard.fall_ill()
    unheard = await yard.call()
    await yard.gate._means.owing.settle()
    resolve(yard, unheard.request_id, found)
    yard.store.is_well = True
    other = await yard.call(caller=OTHER)
    assert (other.outcome, len(yard.upstream.dispatches)) == ("success", 2)
    await until(lambda: not yard.gate._means.owing.count)
    assert yard.story(unheard.request_id) == [
        ("intent", "pending"),
        ("operator", "done"),
        ("outcome", "unknown"),
    ]
    assert yard.store.open_intents() == ()


async def test_a_doubt_that_cannot_be_told_for_any_reason_is_no_term_of_another_call() -> None:
    yard = Yard(answer())
    await yard.fall_ill()
    await yard.call()
    await yard.gate._means.owing.settle()
    yard.store.raised = TermRefused(Code.OUTCOME_UNKNOWN, "req.foreign")
    held = await yard.call(caller=OTHER)
    assert (held.outcome, held.code) == ("refused", "UNAVAILABLE")


async def test_a_gate_that_closes_tries_the_others_behind_one_that_fails_for_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[int] = []

    async def pay(number: int) -> bool:
        if number == 0:
            raise AuditUnavailable("the event cannot be encoded")
        told.append(number)
        return True

    owed: debts.Debts[int] = debts.Debts(
        pay, most=9, silent=AuditUnavailable, say=lambda count: f"{count} owed"
    )
    for number in range(3):
        owed.owe(str(number), number)
    await owed.close()
    assert (told, owed.count) == ([1, 2], 1)
    assert "1 owed, and no longer tried" in caplog.text
