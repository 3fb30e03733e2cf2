"""The story of one call: whole screens, open calls, hostile names."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.unit.gates.open_call_cases import OPEN_CALL_CASES
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.stored import outcome, stored

from sluicegate.gates.events import AuditEvent, StoredEvent
from sluicegate.rendering.story import name_evidence, tell_story
from sluicegate.stores.memory import MemoryStore

INTENT = stored(caller_tenant="acme", session="s1", call_id="toolu_1", arguments_ref="blob-a")
FAILED = outcome(
    time="2026-11-30T03:00:01.500000Z",
    outcome="failure",
    stage="vouch",
    code="WRONG_SUBJECT",
    agent_code="INVALID_RESPONSE",
    upstream_status="200",
    raw_bytes=532,
    raw_ref="blob-r",
    findings=json.dumps(
        [
            {
                "code": "WRONG_SUBJECT",
                "pointer": "/project_id",
                "expected": "the project that was asked for",
                "received": "string",
                "hint": "another project's answer",
            }
        ]
    ),
    masked='["/token"]',
    detail='{"retry_in_s": 0.25, "new_members": ["/a", "/b"], "from_cache": true}',
)


def test_a_failed_call_is_told_from_intent_to_runbook() -> None:
    assert tell_story([INTENT, FAILED]) == (
        "req.J7q94MkP  job_status@1.0.0  FAILURE\n"
        "caller     svc-deploy of acme, session s1, host's call id toolu_1\n"
        "contract   sha256:ab\n"
        "\n"
        "2026-11-30 UTC\n"
        "03:00:00   intent attempt 1\n"
        "           http GET https://ci.example/runs/{/run_id}\n"
        "           allowed by decision table:1\n"
        "03:00:01   outcome attempt 1  FAILURE  vouch/WRONG_SUBJECT"
        "  the agent saw INVALID_RESPONSE\n"
        "           upstream status 200\n"
        "           532 bytes received, kept as blob-r\n"
        "           WRONG_SUBJECT at /project_id, expected the project that was asked for,"
        " received string: another project's answer\n"
        "           masked before anything was kept: /token\n"
        "           another attempt after 0.25 s\n"
        "           new members: /a, /b\n"
        "           answered from the gate's cache\n"
        "\n"
        "what to do\n"
        "  sluicegate explain WRONG_SUBJECT\n"
        "  sluicegate audit reveal blob-a --reason TEXT\n"
        "  sluicegate audit reveal blob-r --reason TEXT\n"
    )


@pytest.mark.requirement("EVI-1")
def test_what_a_call_rests_on_is_told_by_tool_and_request() -> None:
    acting = stored(tool="job_restart", detail='{"evidence": ["ev-1", "ev-2"], "spent": ["ev-1"]}')
    proof = outcome(event_id="ev-1", request_id="req.PROOF001", outcome="success")
    told = tell_story([acting], evidence={"ev-1": proof}).splitlines()
    said = "rests on job_status, answered at 03:00:00, spent by it: sluicegate why req.PROOF001"
    assert [line.strip() for line in told if "rests on" in line] == [
        said,
        "rests on event ev-2",
    ]
    assert not [line for line in told if "spent:" in line]


@pytest.mark.requirement("EVI-1")
def test_what_a_call_rests_on_is_named_by_its_intents_as_far_as_they_can_be_read() -> None:
    details = ('{"evidence": ["ev-1", 7, "ev-2"]}', '{"evidence": "ev-3"}', "[]", "no JSON")
    intents = [stored(detail=detail) for detail in details]
    other = outcome(detail='{"evidence": ["ev-4"]}')
    assert name_evidence([*intents, other]) == {"ev-1", "ev-2"}


@pytest.mark.requirement("EVI-1")
def test_a_day_is_told_with_its_zone_and_again_where_it_changes() -> None:
    acting = stored(
        seq=3, time="2026-12-01T00:00:05.000000Z", attempt=2, detail='{"evidence": ["ev-1"]}'
    )
    proof = outcome(event_id="ev-1", request_id="req.PROOF001", outcome="success")
    lines = tell_story([INTENT, FAILED, acting], evidence={"ev-1": proof}).splitlines()
    assert [line for line in lines if line[:1].isdigit()] == [
        "2026-11-30 UTC",
        "03:00:00   intent attempt 1",
        (
            "03:00:01   outcome attempt 1  FAILURE  vouch/WRONG_SUBJECT"
            "  the agent saw INVALID_RESPONSE"
        ),
        "2026-12-01 UTC",
        "00:00:05   intent attempt 2",
    ]
    said = "rests on job_status, answered at 2026-11-30 03:00:00: sluicegate why req.PROOF001"
    assert f"           {said}" in lines


RESOLVED = stored(
    kind="operator",
    outcome="done",
    attempt=0,
    detail='{"act": "resolve", "resolves": "req.J7q94MkP", "as": "not-done", "reason": "looked"}',
)


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize(
    ("events", "headline"),
    [
        ([INTENT, RESOLVED], "RESOLVED as not-done"),
        ([INTENT, outcome(outcome="unknown"), RESOLVED], "RESOLVED as not-done"),
        ([INTENT, RESOLVED, outcome(outcome="unknown")], "RESOLVED as not-done"),
        ([INTENT, RESOLVED, outcome(outcome="success")], "SUCCESS"),
        ([INTENT, outcome(outcome="unknown")], "OPEN"),
    ],
    ids=["had no end", "had ended unknown", "not known later", "done later", "not resolved"],
)
def test_the_headline_of_a_resolved_call_says_what_was_found(
    events: list[StoredEvent], headline: str
) -> None:
    assert tell_story(events).splitlines()[0] == f"req.J7q94MkP  job_status@1.0.0  {headline}"


@pytest.mark.requirement("ACC-4")
def test_a_key_that_a_call_of_another_gate_holds_is_told_as_that() -> None:
    refused = stored(kind="refused", outcome="refused", detail='{"held_by": "req.FAR00001"}')
    near, far = tell_story([refused]), tell_story([refused], absent={"req.FAR00001"})
    assert "           held by: req.FAR00001\n" in near
    assert near.endswith("what to do\n  sluicegate why req.FAR00001\n")
    assert "what to do" not in far
    assert "           held by: req.FAR00001 (in the record of another gate)\n" in far


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize(("events", "attempts"), OPEN_CALL_CASES)
def test_a_story_says_open_and_how_to_resolve_it_while_the_store_holds_it_open(
    events: Sequence[AuditEvent], attempts: list[int]
) -> None:
    store = MemoryStore()
    store.record_blocking(events)
    of_call = tuple(store.events(request_id="req.00000001"))
    if of_call:
        story = tell_story(of_call)
        assert ("sluicegate audit resolve req.00000001" in story) == bool(attempts)
        assert ("OPEN" in story.splitlines()[0]) == bool(attempts)


@pytest.mark.requirement("RET-2")
def test_a_story_says_until_when_a_call_without_an_end_may_run() -> None:
    runs = '{"reserved": {"runs": "2026-03-01T03:00:40+01:00"}}'
    running = tell_story([stored(detail=runs)])
    assert "  it may run until 2026-03-01T02:00:40Z; before that add --gate-is-gone, if" in running
    waiting = tell_story(
        [stored(detail=runs), outcome(outcome="unknown", detail='{"retry_in_s": 0.1}')]
    )
    assert "  it may run until 2026-03-01T02:00:40Z; before that add" in waiting
    ended = tell_story([stored(detail=runs), outcome(outcome="unknown", detail="{}")])
    assert "audit resolve" in ended
    assert "--gate-is-gone" not in ended
    changed = tell_story([stored(time="yesterday")])
    assert "  CHAIN_BROKEN: what is recorded of " in changed


def test_what_custody_keeps_beside_the_answer_can_be_revealed_too() -> None:
    event = outcome(outcome="failure", detail='{"custody": {"diagnostics": "blob-d"}}')
    story = tell_story([event], folder="ops/contracts")
    assert "           diagnostics kept as blob-d\n" in story
    assert story.endswith("  sluicegate audit reveal blob-d --reason TEXT --folder ops/contracts\n")


def test_more_findings_than_fit_are_counted() -> None:
    findings = json.dumps([{"code": "MISSING", "pointer": f"/{number}"} for number in range(8)])
    story = tell_story([outcome(outcome="failure", findings=findings)])
    assert "MISSING at /4" in story
    assert "MISSING at /5" not in story
    assert "… and 3 more: sluicegate audit show 019aaaaa" in story


def test_a_column_that_is_no_json_does_not_stop_the_story() -> None:
    story = tell_story([outcome(findings="{", masked="x", detail="[1]")])
    assert story.splitlines()[-1].startswith("03:00:00   outcome attempt 1")


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_hostile_text_of_the_record_is_acted_on(name: str) -> None:
    event = outcome(
        request_id=name,
        tool=name,
        caller_subject=name,
        caller_tenant=name,
        session=name,
        call_id=name,
        endpoint=name,
        upstream_status=name,
        decision_id=name,
        stage=name,
        code=name,
        agent_code=name,
        raw_ref=name,
        raw_bytes=1,
        trace_id=name,
        contract_digest=name,
        findings=json.dumps([{"code": name, "pointer": name, "hint": name, "expected": name}]),
        masked=json.dumps([name]),
        detail=json.dumps({name: name, "list": [name]}),
    )
    story = tell_story([event, stored(endpoint=name, decision_id=name, kind=name)])
    assert all(character.isprintable() or character == "\n" for character in story), story
    assert not any(line.lstrip().startswith("::") for line in story.splitlines())
    assert "##[" not in story


@pytest.mark.requirement("CLI")
def test_a_success_asks_nothing_of_the_operator() -> None:
    done = outcome(outcome="success", raw_bytes=9, raw_ref="blob-r")
    story = tell_story([INTENT, done])
    assert "what to do" not in story
    assert "blob-r" in story


@pytest.mark.requirement("CLI")
def test_where_a_text_ends_to_be_json_is_told() -> None:
    findings = [{"code": "NOT_JSON", "line": 3, "column": 7}, {"code": "NOT_UTF8", "offset": 17}]
    refused = stored(
        kind="refused",
        outcome="refused",
        stage="parse",
        code="NOT_JSON",
        findings=json.dumps(findings),
    )
    story = tell_story([refused])
    assert "NOT_JSON, line 3 column 7\n" in story
    assert "NOT_UTF8, byte 17\n" in story


@pytest.mark.requirement("CLI", "ACC-1")
def test_a_denial_names_its_decision() -> None:
    refused = stored(
        kind="refused", outcome="refused", stage="authorize", code="DENIED", decision_id="d-7"
    )
    assert "denied by decision d-7\n" in tell_story([refused])


def test_an_act_is_told_with_who_did_it_and_why() -> None:
    act = stored(
        kind="operator",
        outcome="done",
        attempt=0,
        caller_subject="os:olga",
        detail='{"act": "disable", "reason": "slow"}',
    )
    assert tell_story([act]) == (
        "req.J7q94MkP  job_status@1.0.0  operator\n"
        "contract   sha256:ab\n"
        "\n"
        "2026-11-30 UTC\n"
        "03:00:00   operator disable by os:olga\n"
        "           reason: slow\n"
    )


def test_a_set_that_did_not_load_names_each_problem_and_nothing_empty() -> None:
    detail = {
        "set": "kept",
        "tools": {"job_status": "sha256:ab"},
        "withdrawn": {},
        "problems": ["a.yaml:1:1: no", "b.yaml:2:2: nor this"],
    }
    kept = stored(kind="contracts", outcome="refused", attempt=0, detail=json.dumps(detail))
    assert tell_story([kept]).splitlines()[4:] == [
        "03:00:00   contracts",
        "           set: kept",
        "           tools: job_status (sha256:ab)",
        "           problem: a.yaml:1:1: no",
        "           problem: b.yaml:2:2: nor this",
    ]


@pytest.mark.requirement("ACC-4")
def test_a_key_is_told_with_its_times_and_nested_facts_as_text() -> None:
    reserved = '{"reserved": {"key": "79", "runs": "T1", "until": "T2"}}'
    assert "           holds key 79 until T2; may run until T1\n" in tell_story(
        [stored(detail=reserved)]
    )
    without = '{"reserved": {"key": "79", "until": "T2"}}'
    assert "           holds key 79 until T2\n" in tell_story([stored(detail=without)])
    nested = '{"fingerprints": {"sha256:a": {"language": "sha256:b", "text": "sha256:c"}}}'
    said = "fingerprints: sha256:a (language sha256:b, text sha256:c)"
    assert f"           {said}\n" in tell_story([stored(detail=nested)])
