"""An action runs only on a fresh accepted answer that the gate finds, or takes, itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from tests.unit.gates.job_status import answer
from tests.unit.gates.restart import ARGUMENTS, DONE, PROOF, STATUS, folder
from tests.unit.gates.test_identical_writes import Held

from sluicegate.gates import evidence
from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import AuditUnavailable, Dispatch
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery
from sluicegate.gates.terms import NO_TERMS, Accepted, AcceptedPage, TermRefused, Terms
from sluicegate.opening.resting import find_absent_holders, find_crowded_out
from sluicegate.rendering.story import tell_story
from sluicegate.stores import record_accepted
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("EVI-1")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
LOST = Receipt(adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.TIMEOUT)
UNSENT = replace(LOST, fault=Fault.UNREACHABLE, dispatched=False)
NEEDS = {
    "tool": "job_status",
    "arguments": {"project_id": "bluebird", "run_id": "run_A1b2C3d4E5f6"},
}


class Yard:
    """A gate over both tools, and what was sent to each of them."""

    def __init__(
        self,
        *status: bytes | Receipt,
        done: tuple[bytes | Receipt, ...] = (DONE,),
        store: MemoryStore | None = None,
        **restart: Any,
    ) -> None:
        self.clock = FixedClock()
        self.status = RecordedUpstream(*(status or (answer(),)))
        self.restart = RecordedUpstream(*done)
        self.gate: Gate = gate_of(
            folder(**{"evidence": [PROOF], **restart}),
            {"job_status": self.status, "job_restart": self.restart},
            clock=self.clock,
            store=store,
        )

    async def look(self, caller: Caller = CALLER, arguments: str = ARGUMENTS) -> None:
        given = await self.gate.call("job_status", arguments, caller=caller)
        assert given.outcome in ("success", "failure")

    async def act(self, caller: Caller = CALLER) -> dict[str, Any]:
        given = await self.gate.call("job_restart", ARGUMENTS, caller=caller)
        shown: dict[str, Any] = json.loads(given.to_json())
        return shown


def refused(shown: dict[str, Any]) -> bool:
    assert shown["error"] == {"code": "EVIDENCE_REQUIRED", "retryable": True, "needs": NEEDS}
    return bool(shown["outcome"] == "refused")


@pytest.mark.requirement("ARG-7")
async def test_an_action_runs_on_a_fresh_accepted_answer_about_its_own_subject() -> None:
    yard = Yard()
    await yard.look()
    assert (await yard.act())["outcome"] == "success"
    intent = next(event for event in yard.gate.audit.events(tool="job_restart"))
    proof = next(
        event
        for event in yard.gate.audit.events(tool="job_status")
        if event.kind == "outcome" and event.outcome == "success"
    )
    assert json.loads(intent.detail) == {"evidence": [proof.event_id], "spent": [proof.event_id]}
    assert len(yard.status.dispatches) == 1


@pytest.mark.requirement("ARG-7", "ENV-1")
async def test_without_evidence_nothing_is_sent_and_the_agent_is_told_what_to_ask() -> None:
    yard = Yard()
    assert refused(await yard.act())
    assert yard.restart.dispatches == []
    (event,) = yard.gate.audit.events(tool="job_restart")
    assert (event.kind, event.code) == ("refused", "EVIDENCE_REQUIRED")


ABOUT: dict[str, bytes] = {
    "another state": answer(state="running"),
    "refused for its shape": answer(extra="approved"),
    "refused as stale": answer(observed_at="2026-11-30T11:00:00Z"),
    "refused as another project's": answer(project_id="other-one"),
    "an error page": b"<html>failed</html>",
}


@pytest.mark.parametrize("case", ABOUT)
async def test_an_answer_that_does_not_say_so_is_no_evidence(case: str) -> None:
    yard = Yard(ABOUT[case])
    await yard.look()
    assert refused(await yard.act())
    assert yard.restart.dispatches == []


async def test_an_answer_about_another_project_is_no_evidence() -> None:
    yard = Yard(answer(project_id="other-one"))
    other = ARGUMENTS.replace("bluebird", "other-one")
    await yard.look(arguments=other)
    assert refused(await yard.act())


@pytest.mark.parametrize(
    "caller",
    [
        Caller(subject="svc-other", tenant="team-a"),
        Caller(subject="svc-deploy", tenant="team-b"),
        Caller(subject="svc-deploy"),
    ],
    ids=["another subject", "another tenant", "no tenant"],
)
async def test_what_another_caller_was_told_is_no_evidence(caller: Caller) -> None:
    yard = Yard()
    await yard.look(caller)
    assert refused(await yard.act())


@pytest.mark.parametrize(("waited", "runs"), [(30, True), (30.000001, False)])
async def test_its_age_is_that_of_the_time_the_answer_bears(waited: float, runs: bool) -> None:
    yard = Yard()  # observed 30 s before noon, looked at then
    await yard.look()
    yard.clock.advance(waited)
    shown = await yard.act()
    assert (shown["outcome"] == "success") is runs
    assert runs or refused(shown)


async def test_one_answer_is_spent_by_one_action() -> None:
    yard = Yard()
    await yard.look()
    assert (await yard.act())["outcome"] == "success"
    assert refused(await yard.act())
    await yard.look()
    assert (await yard.act())["outcome"] == "success"
    assert len(yard.restart.dispatches) == 2


@pytest.mark.requirement("ACC-4")
async def test_what_the_same_call_brought_about_asks_nobody_for_another_proof() -> None:
    """Its twin has the key by now: it is told that one, and not what to ask for."""

    both_ask = asyncio.Event()

    class Turning(RecordedUpstream):
        """Before the second asking is answered, the first one has made the job run again."""

        async def fetch(self, dispatch: Dispatch) -> Receipt:
            receipt = await super().fetch(dispatch)
            if len(self.dispatches) == 1:
                await both_ask.wait()
                return receipt
            both_ask.set()
            await first
            running = answer(state="running", observed_at="2026-11-30T11:59:40Z")
            return replace(receipt, raw=running)

    status, restart = Turning(answer()), RecordedUpstream(DONE)
    gate = gate_of(
        folder(
            evidence=[{**PROOF, "refetch": True}],
            idempotency={"key": "host", "keep_s": 600},
        ),
        {"job_status": status, "job_restart": restart},
    )

    async def act() -> Any:
        return await gate.call("job_restart", ARGUMENTS, caller=CALLER, call_id="toolu_1")

    first, later = (asyncio.ensure_future(act()) for _ in range(2))
    second = await later
    assert ((await first).outcome, second.outcome) == ("success", "success")
    assert json.loads(second.to_json())["replayed"] is True
    assert (len(status.dispatches), len(restart.dispatches)) == (2, 1)


async def test_an_answer_that_may_be_used_again_is_not_spent() -> None:
    yard = Yard(evidence=[{**PROOF, "once": False}])
    await yard.look()
    assert [(await yard.act())["outcome"] for _ in range(2)] == ["success", "success"]


async def test_of_two_actions_at_once_one_spends_the_answer() -> None:
    yard = Yard()
    await yard.look()
    ends = await asyncio.gather(*(yard.act() for _ in range(5)))
    codes = [shown["error"]["code"] for shown in ends if shown["outcome"] == "refused"]
    assert [shown["outcome"] for shown in ends].count("success") == 1
    # Who is not first is told of the open write, or that its proof is spent.
    assert set(codes) <= {"IN_PROGRESS", "EVIDENCE_REQUIRED"}
    assert len(yard.restart.dispatches) == 1


async def test_a_cached_answer_proves_nothing() -> None:
    yard = Yard(
        Receipt(
            adapter="cache",
            adapter_version="1",
            endpoint="cache",
            raw=answer(),
            from_cache=True,
        )
    )
    await yard.look()
    assert refused(await yard.act())


async def test_what_an_earlier_contract_accepted_is_no_evidence() -> None:
    store = MemoryStore()
    old = Yard(store=store)
    await old.look()
    new = Yard(store=store, status={**STATUS, "version": "2.0.0"})
    assert refused(await new.act())
    assert told(new) == told_of(
        "no answer of the served contract that is recent enough is on record"
    )
    await new.look()
    assert (await new.act())["outcome"] == "success"


@pytest.mark.requirement("RES-9")
async def test_what_a_store_tells_of_another_contract_is_no_evidence() -> None:
    class Mistaken(MemoryStore):
        async def accepted(self, query: AcceptedQuery, *, now: datetime) -> AcceptedPage:
            page = await super().accepted(query, now=now)
            other = (replace(each, contract_digest="sha256:e") for each in page.answers)
            return replace(page, answers=tuple(other))

    yard = Yard(store=Mistaken())
    await yard.look()
    assert refused(await yard.act())
    assert told(yard) == told_of(
        "the answer was judged by another contract than the one that is served"
    )


async def test_an_answer_behind_many_about_others_is_found() -> None:
    yard = Yard()
    await yard.look()
    for number in range(230):
        raw = answer(run_id=f"run_{number:012}")
        yard.status._received = (raw,)
        await yard.look(arguments=ARGUMENTS.replace("run_A1b2C3d4E5f6", f"run_{number:012}"))
    assert (await yard.act())["outcome"] == "success"


async def test_two_proofs_may_rest_on_one_answer() -> None:
    yard = Yard(evidence=[PROOF, {**PROOF, "where": {}}])
    await yard.look()
    assert (await yard.act())["outcome"] == "success"
    assert refused(await yard.act())


# --- taken again -------------------------------------------------------------------------------

REFETCH = {**PROOF, "refetch": True}


async def test_refetch_asks_again_right_before_acting_and_nothing_older_counts() -> None:
    yard = Yard(answer(), answer(state="running"), evidence=[REFETCH])
    await yard.look()
    assert refused(await yard.act())
    assert [each.arguments for each in yard.status.dispatches] == [json.loads(ARGUMENTS)] * 2
    assert yard.restart.dispatches == []


async def test_refetch_needs_no_earlier_answer() -> None:
    yard = Yard(evidence=[REFETCH])
    assert (await yard.act())["outcome"] == "success"
    kinds = [(event.tool, event.kind) for event in yard.gate.audit.events()][1:]
    assert kinds == [
        *(("job_status", "intent"), ("job_status", "outcome")),
        *(("job_restart", "intent"), ("job_restart", "outcome")),
    ]


@pytest.mark.parametrize(
    "received",
    [LOST, answer(extra=1), b"", answer(observed_at="2026-11-30T11:00:00Z")],
    ids=["lost", "refused", "empty", "stale"],
)
async def test_a_refetch_that_is_not_accepted_stops_the_action(received: bytes | Receipt) -> None:
    yard = Yard(received, evidence=[REFETCH])
    assert refused(await yard.act())
    assert yard.restart.dispatches == []


@pytest.mark.requirement("ACC-4")
async def test_what_was_done_under_a_key_is_given_again_without_evidence() -> None:
    yard = Yard(
        answer(),
        answer(state="running"),
        evidence=[REFETCH],
        idempotency={"key": "host", "keep_s": 600},
    )
    for replayed in (False, True):
        given = await yard.gate.call("job_restart", ARGUMENTS, caller=CALLER, call_id="c-1")
        assert ("replayed" in json.loads(given.to_json())) is replayed
    assert (len(yard.status.dispatches), len(yard.restart.dispatches)) == (1, 1)
    given = await yard.gate.call("job_restart", ARGUMENTS, caller=CALLER, call_id="c-2")
    assert given.code == "EVIDENCE_REQUIRED"


class Slow(RecordedUpstream):
    """Each answer takes its time, and bears the time at which it was begun or ended."""

    def __init__(self, clock: FixedClock, takes_s: float, *, at_end: bool = False) -> None:
        super().__init__()
        self.clock, self.takes_s, self.at_end = clock, takes_s, at_end

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        self.dispatches.append(dispatch)
        begun = self.clock.now()
        self.clock.advance(self.takes_s)
        observed = self.clock.now() if self.at_end else begun
        raw = answer(
            observed_at=observed.strftime("%Y-%m-%dT%H:%M:%SZ"), run_id=dispatch.arguments["run_id"]
        )
        return Receipt(adapter="slow", adapter_version="1", endpoint="slow", raw=raw)


def slow_yard(takes_s: float, proof: dict[str, Any], *, at_end: bool = False) -> Yard:
    yard = Yard(evidence=[proof])
    slow = Slow(yard.clock, takes_s, at_end=at_end)
    line = yard.gate._serving.lines["job_status"]
    lines = {**yard.gate._serving.lines, "job_status": replace(line, adapter=slow)}
    yard.gate = Gate(yard.gate._means, replace(yard.gate._serving, lines=lines))
    yard.status = slow
    return yard


async def test_what_grows_too_old_while_it_is_taken_is_no_evidence() -> None:
    yard = slow_yard(3, {**REFETCH, "max_age_s": 2})
    assert refused(await yard.act())
    assert yard.restart.dispatches == []


async def test_what_is_observed_while_it_is_taken_is_not_from_the_future() -> None:
    # Further ahead of the moment at which it was asked for than `max_ahead_s` admits.
    yard = slow_yard(6, REFETCH, at_end=True)
    assert (await yard.act())["outcome"] == "success"


async def test_what_grows_too_old_while_another_proof_is_taken_is_no_evidence() -> None:
    yard = slow_yard(3, {**REFETCH, "max_age_s": 4})
    patient = slow_yard(3, {**REFETCH, "max_age_s": 4})
    both = [{**REFETCH, "max_age_s": 4}, {**REFETCH, "max_age_s": 60, "once": False}]
    contract = folder(evidence=both).contracts["job_restart"]
    line = replace(patient.gate._serving.lines["job_restart"], contract=contract)
    lines = {**patient.gate._serving.lines, "job_restart": line}
    patient.gate = Gate(patient.gate._means, replace(patient.gate._serving, lines=lines))
    assert (await yard.act())["outcome"] == "success"
    assert refused(await patient.act())
    assert (len(patient.status.dispatches), len(patient.restart.dispatches)) == (2, 0)


LATER: dict[str, tuple[list[bytes], bool]] = {
    # what was said of the run, one look after another → whether the action runs
    "the state is another by now": ([answer(), answer(state="running")], False),
    "the state came back": ([answer(state="running"), answer()], True),
    "another state of the same time": (
        [answer(), answer(state="running", observed_at="2026-11-30T11:59:30Z")],
        False,
    ),
    "another state, observed before": (
        [answer(), answer(state="running", observed_at="2026-11-30T11:59:29Z")],
        True,
    ),
    "an old reading behind another state": (
        [answer(state="running"), answer(observed_at="2026-11-30T11:59:29Z")],
        False,
    ),
}


@pytest.mark.parametrize("case", LATER)
async def test_what_was_observed_last_decides(case: str) -> None:
    said, runs = LATER[case]
    yard = Yard(*said)
    for _ in said:
        await yard.look()
    assert (await yard.act())["outcome"] == ("success" if runs else "refused")
    assert len(yard.restart.dispatches) == runs


OLD, NEW = "2026-11-30T11:59:40Z", "2026-11-30T11:59:58Z"
CONTRADICTED = (answer(observed_at=OLD), answer(state="succeeded", observed_at=NEW))


@pytest.mark.requirement("EVI-2")
async def test_what_the_gate_asks_itself_is_held_to_what_is_on_record() -> None:
    """As where the one reading is of a replica that lags behind."""
    yard = Yard(*CONTRADICTED[::-1], evidence=[{**PROOF, "refetch": True}])
    await yard.look()
    assert (await yard.act())["error"]["code"] == "EVIDENCE_REQUIRED"
    why = told(yard)["proof"]["why"]
    assert why == "what the gate was told was observed before what is on record about it"
    assert yard.restart.dispatches == []


class Meanwhile(MemoryStore):
    """Something happens between what the gate was told and its look at what is on record."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: list[Callable[[], Awaitable[object]]] = []

    async def answer_of(self, query: AnswerQuery, *, now: datetime) -> Accepted | None:
        kept = await super().answer_of(query, now=now)
        while self.meanwhile:
            await self.meanwhile.pop(0)()
        return kept


