"""How each act of an operator stands in the record, and that none stands there unaccounted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.stores.made import intent, outcome, resolution

from sluicegate.errors import MisuseError
from sluicegate.gates import operator_acts
from sluicegate.gates.events import AuditEvent, EventKind, Outcome
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.memory import MemoryStore

NOW = datetime(2026, 11, 30, 13, tzinfo=UTC)
REQUEST_ID = "req.00000001"


def open_store() -> MemoryStore:
    store = MemoryStore()
    store.record_blocking([intent(), outcome(became=Outcome.UNKNOWN)])
    return store


def resolve(who: str, reason: str) -> AuditEvent:
    act, _ = operator_acts.resolve(
        open_store().events(), REQUEST_ID, found="not-done", who=who, reason=reason, now=NOW
    )
    return act


def reveal(who: str, reason: str) -> AuditEvent:
    return operator_acts.reveal(
        "blob-1",
        kind="raw",
        request_id=REQUEST_ID,
        tool="restart",
        contract_digest="sha256:aa",
        who=who,
        reason=reason,
        now=NOW,
    )


def purge(who: str, _: str) -> AuditEvent:
    return operator_acts.purge(
        [f"b{number}" for number in range(101)], rule="expired", act_id="act.1", who=who, now=NOW
    )


def rewrap(who: str, _: str) -> AuditEvent:
    return operator_acts.rewrap("key-2", count=7, act_id="act.1", who=who, now=NOW)


def rotate(who: str, reason: str) -> AuditEvent:
    return operator_acts.rotate(
        "key-2", is_drawn=True, act_id="act.1", who=who, reason=reason, now=NOW
    )


def disable(who: str, reason: str) -> AuditEvent:
    return operator_acts.disable("restart", act_id="act.1", who=who, reason=reason, now=NOW)


def enable(who: str, reason: str) -> AuditEvent:
    return operator_acts.enable("restart", act_id="act.1", who=who, reason=reason, now=NOW)


def rollback(who: str, reason: str) -> AuditEvent:
    return operator_acts.rollback(
        "restart", "1.0.0", act_id="act.1", who=who, reason=reason, now=NOW
    )


def replay(who: str, reason: str) -> AuditEvent:
    return operator_acts.replay("restart", "2.0.0", act_id="act.1", who=who, reason=reason, now=NOW)


ACTS: dict[str, tuple[Callable[[str, str], AuditEvent], str, str, dict[str, object]]] = {
    "resolve": (
        resolve,
        REQUEST_ID,
        "restart",
        {"resolves": REQUEST_ID, "as": "not-done", "reason": "looked"},
    ),
    "reveal": (
        reveal,
        REQUEST_ID,
        "restart",
        {"ref": "blob-1", "kind": "raw", "who": "olga", "reason": "looked"},
    ),
    "purge": (
        purge,
        "act.1",
        "",
        {
            "who": "olga",
            "rule": "expired",
            "count": 101,
            "refs": [f"b{number}" for number in range(100)],
        },
    ),
    "rewrap": (rewrap, "act.1", "", {"who": "olga", "key_id": "key-2", "count": 7}),
    "rotate": (
        rotate,
        "act.1",
        "",
        {"who": "olga", "key_id": "key-2", "drawn": True, "reason": "looked"},
    ),
    "disable": (disable, "act.1", "restart", {"reason": "looked"}),
    "enable": (enable, "act.1", "restart", {"reason": "looked"}),
    "rollback": (rollback, "act.1", "restart", {"reason": "looked", "version": "1.0.0"}),
    "replay": (replay, "act.1", "restart", {"reason": "looked", "versions": "2.0.0"}),
}


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("name", ACTS)
def test_an_act_says_what_was_done_by_whom_and_when(name: str) -> None:
    make, request_id, tool, detail = ACTS[name]
    act = make("olga", "looked")
    assert (act.kind, act.outcome, act.attempt) == (EventKind.OPERATOR, Outcome.DONE, 0)
    assert (act.time, act.caller_subject) == (NOW, "olga")
    assert (act.request_id, act.tool) == (request_id, tool)
    assert act.detail == {"act": name, **detail}


@pytest.mark.parametrize("name", ACTS)
def test_no_act_is_without_a_name(name: str) -> None:
    with pytest.raises(MisuseError, match="say who"):
        ACTS[name][0](" ", "looked")


@pytest.mark.parametrize("name", [name for name in ACTS if "reason" in ACTS[name][3]])
def test_no_act_that_has_a_reason_is_without_one(name: str) -> None:
    with pytest.raises(MisuseError, match="and why"):
        ACTS[name][0]("olga", "\t ")


@pytest.mark.requirement("RET-2")
def test_a_resolution_bears_the_contract_of_the_call_and_frees_it() -> None:
    act = resolve("olga", "looked")
    assert (act.contract_version, act.contract_digest) == ("1.0.0", "sha256:aa")
    store = open_store()
    store.record_blocking([act])
    assert store.open_intents() == ()


@pytest.mark.requirement("RET-2")
def test_what_is_not_open_is_not_resolved() -> None:
    with pytest.raises(KeyError, match=r"req\.other"):
        operator_acts.resolve(
            open_store().events(), "req.other", found="done", who="o", reason="r", now=NOW
        )


LATER = "2026-11-30T12:00:09.000000Z"
KEYED = {"reserved": {"key": "k", "until": "2026-12-30T12:00:00.000000Z", "runs": LATER}}
AGAIN = {"retry_in_s": 0.1}
RUNNING: dict[str, tuple[list[AuditEvent], str | None]] = {
    "with a key, as long as its intent says": ([intent(detail=KEYED)], LATER),
    "without a key, as long as a contract may grant": (
        [intent()],
        "2026-11-30T13:00:00.123456Z",
    ),
    "a key of which no end is told": (
        [intent(detail={"reserved": {"key": "k"}})],
        "2026-11-30T13:00:00.123456Z",
    ),
    "an end without a zone": (
        [intent(detail={"reserved": {"runs": "2026-11-30T12:00:09"}})],
        "2026-11-30T13:00:00.123456Z",
    ),
    "its second attempt": (
        [
            intent(),
            outcome(became=Outcome.UNKNOWN),
            intent(attempt=2, time=datetime(2026, 11, 30, 12, 30, tzinfo=UTC)),
        ],
        "2026-11-30T13:30:00Z",
    ),
    "between two attempts, with a key": (
        [intent(detail=KEYED), outcome(became=Outcome.UNKNOWN, detail=AGAIN)],
        LATER,
    ),
    "between two attempts, without one": (
        [intent(), outcome(became=Outcome.FAILURE, detail=AGAIN)],
        "2026-11-30T13:00:00.123456Z",
    ),
    "its second attempt, of which the end of the first is told late": (
        [intent(), intent(attempt=2, detail=KEYED), outcome(became=Outcome.UNKNOWN)],
        LATER,
    ),
    "a second attempt that was given up before its intent": (
        [
            intent(detail=KEYED),
            outcome(became=Outcome.UNKNOWN, detail=AGAIN),
            outcome(became=Outcome.UNKNOWN, attempt=2, detail={"abandoned": True}),
        ],
        None,
    ),
    "a word of an operator between two attempts": (
        [intent(detail=KEYED), outcome(became=Outcome.UNKNOWN, detail=AGAIN), resolution()],
        LATER,
    ),
    "an end that is unknown": ([intent(), outcome(became=Outcome.UNKNOWN)], None),
    "an end that is known": ([intent(), outcome()], None),
    "nothing": ([], None),
}


@pytest.mark.requirement("ACC-4", "RET-2")
@pytest.mark.parametrize("case", RUNNING)
def test_a_call_may_be_running_until_its_time_is_over_or_its_end_is_recorded(case: str) -> None:
    events, until = RUNNING[case]
    store = MemoryStore()
    if events:
        store.record_blocking(events)
    found = operator_acts.find_end_of_run(store.events())
    assert found == (None if until is None else datetime.fromisoformat(until))


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize("time", ["", "2026-11-30T12:00:00", "9999-12-31T23:59:59Z"])
def test_an_intent_whose_time_no_gate_wrote_is_taken_for_a_broken_record(time: str) -> None:
    store = MemoryStore()
    store.record_blocking([intent()])
    changed = [replace(event, time=time) for event in store.events()]
    with pytest.raises(AuditUnavailable, match=r"CHAIN_BROKEN: what is recorded of req\.00000001"):
        operator_acts.find_end_of_run(changed)


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize("detail", ["", "[]", "5", '{"retry_in_s": '])
def test_an_outcome_that_no_gate_wrote_is_no_end(detail: str) -> None:
    store = MemoryStore()
    store.record_blocking([intent(), outcome(became=Outcome.UNKNOWN)])
    begun, ended = store.events()
    with pytest.raises(AuditUnavailable, match=r"CHAIN_BROKEN: what is recorded of req\.00000001"):
        operator_acts.find_end_of_run([begun, replace(ended, detail=detail)])


@pytest.mark.requirement("ACC-4", "RET-2")
@pytest.mark.parametrize("case", [case for case in RUNNING if RUNNING[case][1] is not None])
def test_what_may_be_running_is_resolved_by_nobody(case: str) -> None:
    """Whoever asks: a face that does not look for itself, too."""
    told, expected = RUNNING[case]
    until = datetime.fromisoformat(str(expected))
    store = MemoryStore()
    store.record_blocking([event for event in told if event.kind is not EventKind.OPERATOR])

    def act(now: datetime, *, gate_is_gone: bool = False) -> AuditEvent:
        made, _ = operator_acts.resolve(
            store.events(),
            REQUEST_ID,
            found="not-done",
            who="olga",
            reason="looked",
            now=now,
            gate_is_gone=gate_is_gone,
        )
        return made

    just_before = until - timedelta(microseconds=1)
    if not store.open_intents():
        with pytest.raises(KeyError):
            act(just_before)
        return
    with pytest.raises(operator_acts.StillRunning, match=REQUEST_ID) as raised:
        act(just_before)
    assert raised.value.until == until
    assert "gate_is_gone" not in act(until).detail
    assert act(just_before, gate_is_gone=True).detail["gate_is_gone"] == "stated"


@pytest.mark.requirement("RET-2")
def test_a_call_is_resolved_by_its_own_events_alone() -> None:
    store = open_store()
    store.record_blocking([intent("req.00000002", detail=KEYED)])
    act, _ = operator_acts.resolve(
        store.events(), REQUEST_ID, found="done", who="olga", reason="looked", now=NOW
    )
    assert act.request_id == REQUEST_ID


@pytest.mark.requirement("RET-2")
def test_who_says_that_the_gate_is_gone_says_so_on_record() -> None:
    act, _ = operator_acts.resolve(
        open_store().events(),
        REQUEST_ID,
        found="done",
        who="olga",
        reason="looked",
        now=NOW,
        gate_is_gone=True,
    )
    assert act.detail["gate_is_gone"] == "stated"


@pytest.mark.requirement("AUD-2")
@pytest.mark.parametrize("name", ACTS)
@pytest.mark.parametrize("text", ["a\0b", "\udcff", "e" * 5_000], ids=["nul", "surrogate", "long"])
def test_no_act_says_what_cannot_be_recorded_as_it_stands(name: str, text: str) -> None:
    with pytest.raises(MisuseError, match=r"the name in an operator's act (is a text|has 5,000)"):
        ACTS[name][0](text, "looked")
    if "reason" in ACTS[name][3]:
        with pytest.raises(MisuseError, match=r"the reason of an operator's act (is a|has 5,000)"):
            ACTS[name][0]("olga", text)
