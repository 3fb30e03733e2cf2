"""What a store judges and keeps in the very commit of an intent, every store alike."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.postgres_servers import unguarded
from tests.unit.stores.made import NOW, intent, outcome

from sluicegate.gates.events import AuditEvent, Kept, Outcome
from sluicegate.gates.operator_acts import Found, resolve
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery
from sluicegate.gates.terms import (
    IF_INTENDED,
    NO_TERMS,
    Allowance,
    AlreadyDone,
    Reservation,
    TermRefused,
    Terms,
)
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.queued import QueuedStore
from sluicegate.stores.shared_keys_fates import Became, find_fate
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.callers import Caller

Store = MemoryStore | SqliteStore
CALLER = Caller(subject="svc-deploy", tenant="t-1")
DIGEST = "sha256:" + "d" * 64
A, B = "req.00000001", "req.00000002"


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def terms_of(key: str = "k" * 64, *, runs_s: float = 10, keep_s: float = 100) -> Terms:
    return Terms(
        reservation=Reservation(key=key, runs_until=later(runs_s), kept_until=later(keep_s))
    )


async def refusal(store: Store, event: AuditEvent, terms: Terms) -> str:
    """Return what is said of an intent whose terms do not hold, and see that nothing is written."""
    before = list(store.events())
    try:
        await store.record([event], terms=terms)
    except TermRefused as refused:
        said = str(refused.code)
    except AlreadyDone as done:
        said = f"done as {done.request_id}"
    else:
        said = "recorded"
    if said != "recorded":
        assert list(store.events()) == before
    return said


@pytest.mark.requirement("AUD-1")
async def test_what_closes_an_intent_is_written_where_that_stands(store: Store) -> None:
    assert await store.record([outcome(A)], terms=IF_INTENDED) == ()
    assert list(store.events()) == []
    await store.record([intent(B)])
    assert await store.record([outcome(A)], terms=IF_INTENDED) == ()
    assert len(await store.record([outcome(B)], terms=IF_INTENDED)) == 1
    assert await store.record([outcome(B)], terms=IF_INTENDED) == ()
    assert [(event.request_id, event.kind) for event in store.events()] == [
        (B, "intent"),
        (B, "outcome"),
    ]
    assert store.verify().broken_at is None


# --- quotas ------------------------------------------------------------------------------------


@pytest.mark.requirement("ACC-3")
async def test_a_quota_is_a_moving_window_and_its_edges_are_exact(store: Store) -> None:
    terms = Terms(allowances=(Allowance(key="q" * 64, count=2, window_s=10),))
    said = [
        await refusal(store, intent(f"req.{number:08}", time=later(at)), terms)
        for number, at in enumerate([0, 4, 9.999999, 10, 13.999999, 14])
    ]
    assert said == [
        *("recorded", "recorded", "QUOTA_EXCEEDED"),
        *("recorded", "QUOTA_EXCEEDED", "recorded"),
    ]


@pytest.mark.requirement("ACC-3")
async def test_an_intent_that_one_quota_refuses_is_counted_by_none(store: Store) -> None:
    wide = Allowance(key="w" * 64, count=2, window_s=60)
    narrow = Allowance(key="n" * 64, count=1, window_s=60)
    assert await refusal(store, intent(A), Terms(allowances=(wide, narrow))) == "recorded"
    assert await refusal(store, intent(B), Terms(allowances=(wide, narrow))) == "QUOTA_EXCEEDED"
    assert await refusal(store, intent(B), Terms(allowances=(wide,))) == "recorded"


@pytest.mark.requirement("ACC-3")
async def test_of_many_at_once_exactly_the_quota_is_recorded(store: Store) -> None:
    terms = Terms(allowances=(Allowance(key="q" * 64, count=7, window_s=60),))
    ends = await asyncio.gather(
        *(store.record([intent(f"req.{number:08}")], terms=terms) for number in range(40)),
        return_exceptions=True,
    )
    assert sum(not isinstance(end, BaseException) for end in ends) == 7
    refused = [end for end in ends if isinstance(end, TermRefused)]
    assert {str(each.code) for each in refused} == {"QUOTA_EXCEEDED"}
    assert len(refused) == 33
    assert store.verify().events == 7


# --- reservations ------------------------------------------------------------------------------

ENDS = {
    "still runs": (None, 5.0, "IN_PROGRESS"),
    "should have ended": (None, 10.0, "OUTCOME_UNKNOWN"),
    "succeeded": (Outcome.SUCCESS, 5.0, f"done as {A}"),
    "failed": (Outcome.FAILURE, 5.0, "recorded"),
    "was refused": (Outcome.REFUSED, 5.0, "recorded"),
    "nobody knows": (Outcome.UNKNOWN, 5.0, "OUTCOME_UNKNOWN"),
    "is kept no more": (Outcome.SUCCESS, 100.0, "recorded"),
}


@pytest.mark.requirement("ACC-4")
@pytest.mark.parametrize("case", ENDS)
async def test_a_key_is_held_as_what_became_of_its_call_says(store: Store, case: str) -> None:
    became, at, said = ENDS[case]
    await store.record([intent(A)], terms=terms_of())
    if became is not None:
        await store.record([outcome(A, became=became, time=later(1))])
    assert await refusal(store, intent(B, time=later(at)), terms_of(keep_s=300)) == said


@pytest.mark.requirement("ACC-4")
async def test_one_key_is_for_one_set_of_arguments(store: Store) -> None:
    await store.record([intent(A)], terms=terms_of())
    await store.record([outcome(A, became=Outcome.FAILURE)])
    other = intent(B, arguments={"project_id": "other"})
    assert await refusal(store, other, terms_of()) == "KEY_REUSED"
    assert await refusal(store, other, terms_of("l" * 64)) == "recorded"


@pytest.mark.requirement("ACC-4", "RET-3")
async def test_a_later_attempt_holds_its_own_key_and_an_earlier_failure_frees_it_not(
    store: Store,
) -> None:
    await store.record([intent(A)], terms=terms_of())
    await store.record([outcome(A, became=Outcome.FAILURE)])
    again = intent(A, attempt=2, time=later(1))
    assert await refusal(store, again, terms_of(runs_s=20)) == "recorded"
    assert await refusal(store, intent(B, time=later(12)), terms_of(runs_s=40)) == "IN_PROGRESS"


@pytest.mark.requirement("ACC-4", "RET-2")
@pytest.mark.parametrize("found", ["done", "not-done"])
@pytest.mark.parametrize("became", [Outcome.UNKNOWN, Outcome.FAILURE, Outcome.SUCCESS])
@pytest.mark.parametrize("terms", [IF_INTENDED, NO_TERMS], ids=["asked", "at once"])
async def test_only_a_success_takes_back_an_operators_word(
    store: Store, terms: Terms, became: Outcome, found: Found
) -> None:
    await store.record([intent(A)], terms=terms_of())
    act, _ = resolve(
        store.events(), A, found=found, who="ada", reason="b", now=later(2), gate_is_gone=True
    )
    await store.record([act])
    assert len(await store.record([outcome(A, became=became)], terms=terms)) == 1
    is_done = found == "done" or became is Outcome.SUCCESS
    said = await refusal(store, intent(B, time=later(3)), terms_of())
    assert said == (f"done as {A}" if is_done else "recorded")
    fate = find_fate(store.events(request_id=A))
    assert fate is not None
    assert fate.became is (Became.DONE if is_done else Became.FREE)
    assert [event.request_id for event in store.open_intents()] == ([] if is_done else [B])
    assert store.verify().broken_at is None


@pytest.mark.requirement("RET-2")
async def test_of_a_call_that_an_operator_resolved_no_further_attempt_begins(store: Store) -> None:
    await store.record([intent(A)], terms=terms_of())
    act, terms = resolve(
        store.events(), A, found="not-done", who="ada", reason="b", now=later(2), gate_is_gone=True
    )
    assert len(await store.record([act], terms=terms)) == 1
    again = intent(A, attempt=2, time=later(3))
    assert await refusal(store, again, Terms(unless_open=True)) == "OUTCOME_UNKNOWN"


@pytest.mark.requirement("ACC-4")
async def test_of_one_key_at_once_one_call_is_recorded(store: Store) -> None:
    ends = await asyncio.gather(
        *(store.record([intent(f"req.{n:08}")], terms=terms_of()) for n in range(20)),
        return_exceptions=True,
    )
    assert sum(not isinstance(end, BaseException) for end in ends) == 1
    assert {str(end.code) for end in ends if isinstance(end, TermRefused)} == {"IN_PROGRESS"}


# --- evidence ----------------------------------------------------------------------------------


def proof(request_id: str = A, **changes: object) -> AuditEvent:
    data = {"state": "failed"}
    return outcome(
        request_id,
        **{
            "contract_digest": DIGEST,
            "returned": data,
            "kept": (Kept(kind="selected", content=json.dumps(data).encode(), keep_days=1),),
            "raw": None,
            "code": None,
            **changes,
        },
    )


ANSWER_OF_A = AnswerQuery(request_id=A, tool="restart", caller=CALLER)


async def found(store: Store, *, now: datetime | None = None, **changes: Any) -> list[str]:
    query = AcceptedQuery(tool=proof().tool, caller=CALLER, contract_digest=DIGEST, since=NOW)
    page = await store.accepted(replace(query, **changes), now=now or later(5))
    return [each.request_id for each in page.answers]


@pytest.mark.requirement("EVI-1", "AUD-4")
async def test_accepted_answers_are_found_newest_first_with_their_data(store: Store) -> None:
    (first,) = await store.record([proof(A)])
    await store.record([proof(B, time=later(1))])
    assert await found(store) == [B, A]
    answer = await store.answer_of(ANSWER_OF_A, now=later(5))
    assert answer is not None
    assert (answer.event_id, answer.data, answer.spent) == (first, {"state": "failed"}, False)
    assert (answer.seq, answer.time) == (1, NOW)


NOT_FOUND: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "another tool": ({}, {"tool": "other"}),
    "another caller": ({}, {"caller": Caller(subject="svc-other", tenant="t-1")}),
    "another tenant": ({}, {"caller": Caller(subject="svc-deploy", tenant="t-2")}),
    "no tenant": ({}, {"caller": Caller(subject="svc-deploy")}),
    "another contract": ({}, {"contract_digest": "sha256:" + "e" * 64}),
    "recorded before": ({}, {"since": later(0.000001)}),
    "kept no more": ({}, {"now": later(86_400)}),
    "never kept": ({"kept": ()}, {}),
    "from a cache": ({"detail": {"from_cache": True}}, {}),
    "a failure": ({"became": Outcome.FAILURE}, {}),
    "not known": ({"became": Outcome.UNKNOWN}, {}),
}


@pytest.mark.requirement("EVI-1")
@pytest.mark.parametrize("case", NOT_FOUND)
async def test_what_is_no_evidence_is_not_found(store: Store, case: str) -> None:
    changes, asked = NOT_FOUND[case]
    await store.record([proof(A, **changes)])
    assert await found(store, **asked) == []
    if not asked:
        assert await store.answer_of(ANSWER_OF_A, now=later(5)) is None


@pytest.mark.requirement("EVI-1")
async def test_evidence_is_spent_with_the_intent_and_once(store: Store) -> None:
    (event_id,) = await store.record([proof(A)])
    act = Terms(evidence=(event_id,))
    assert await refusal(store, intent(B), act) == "recorded"
    assert await refusal(store, intent("req.00000003"), act) == "EVIDENCE_REQUIRED"
    answer = await store.answer_of(ANSWER_OF_A, now=later(5))
    assert answer is not None
    assert answer.spent


@pytest.mark.requirement("EVI-1")
async def test_an_intent_that_another_term_refuses_spends_nothing(store: Store) -> None:
    (event_id,) = await store.record([proof(A)])
    full = Allowance(key="q" * 64, count=1, window_s=60)
    await store.record([intent("req.00000009")], terms=Terms(allowances=(full,)))
    refused = Terms(evidence=(event_id,), allowances=(full,))
    assert await refusal(store, intent(B), refused) == "QUOTA_EXCEEDED"
    answer = await store.answer_of(ANSWER_OF_A, now=later(5))
    assert answer is not None
    assert not answer.spent


NOT_BY_IT = "the key that it holds is not held by it"
NOT_AS_IT_SAYS = "the key that it holds is not held as it says"
HELD_BY_ANOTHER = "the key that it holds was held by another call"
NO_INTENT = "a key is held that no intent reserved: the event is gone, or never was"
LONG_AGO = "'2000-01-01T00:00:00.000000Z'"
FORGED = {
    "the mark is taken from evidence": (
        "DELETE FROM evidence_spent",
        (3, "the evidence it spent is not marked as spent"),
    ),
    "evidence is marked for another call": (
        f"UPDATE evidence_spent SET request_id = '{A}'",
        (3, "the evidence it spent is marked as spent by another call"),
    ),
    "evidence is marked that nobody spent": (
        f"INSERT INTO evidence_spent SELECT event_id, '{A}' FROM audit_event WHERE seq = 2",
        (4, "evidence is marked as spent that no intent spent"),
    ),
    "a key is freed": ("DELETE FROM reservation", (3, NOT_BY_IT)),
    "a key is given to another": (f"UPDATE reservation SET request_id = '{A}'", (3, NOT_BY_IT)),
    "a key is kept no more": (
        f"UPDATE reservation SET kept_until = {LONG_AGO}",
        (3, NOT_AS_IT_SAYS),
    ),
    "a call has ended": (f"UPDATE reservation SET runs_until = {LONG_AGO}", (3, NOT_AS_IT_SAYS)),
    "a key is for other arguments": (
        "UPDATE reservation SET arguments_hmac = 'x'",
        (3, NOT_AS_IT_SAYS),
    ),
    "a key is held by nobody": (
        f"INSERT INTO reservation VALUES ('k', '{A}', 'x', {LONG_AGO}, {LONG_AGO})",
        (4, NO_INTENT),
    ),
}


@pytest.mark.requirement("EVI-1", "ACC-4", "AUD-3")
@pytest.mark.parametrize("case", FORGED)
async def test_what_is_spent_and_held_is_verified_by_the_intents(
    case: str, tmp_path: Path, keys: AuditKeys
) -> None:
    statement, told = FORGED[case]
    store = SqliteStore(tmp_path / "a.db", keys)
    await _spend_and_hold(store)
    assert store.verify().broken_at is None
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute("DROP TRIGGER evidence_spent_no_delete")
        connection.execute("DROP TRIGGER evidence_spent_no_update")
        connection.execute(statement)
        connection.commit()
    report = store.verify()
    assert (report.broken_at, report.problem) == told
    await store.close()


@pytest.mark.requirement("EVI-1", "ACC-4", "AUD-3")
@pytest.mark.parametrize("case", FORGED)
async def test_postgres_holds_the_same_to_the_intents(
    case: str, postgres: PostgresStore, place: Place
) -> None:
    statement, told = FORGED[case]
    await _spend_and_hold(postgres)
    assert postgres.verify().broken_at is None
    with unguarded(place) as connection:
        connection.execute(statement.encode())
    report = postgres.verify()
    assert (report.broken_at, report.problem) == told


async def _spend_and_hold(store: QueuedStore) -> None:
    """Events 1 and 2 are answers, 3 spends the first and holds a key, 4 goes without terms."""
    (event_id,) = await store.record([proof(A)])
    await store.record([proof(A, time=later(1))])
    terms = replace(terms_of(keep_s=600), evidence=(event_id,))
    await store.record([intent(B)], terms=terms)
    await store.record([outcome(B, time=later(1))])


@pytest.mark.requirement("ACC-4", "AUD-3")
async def test_verify_names_a_key_that_two_calls_held(durable: QueuedStore) -> None:
    await durable.record([intent(A)], terms=terms_of(keep_s=600))
    await durable.record([outcome(A)])
    held = json.loads(next(durable.events()).detail)
    # As a store whose row was taken away would have let it through.
    await durable.record([intent(B, time=later(2), detail=held)])
    report = durable.verify()
    assert (report.broken_at, report.problem) == (3, HELD_BY_ANOTHER)


@pytest.mark.requirement("ACC-4", "AUD-3")
async def test_a_write_that_an_edited_key_let_run_again_is_named(
    tmp_path: Path, sqlite: SqliteStore
) -> None:
    await sqlite.record([intent(A)], terms=terms_of(keep_s=600))
    await sqlite.record([outcome(A)])
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(f"UPDATE reservation SET kept_until = {LONG_AGO}")
        connection.commit()
    await sqlite.record([intent(B, time=later(2))], terms=terms_of(keep_s=600))
    await sqlite.record([outcome(B, time=later(3))])
    report = sqlite.verify()
    assert (report.broken_at, report.problem) == (3, HELD_BY_ANOTHER)


HANDED_ON = {
    "its call failed": (Outcome.FAILURE, 5),
    "its call was refused": (Outcome.REFUSED, 5),
    "its time is over": (Outcome.SUCCESS, 100),
    "an operator freed it": (None, 5),
}


@pytest.mark.requirement("ACC-4", "AUD-3")
@pytest.mark.parametrize("case", HANDED_ON)
async def test_a_key_that_was_free_is_held_by_the_next_call(
    durable: QueuedStore, case: str
) -> None:
    became, at = HANDED_ON[case]
    await durable.record([intent(A)], terms=terms_of())
    await durable.record([intent(A, attempt=2, time=later(1))], terms=terms_of(runs_s=20))
    if became is None:
        act, _ = resolve(
            durable.events(),
            A,
            found="not-done",
            who="ada",
            reason="looked",
            now=later(2),
            gate_is_gone=True,
        )
        await durable.record([act])
    else:
        await durable.record([outcome(A, attempt=2, became=became, time=later(2))])
    await durable.record([intent(B, time=later(at))], terms=terms_of(keep_s=600))
    report = durable.verify()
    assert (report.broken_at, report.problem) == (None, None)


@pytest.mark.requirement("ACC-4", "AUD-3")
async def test_what_a_clock_far_ahead_forgot_is_no_fault_of_the_next_call(
    durable: QueuedStore,
) -> None:
    await durable.record([intent(A)], terms=terms_of(keep_s=600))
    await durable.record([outcome(A)])
    ahead = later(200_000)
    key = Reservation(key="o" * 64, runs_until=ahead, kept_until=ahead + timedelta(seconds=9))
    await durable.record([intent("req.00000003", time=ahead)], terms=Terms(reservation=key))
    await durable.record([intent(B, time=later(9))], terms=terms_of(keep_s=600))
    report = durable.verify()
    assert (report.broken_at, report.problem) == (None, None)


@pytest.mark.requirement("ACC-4", "AUD-3")
async def test_an_intent_of_an_earlier_release_tells_not_how_long_its_call_runs(
    sqlite: SqliteStore,
) -> None:
    await sqlite.record([intent(A)], terms=terms_of(keep_s=600))
    held = json.loads(next(sqlite.events()).detail)
    del held["reserved"]["runs"]
    await sqlite.record([intent(A, attempt=2, detail=held)])
    assert sqlite.verify().broken_at is None


@pytest.mark.requirement("EVI-1", "AUD-3")
async def test_verify_names_evidence_that_was_spent_twice(durable: QueuedStore) -> None:
    (event_id,) = await durable.record([proof(A)])
    await durable.record([intent(B)], terms=Terms(evidence=(event_id,)))
    await durable.record([intent("req.00000003", detail={"spent": [event_id]})])
    report = durable.verify()
    assert (report.broken_at, report.problem) == (3, "the evidence it spent was spent before")


@pytest.mark.requirement("ACC-4", "RES-9")
async def test_a_key_that_was_given_to_the_call_of_another_is_believed_by_nobody(
    tmp_path: Path, keys: AuditKeys
) -> None:
    store = SqliteStore(tmp_path / "a.db", keys)
    await store.record([intent(A, caller_tenant="t-2")])
    await store.record([intent(B)], terms=terms_of(keep_s=600))
    with closing(sqlite3.connect(tmp_path / "a.db")) as connection:
        connection.execute(f"UPDATE reservation SET request_id = '{A}'")
        connection.commit()
    with pytest.raises(AuditUnavailable, match="CHAIN_BROKEN"):
        await store.record([intent("req.00000003")], terms=terms_of(keep_s=600))
    await store.close()


@pytest.mark.requirement("EVI-1")
async def test_an_intent_that_names_one_proof_twice_harms_no_other(store: Store) -> None:
    (event_id,) = await store.record([proof(A)])
    twice = store.record([intent(B)], terms=Terms(evidence=(event_id, event_id)))
    other = store.record([intent("req.00000003")])
    refused, recorded = await asyncio.gather(twice, other, return_exceptions=True)
    assert isinstance(refused, TermRefused)
    assert not isinstance(recorded, BaseException)


@pytest.mark.requirement("ACC-3", "ACC-4")
async def test_a_clock_that_was_ahead_for_a_while_frees_nothing(store: Store) -> None:
    quota = Allowance(key="q" * 64, count=1, window_s=60)
    held = replace(terms_of(keep_s=600), allowances=(quota,))
    await store.record([intent(A)], terms=held)
    await store.record([outcome(A)])
    ahead = replace(terms_of("o" * 64), allowances=(replace(quota, count=9),))
    await store.record([intent(B, time=later(7_200))], terms=ahead)
    third = intent("req.00000003", time=later(1))
    assert await refusal(store, third, terms_of(keep_s=600)) == f"done as {A}"
    assert await refusal(store, third, Terms(allowances=(quota,))) == "QUOTA_EXCEEDED"


@pytest.mark.requirement("AUD-4", "EVI-1")
async def test_refusals_cannot_use_up_the_custody_of_evidence(
    tmp_path: Path, keys: AuditKeys
) -> None:
    store = SqliteStore(tmp_path / "a.db", keys, daily_bytes=2_000)
    noise = (Kept(kind="raw", content=os.urandom(1_984), keep_days=1),)
    for request_id in (A, B):
        await store.record([outcome(request_id, became=Outcome.FAILURE, kept=noise)])
    await store.record([proof("req.00000003")])
    assert await found(store) == ["req.00000003"]
    await store.close()


@pytest.mark.requirement("AUD-4", "EVI-1")
async def test_another_callers_answers_cannot_use_up_the_custody_of_evidence(
    tmp_path: Path, keys: AuditKeys
) -> None:
    store = SqliteStore(tmp_path / "a.db", keys, daily_bytes=2_000)
    data = os.urandom(950).hex()
    big = (Kept(kind="selected", content=json.dumps({"x": data}).encode(), keep_days=1),)
    for number in range(3):
        await store.record([proof(f"req.0000001{number}", caller_tenant="t-9", kept=big)])
    await store.record([proof(A)])
    assert await found(store) == [A]
    await store.close()


@pytest.mark.requirement("AUD-3", "EVI-1", "ACC-4")
async def test_what_is_asked_in_a_commit_looks_through_no_tools_whole_history(
    keys: AuditKeys,
) -> None:
    store = MemoryStore(keys)
    await store.record([intent(A)], terms=terms_of())
    await store.record([proof(A)])
    asked: list[str] = []
    store._connection.set_trace_callback(asked.append)
    await found(store)
    await store.answer_of(ANSWER_OF_A, now=later(5))
    with pytest.raises(AlreadyDone):
        await store.record([intent(B, time=later(2))], terms=terms_of())
    quota = Allowance(key="q" * 64, count=3, window_s=60)
    await store.record(
        [intent("req.00000003", arguments={"n": 1})],
        terms=replace(terms_of("n" * 64), allowances=(quota,)),
    )
    store._connection.set_trace_callback(None)
    plans = [
        (statement, row[3])
        for statement in asked
        if statement.startswith(("SELECT", "DELETE"))
        for row in store._connection.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]
    assert len(plans) > 8
    slow = [
        plan
        for plan in plans
        if "audit_event_tool" in plan[1]
        or (plan[1].startswith("SCAN") and "counted" not in plan[1] and "LIMIT 1" not in plan[0])
    ]
    assert slow == []