def yard_of_two(meanwhile: bytes, **restart: Any) -> tuple[Yard, Meanwhile]:
    """The gate asks for itself, and the same caller looks before it goes on."""
    store = Meanwhile()
    yard = Yard(answer(), meanwhile, store=store, **{"evidence": [REFETCH], **restart})
    store.meanwhile.append(yard.look)
    return yard, store


def accepted_ids(yard: Yard) -> list[str]:
    events = yard.gate.audit.events(tool="job_status")
    return [event.event_id for event in events if event.outcome == "success"]


READ_MEANWHILE: dict[str, tuple[dict[str, Any], str | None]] = {
    # what the same caller was told while the gate took its proof → why the action does not run
    "the same": ({}, None),
    "the same, as another text": ({"observed_at": "2026-11-30T12:59:30+01:00"}, None),
    "another state": ({"state": "running"}, "the newest answer about it says another state"),
    "the same, observed later": (
        {"observed_at": "2026-11-30T11:59:30.000000001Z"},
        "what the gate was told was observed before what is on record about it",
    ),
    "another state, observed before": (
        {"state": "running", "observed_at": "2026-11-30T11:59:29Z"},
        None,
    ),
}


@pytest.mark.parametrize("case", READ_MEANWHILE)
async def test_what_is_read_meanwhile_stops_an_action_only_where_it_says_otherwise(
    case: str,
) -> None:
    changes, why = READ_MEANWHILE[case]
    yard, _ = yard_of_two(answer(**changes))
    shown = await yard.act()
    assert (shown["outcome"], len(accepted_ids(yard))) == ("refused" if why else "success", 2)
    if why is not None:
        assert told(yard)["proof"]["why"] == why
    assert len(yard.restart.dispatches) == (why is None)


