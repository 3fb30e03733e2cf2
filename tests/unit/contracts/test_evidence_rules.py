"""What an action rests on is proven over the folder: the tool, its pointers, its values exist."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.gates.restart import PROOF, STATUS, folder

from sluicegate.contracts.evidence import judge_evidence, mark_witnesses
from sluicegate.contracts.served import Offer
from sluicegate.contracts.settings import WHOLE_SHARE, ServeRow
from sluicegate.errors import ContractFolderError

pytestmark = pytest.mark.requirement("EVI-1", "CON-2")


def without(*path: str) -> dict[str, Any]:
    """The contract of the witness without one of its keys."""
    status = deepcopy(STATUS)
    inner = status
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return status


def with_result(**parts: Any) -> dict[str, Any]:
    return {**STATUS, "result": {**STATUS["result"], **parts}}


def test_a_proof_that_can_be_found_is_no_problem() -> None:
    assert judge_evidence(folder(evidence=[PROOF, {**PROOF, "refetch": True}])) == ()


# case → (change of the proof, the witness, pointer, a word of the message)
BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "no such tool": ({"tool": "job_state"}, {}, "/tool", "named job_state"),
    "a tool that acts": ({}, {"effect": "write"}, "/tool", "no read"),
    "a tool that caches": (
        {},
        {"fetch": {**STATUS["fetch"], "cache": {"ttl_s": 5, "max_entries": 9}}},
        "/tool",
        "cache",
    ),
    "a tool that bears no time": ({}, without("result", "fresh"), "/tool", "how old"),
    "a time that is not selected": (
        {},
        with_result(agent=["/project_id", "/run_id", "/state"]),
        "/tool",
        "how old",
    ),
    "data that is not there": (
        {"bind": {"/project": "/project_id"}},
        {},
        "/bind/~1project",
        "leads to nothing",
    ),
    "data that is not selected": (
        {},
        with_result(agent=["/project_id", "/state", "/observed_at"]),
        "/bind/~1run_id",
        "nothing else is kept",
    ),
    "data that is masked": (
        {},
        {"mask": {"result": ["/run_id"]}},
        "/bind/~1run_id",
        "mask no part",
    ),
    "a state that is not there": ({"where": {"/status": 1}}, {}, "/where/~1status", "nothing"),
    "a state that never is": ({"where": {"/state": "done"}}, {}, "/where/~1state", "never has"),
    "data of another type": (
        {"bind": {"/state": "/project_id", "/observed_at": "/project_id", "/run_id": "/run_id"}},
        with_result(
            schema={
                **STATUS["result"]["schema"],
                "properties": {
                    **STATUS["result"]["schema"]["properties"],
                    "state": {"type": "integer", "minimum": 0, "maximum": 3},
                },
            }
        ),
        "/bind/~1state",
        "never equal",
    ),
    "a refetch of what nobody knows": (
        {"refetch": True, "bind": {"/project_id": "/project_id"}},
        {},
        "/refetch",
        "run_id",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_proof_that_can_never_be_found_is_told_at_its_place(case: str) -> None:
    change, status, pointer, word = BROKEN[case]
    problems = judge_evidence(folder(status=status, evidence=[{**PROOF, **change}]))
    told = {problem.pointer: f"{problem.message} {problem.mend}" for problem in problems}
    assert f"/evidence/0{pointer}" in told
    assert word in told[f"/evidence/0{pointer}"]
    assert {problem.document for problem in problems} == {"job_restart/contract.json"}


# case → (change of the proof, whether the place is that of the value, the mend)
MENDED: dict[str, tuple[dict[str, Any], bool, str]] = {
    "a tool of nearly this name": ({"tool": "job_stats"}, True, "Did you mean `job_status`?"),
    "a tool like no other": ({"tool": "deploy"}, True, "Name one that is."),
    "the acting tool, misspelt": ({"tool": "job_restrt"}, True, "Did you mean `job_status`?"),
    "a place of nearly this name": (
        {"bind": {"/run_i": "/run_id"}},
        False,
        "Did you mean `/run_id`?",
    ),
    "a place of nearly this name, where the gate asks itself": (
        {"bind": {"/run_i": "/run_id", "/project_id": "/project_id"}, "refetch": True},
        False,
        "Did you mean `/run_id`?",
    ),
    "a value that is not listed": (
        {"where": {"/state": "fail"}},
        True,
        "Write one of running, succeeded, failed.",
    ),
    "a value where none are listed": (
        {"where": {"/project_id": 5}},
        True,
        "Write one that its `result.schema` admits there.",
    ),
}


@pytest.mark.parametrize("case", MENDED)
def test_what_is_wrong_in_a_proof_is_told_with_what_would_be_right(case: str) -> None:
    change, at_value, mend = MENDED[case]
    (problem,) = judge_evidence(folder(evidence=[{**PROOF, **change}]))
    assert (problem.at_value, problem.mend) == (at_value, mend)
    assert "fail" not in problem.message.replace("failed", "")


# case → (members of the acting contract, pointer, a word)
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no proof": ({"evidence": []}, "/evidence", "lists 0"),
    "a proof about nothing": ({"evidence": [{**PROOF, "bind": {}}]}, "/evidence/0/bind", "subject"),
    "an argument that is not there": (
        {"evidence": [{**PROOF, "bind": {"/run_id": "/run"}}]},
        "/evidence/0/bind/~1run_id",
        "leads to nothing",
    ),
    "an age without end": (
        {"evidence": [{**PROOF, "max_age_s": 90_000}]},
        "/evidence/0/max_age_s",
        "86,400",
    ),
    "a proof twice": ({"evidence": [PROOF, PROOF]}, "/evidence/1", "twice"),
    "an unknown key": (
        {"evidence": [{**PROOF, "token": "/t"}]},
        "/evidence/0/token",
        "token",
    ),
    "a destructive tool that never asks again": (
        {"effect": "destructive", "evidence": [PROOF]},
        "/evidence",
        "taken again",
    ),
    "a key of nobody": ({"idempotency": {"key": "agent", "keep_s": 5}}, "/idempotency/key", "host"),
    "a time with a unit": (
        {"idempotency": {"key": "host", "keep_s": "1d"}},
        "/idempotency/keep_s",
        "a number of seconds above 0 and up to 2,592,000",
    ),
    "a key without time": ({"idempotency": {"key": "host"}}, "/idempotency", "keep_s"),
    "a key beside a mask": (
        {"idempotency": {"key": "host", "keep_s": 5}, "mask": {"result": ["/restarted"]}},
        "/idempotency",
        "masked",
    ),
    "a quota of nothing": (
        {"limits": {"quotas": [{"count": 0, "window_s": 1}]}},
        "/limits/quotas/0/count",
        "1",
    ),
    "a quota of another tool": (
        {"limits": {"quotas": [{"per": ["tool"], "count": 1, "window_s": 1}]}},
        "/limits/quotas/0/per/0",
        "an item of `per` must be one of caller",
    ),
    "a quota twice": (
        {"limits": {"quotas": [{"count": 1, "window_s": 1}] * 2}},
        "/limits/quotas/1",
        "twice",
    ),
}


@pytest.mark.requirement("ACC-3", "ACC-4", "EVI-3")
@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_in_one_contract_is_told_there(case: str) -> None:
    members, pointer, word = REFUSED[case]
    with pytest.raises(ContractFolderError) as refused:
        folder(**members)
    (problem,) = refused.value.problems
    assert problem.pointer == pointer
    assert word in f"{problem.message} {problem.mend}"
    assert problem.line is not None


def test_a_proof_is_held_to_every_version_of_its_tool_that_is_served() -> None:
    served = folder(evidence=[PROOF])
    old = folder(status={**STATUS, "effect": "write", "version": "0.9.0"})
    offers = tuple(
        Offer(row=ServeRow(version=version, share=WHOLE_SHARE // 2), contract=contract)
        for version, contract in (
            ("current", served.contracts["job_status"]),
            ("0.9.0", old.contracts["job_status"]),
        )
    )
    (problem,) = judge_evidence(replace(served, rollouts={"job_status": offers}))
    assert problem.pointer == "/evidence/0/tool"
    assert problem.message == "job_status is no read: asking would act (version 0.9.0)."


@pytest.mark.requirement("EVI-3")
def test_a_destructive_tool_that_asks_again_loads_without_a_waiver() -> None:
    served = folder(effect="destructive", evidence=[{**PROOF, "refetch": True}])
    assert served.contracts["job_restart"].evidence_waiver is None


@pytest.mark.requirement("ACC-4")
def test_a_read_needs_no_key_and_asks_for_no_proof() -> None:
    for members in ({"idempotency": {"key": "host", "keep_s": 5}}, {"evidence": [PROOF]}):
        with pytest.raises(ContractFolderError, match="read"):
            folder(effect="read", **members)


@pytest.mark.requirement("RES-3")
@pytest.mark.parametrize(
    ("written", "evidence", "on_new"),
    [(None, [PROOF], "refuse"), ("notify", [PROOF], "notify"), (None, None, "notify")],
    ids=["used as evidence", "unless it says otherwise", "not used"],
)
def test_a_tool_that_is_used_as_evidence_refuses_members_it_never_sent(
    written: str | None, evidence: list[Any] | None, on_new: str
) -> None:
    upstream: dict[str, Any] = {"known": ["/project_id"]}
    if written is not None:
        upstream["on_new"] = written
    acting = {} if evidence is None else {"evidence": evidence}
    served = folder(status={**STATUS, "upstream": upstream}, **acting)
    marked = mark_witnesses(served).contracts["job_status"]
    assert marked.upstream.on_new == on_new