async def test_what_is_read_meanwhile_and_cannot_be_read_again_stops_the_action() -> None:
    yard, store = yard_of_two(answer())
    store.meanwhile.append(lambda: purge_newest(yard))
    assert refused(await yard.act())
    assert told(yard)["proof"]["why"] == HIDDEN


async def test_an_action_spends_what_was_read_meanwhile_of_the_same_time() -> None:
    yard, store = yard_of_two(answer())
    assert (await yard.act())["outcome"] == "success"
    intent = next(event for event in store.events(tool="job_restart"))
    both = accepted_ids(yard)
    assert json.loads(intent.detail) == {"evidence": both, "spent": both}
    patient = Yard(store=store)
    assert refused(await patient.act())
    assert told(patient) == told_of("the newest answer about it was spent by an earlier action")


async def test_an_action_spends_nothing_that_was_observed_before() -> None:
    yard, store = yard_of_two(answer(observed_at="2026-11-30T11:59:29Z"))
    assert (await yard.act())["outcome"] == "success"
    intent = next(event for event in store.events(tool="job_restart"))
    taken = accepted_ids(yard)[:1]
    assert json.loads(intent.detail) == {"evidence": taken, "spent": taken}


@pytest.mark.parametrize("once", [True, False], ids=["once", "again"])
async def test_two_agents_that_are_told_the_same_do_not_refuse_each_other(once: bool) -> None:
    yard, store = yard_of_two(answer(), evidence=[{**REFETCH, "once": once}])
    other: list[dict[str, Any]] = []

    async def act() -> None:
        other.append(await yard.act())

    store.meanwhile[:] = [act]
    mine = await yard.act()
    assert other[0]["outcome"] == "success"
    assert mine["outcome"] == ("refused" if once else "success")
    if once:
        spent = "the newest answer about it was spent by an earlier action"
        assert told(yard)["proof"]["why"] == spent
        assert (await yard.act())["outcome"] == "success"


async def test_two_proofs_by_one_tool_about_one_subject_do_not_contradict_each_other() -> None:
    other = {**PROOF, "where": {"/state": "succeeded"}, "once": False}
    yard = Yard(*CONTRADICTED[::-1], evidence=[{**PROOF, "refetch": True, "once": False}, other])
    await yard.look()
    assert (await yard.act())["error"]["code"] == "EVIDENCE_REQUIRED"


async def purge_newest(yard: Yard) -> None:
    newest = list(yard.gate.audit.events(tool="job_status"))[-1]
    ref = json.loads(newest.detail)["custody"]["selected"]
    await yard.gate.audit.purge(now=yard.clock.now(), who="ada", refs=[ref])


HIDDEN = "an answer on record that may be newer is not kept, or cannot be read"


@pytest.mark.requirement("AUD-4")
@pytest.mark.parametrize("by", ["the share of the day", "a purge"])
async def test_what_cannot_be_read_may_be_newer_and_say_otherwise(by: str) -> None:
    store = MemoryStore(daily_bytes=170) if by == "the share of the day" else MemoryStore()
    yard = Yard(*CONTRADICTED, store=store)
    await yard.look()
    await yard.look()
    if by == "a purge":
        await purge_newest(yard)
    assert refused(await yard.act())
    assert told(yard) == told_of(HIDDEN)


@pytest.mark.requirement("AUD-4")
@pytest.mark.parametrize(("waited_s", "runs"), [(0, False), (5, False), (5.1, True)])
async def test_what_must_have_been_observed_behind_it_decides_again(
    waited_s: float, runs: bool
) -> None:
    """An answer may have been observed up to five seconds ahead of the clock that recorded it."""
    late = answer(observed_at=f"2026-11-30T12:00:0{waited_s:.1f}Z")
    yard = Yard(*CONTRADICTED, late)
    await yard.look()
    await yard.look()
    await purge_newest(yard)
    yard.clock.advance(waited_s)
    await yard.look()
    assert (await yard.act())["outcome"] == ("success" if runs else "refused")


async def test_a_clock_that_was_set_back_hides_no_answer() -> None:
    other = ARGUMENTS.replace("bluebird", "other-one")
    yard = Yard(
        answer(state="succeeded", observed_at="2026-11-30T12:00:03Z"),
        answer(project_id="other-one", observed_at="2026-11-30T11:59:30Z"),
        answer(observed_at="2026-11-30T12:00:00Z"),
    )
    await yard.look()
    yard.clock.advance(-10)
    await yard.look(arguments=other)
    yard.clock.advance(10)
    await yard.look()
    assert refused(await yard.act())


async def test_what_was_recorded_before_the_newest_was_observed_is_not_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A caller who asks about many subjects pays for the latest of them."""
    monkeypatch.setattr(record_accepted, "PAGE", 2)
    asked: list[AcceptedQuery] = []

    class Counting(MemoryStore):
        async def accepted(self, query: AcceptedQuery, *, now: datetime) -> AcceptedPage:
            asked.append(query)
            return await super().accepted(query, now=now)

    other = answer(project_id="other-one")
    late = answer(observed_at="2026-11-30T12:00:05.000001Z")
    yard = Yard(*[other] * 9, late, store=Counting())
    for _ in range(9):
        await yard.look(arguments=ARGUMENTS.replace("bluebird", "other-one"))
    yard.clock.advance(1)
    await yard.look()
    assert (await yard.act())["outcome"] == "success"
    assert len(asked) == 1


async def test_more_answers_than_are_looked_through_prove_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evidence, "_MAX_PAGES", 2)
    monkeypatch.setattr(record_accepted, "PAGE", 2)
    yard = Yard(*[answer()] * 3, answer(state="succeeded", observed_at=NEW))
    for _ in range(3):
        await yard.look()
    assert (await yard.act())["outcome"] == "success"
    await yard.look()
    assert refused(await yard.act())
    assert told(yard) == told_of("more answers are on record than are looked through")


async def test_proofs_are_not_gathered_for_later_actions() -> None:
    yard = Yard(done=(DONE,))
    await yard.look()
    await yard.look()
    assert (await yard.act())["outcome"] == "success"
    assert refused(await yard.act())
    assert told(yard) == told_of("the newest answer about it was spent by an earlier action")
    await yard.look()
    assert (await yard.act())["outcome"] == "success"


@pytest.mark.requirement("EVI-3")
async def test_a_waiver_that_has_ended_carries_no_action_any_more() -> None:
    waiver = {"none": "legacy", "until": "2026-11-30"}
    yard = Yard(effect="destructive", evidence=waiver)
    assert (await yard.act())["outcome"] == "success"
    yard.clock.advance(43_200)  # from noon to midnight
    given = await yard.gate.call("job_restart", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "EVIDENCE_REQUIRED")
    assert len(yard.restart.dispatches) == 1
    assert told(yard) == {"evidence_waiver": "ended with 2026-11-30"}


@pytest.mark.requirement("RET-1")
async def test_an_action_whose_time_its_evidence_used_up_is_not_sent() -> None:
    yard = slow_yard(4, REFETCH)
    given = await yard.gate.call("job_restart", ARGUMENTS, caller=CALLER, deadline_s=4)
    assert (given.outcome, given.code) == ("refused", "UPSTREAM_UNAVAILABLE")
    assert yard.restart.dispatches == []


# --- what the record says of it -----------------------------------------------------------------


def told(yard: Yard) -> Any:
    """What the last event of the action says of its proof."""
    return json.loads(list(yard.gate.audit.events(tool="job_restart"))[-1].detail)


def told_of(why: str, number: int = 1) -> dict[str, Any]:
    return {"proof": {"number": number, "tool": "job_status", "why": why}}


LACKING: dict[str, tuple[bytes | None, float, str]] = {
    "nothing": (None, 0, "no answer of the served contract that is recent enough is on record"),
    "long ago": (
        answer(),
        3600,
        "no answer of the served contract that is recent enough is on record",
    ),
    "too old": (answer(), 31, "the newest answer about it is older than allowed"),
    "another state": (answer(state="running"), 0, "the newest answer about it says another state"),
}


@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize("case", LACKING)
async def test_the_record_says_which_proof_is_lacking_and_why(case: str) -> None:
    received, waited, why = LACKING[case]
    yard = Yard(received or answer())
    if received is not None:
        await yard.look()
    yard.clock.advance(waited)
    assert refused(await yard.act())
    assert told(yard) == told_of(why)


@pytest.mark.requirement("AUD-1")
async def test_the_record_says_that_what_is_known_is_about_another_subject() -> None:
    yard = Yard(answer(project_id="other-one"))
    await yard.look(arguments=ARGUMENTS.replace("bluebird", "other-one"))
    assert refused(await yard.act())
    assert told(yard) == told_of("what is on record is about another subject")


@pytest.mark.requirement("AUD-1")
async def test_an_answer_about_another_subject_speaks_only_where_there_is_none_about_this_one() -> (
    None
):
    yard = Yard(answer(project_id="bluebirb"), answer(state="running"))
    await yard.look(arguments=ARGUMENTS.replace("bluebird", "bluebirb"))
    assert refused(await yard.act())
    assert told(yard) == told_of("what is on record is about another subject")
    await yard.look()
    assert refused(await yard.act())
    assert told(yard) == told_of("the newest answer about it says another state")


@pytest.mark.requirement("AUD-1")
async def test_the_second_proof_is_told_by_its_number() -> None:
    yard = Yard(evidence=[PROOF, {**PROOF, "where": {"/state": "running"}}])
    await yard.look()
    assert refused(await yard.act())
    assert told(yard) == told_of("the newest answer about it says another state", 2)


ASKED: dict[str, tuple[bytes | Receipt, str, str | None]] = {
    "lost": (
        LOST,
        "the gate asked for it and got no accepted answer",
        "UPSTREAM_UNAVAILABLE",
    ),
    "refused": (
        answer(extra=1),
        "the gate asked for it and got no accepted answer",
        "INVALID_RESPONSE",
    ),
    "another state": (
        answer(state="running"),
        "the newest answer about it says another state",
        None,
    ),
}


@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize("case", ASKED)
async def test_what_the_gate_asked_itself_is_named_in_the_refusal(case: str) -> None:
    received, why, code = ASKED[case]
    yard = Yard(received, evidence=[REFETCH])
    assert refused(await yard.act())
    asked = list(yard.gate.audit.events(tool="job_status"))[-1]
    assert asked.agent_code == code
    assert told(yard)["proof"] == {
        **told_of(why)["proof"],
        "asked": asked.request_id,
        **({} if code is None else {"agent_code": code}),
    }
    (refusal,) = yard.gate.audit.events(tool="job_restart")
    story = tell_story([refusal])
    ended = "" if code is None else f", which ended as {code}"
    assert f"           proof 1, job_status: {why}\n" in story
    assert (
        f"           the gate asked itself as {asked.request_id}{ended}:"
        f" sluicegate why {asked.request_id}\n"
    ) in story


@pytest.mark.requirement("AUD-1", "AUD-4")
async def test_a_proof_that_found_no_room_in_custody_is_told_as_that() -> None:
    yard = Yard(evidence=[REFETCH], store=MemoryStore(daily_bytes=100))
    assert refused(await yard.act())
    audit = yard.gate.audit
    (refusal,) = audit.events(tool="job_restart")
    asked = list(audit.events(tool="job_status"))
    crowded_out = find_crowded_out(audit, [refusal])
    assert crowded_out == {asked[-1].request_id}
    room = "as the day's share of custody had no room (retention.daily_bytes)"
    assert (
        "           proof 1, job_status: the answer that the gate asked for is not kept\n"
        f"           it was not kept, {room}: of job_status, for this caller\n"
    ) in tell_story([refusal], crowded_out=crowded_out)
    assert f"           not kept, {room}: selected\n" in tell_story(asked)


@pytest.mark.requirement("ACC-4")
async def test_only_a_holder_that_is_not_in_the_record_is_laid_to_another_gate() -> None:
    yard = Yard()
    await yard.look()
    (*_, here) = yard.gate.audit.events()
    told = [
        replace(here, detail=json.dumps({"held_by": name}))
        for name in (here.request_id, "req.FAR00001")
    ]
    assert find_absent_holders(yard.gate.audit, told) == {"req.FAR00001"}


@pytest.mark.requirement("AUD-1")
async def test_what_is_not_kept_for_another_reason_is_not_laid_to_the_share_of_the_day() -> None:
    yard = Yard(answer(state="running"), evidence=[REFETCH])
    assert refused(await yard.act())
    (refusal,) = yard.gate.audit.events(tool="job_restart")
    assert not find_crowded_out(yard.gate.audit, [refusal])


@pytest.mark.requirement("AUD-1")
async def test_a_proof_that_is_spent_in_the_commit_of_another_is_told_by_its_number() -> None:
    class Taken(MemoryStore):
        """Another intent spends the answer between the look and the commit."""

        async def record(self, events: Any, *, terms: Terms = NO_TERMS) -> Any:
            if terms.evidence:
                raise TermRefused(Code.EVIDENCE_REQUIRED, spent=terms.evidence[-1])
            return await super().record(events, terms=terms)

    yard = Yard(store=Taken(), evidence=[{**PROOF, "once": False}, PROOF])
    await yard.look()
    assert refused(await yard.act())
    assert told(yard) == told_of("the newest answer about it was spent by an earlier action", 2)


# --- after a retry -----------------------------------------------------------------------------

RETRY = {"attempts": 2, "budget_s": 20, "on": ["UPSTREAM_UNAVAILABLE"]}


@pytest.mark.requirement("EVI-2", "ENV-1")
@pytest.mark.parametrize(
    "proof", [PROOF, {**PROOF, "once": False}], ids=["spent by the first", "known before"]
)
async def test_what_was_known_before_a_retry_proves_nothing_after_it(proof: dict[str, Any]) -> None:
    yard = Yard(done=(UNSENT, DONE), evidence=[proof], retry=RETRY)
    await yard.look()
    shown = await yard.act()
    assert (shown["outcome"], shown["error"]["code"]) == ("failure", "UPSTREAM_UNAVAILABLE")
    assert len(yard.restart.dispatches) == 1
    last = list(yard.gate.audit.events(tool="job_restart"))[-1]
    assert last.code == "EVIDENCE_REQUIRED"
    assert json.loads(last.detail) == {
        "abandoned": True,
        **told_of("no answer of the served contract that is recent enough is on record"),
    }


class Pausing(FixedClock):
    """Does something while a call pauses between two attempts."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: list[Awaitable[object]] = []

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        for work in self.meanwhile:
            await work
        self.meanwhile = []


@pytest.mark.requirement("EVI-2")
async def test_what_was_asked_for_before_an_attempt_ended_proves_nothing_after_it() -> None:
    """It is recorded after the attempt's outcome, and was asked for before anybody knew that."""
    yard = Yard(done=(UNSENT, DONE), evidence=[{**PROOF, "once": False}], retry=RETRY)
    await yard.look()
    clock, held = Pausing(), Held(answer())
    line = yard.gate._serving.lines["job_status"]
    lines = {**yard.gate._serving.lines, "job_status": replace(line, adapter=held)}
    means = replace(yard.gate._means, clock=clock)
    yard.gate = Gate(means, replace(yard.gate._serving, lines=lines))
    asked = asyncio.ensure_future(yard.look())
    await held.asked.wait()

    async def let_it_answer() -> None:
        held.release.set()
        await asked

    clock.meanwhile.append(let_it_answer())
    assert (await yard.act())["error"]["code"] == "UPSTREAM_UNAVAILABLE"
    assert len(yard.restart.dispatches) == 1


@pytest.mark.requirement("EVI-2")
async def test_a_retry_takes_its_evidence_again() -> None:
    yard = Yard(done=(UNSENT, DONE), evidence=[REFETCH], retry=RETRY)
    assert (await yard.act())["outcome"] == "success"
    assert (len(yard.status.dispatches), len(yard.restart.dispatches)) == (2, 2)


@pytest.mark.requirement("EVI-2")
async def test_a_state_that_changed_before_a_retry_stops_it() -> None:
    yard = Yard(
        answer(), answer(state="running"), done=(UNSENT, DONE), evidence=[REFETCH], retry=RETRY
    )
    assert (await yard.act())["outcome"] == "failure"
    assert len(yard.restart.dispatches) == 1


# --- what fails ---------------------------------------------------------------------------------


class Unreadable(MemoryStore):
    async def accepted(self, query: AcceptedQuery, *, now: datetime) -> AcceptedPage:
        raise AuditUnavailable("no record")


@pytest.mark.requirement("RES-9")
async def test_a_record_that_cannot_be_asked_refuses_the_action() -> None:
    yard = Yard(store=Unreadable())
    await yard.look()
    shown = await yard.act()
    assert (shown["outcome"], shown["error"]["code"]) == ("refused", "UNAVAILABLE")
    assert yard.restart.dispatches == []


EDITED = {
    "a column that nobody reads": "contract_version = '9.9.9'",
    "as if a cache had given it": """detail = '{"from_cache": true}'""",
    "as if it were no event of a gate": "detail = 'x'",
}


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("case", EDITED)
async def test_evidence_that_was_changed_in_the_record_is_refused(case: str) -> None:
    store = MemoryStore()
    yard = Yard(*CONTRADICTED, store=store)
    await yard.look()
    await yard.look()
    newest = list(store.events(tool="job_status"))[-1]
    with store._lock:
        store._connection.execute("DROP TRIGGER audit_event_no_update")
        store._connection.execute(f"UPDATE audit_event SET {EDITED[case]} WHERE seq = {newest.seq}")
    shown = await yard.act()
    assert (shown["outcome"], shown["error"]["code"]) == ("refused", "UNAVAILABLE")
    assert yard.restart.dispatches == []
