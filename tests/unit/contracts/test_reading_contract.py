"""The head of a contract and what stands beside its sides: each rule is told at its place."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import (
    DESTRUCTIVE,
    HTTP,
    assert_refused,
    contract,
)

from sluicegate.contracts.contract import (
    BindRule,
    CacheRule,
    EvidenceWaiver,
    RetryRule,
)
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import Pointer


def p(text: str) -> Pointer:
    return Pointer.parse(text)


# changes, the pointer of the one problem, a word of its message
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    # shape
    "unknown key": ({"retries": 1}, "/retries", "not a key"),
    "another format": ({"sluicegate": 2}, "/sluicegate", "1"),
    "no owner": ({"owner": ...}, "", "`owner` is missing"),
    "no result": ({"result": ...}, "", "`result` is missing"),
    "number for text": ({"description": 5}, "/description", "must be text"),
    "blank description": ({"description": " "}, "/description", "characters"),
    "version of two parts": ({"version": "1.0"}, "/version", "semantic"),
    "version with leading zero": ({"version": "01.0.0"}, "/version", "semantic"),
    "unknown effect": ({"effect": "reed"}, "/effect", "one of"),
    "list for mapping": ({"limits": []}, "/limits", "a mapping"),
    # tool names
    "tool name of a folder": ({"tool": ".."}, "/tool", "not a name"),
    "tool name with a blank": ({"tool": "job status"}, "/tool", "not a name"),
    "tool name too long": ({"tool": "x" * 129}, "/tool", "129"),
    "tool name empty": ({"tool": ""}, "/tool", "not a name"),
    # what later parts bring
    "mcp fetch": ({"fetch": {"mcp": {}}}, "/fetch/mcp", "not served"),
    # limits
    "above the ceiling": ({"limits": {"max_bytes": 262_145}}, "/limits/max_bytes", "ceiling"),
    "deeper than the ceiling": ({"limits": {"max_depth": 33}}, "/limits/max_depth", "ceiling"),
    # errors, retry, evidence, mask
    "code in small letters": (
        {"errors.not_found": {"retryable": True}},
        "/errors/not_found",
        "code",
    ),
    "the gate's own code": ({"errors.DENIED": {"retryable": True}}, "/errors/DENIED", "own code"),
    "an outcome as code": (
        {"errors.OUTCOME_UNKNOWN": {"retryable": True}},
        "/errors/OUTCOME_UNKNOWN",
        "own code",
    ),
    "retryable or not": ({"errors.OTHER": {}}, "/errors/OTHER", "`retryable` is missing"),
    "retry on an unknown code": (
        {
            "fetch": {"http": HTTP},
            "retry": {"attempts": 2, "budget_s": 5, "on": ["NOT_FOND"]},
        },
        "/retry/on/0",
        "none of",
    ),
    "retry of a refused write": (
        {
            "effect": "write",
            "fetch": {"http": HTTP},
            "retry": {"attempts": 2, "budget_s": 5, "on": ["INVALID_RESPONSE"]},
        },
        "/retry/on/0",
        "read",
    ),
    "retry of a refused read, twice": (
        {
            "fetch": {"http": HTTP},
            "retry": {"attempts": 3, "budget_s": 5, "on": ["INVALID_RESPONSE"]},
        },
        "/retry/on/0",
        "at most once",
    ),
    "retry of what the host fetches": (
        {"retry": {"attempts": 2, "budget_s": 5, "on": ["UPSTREAM_UNAVAILABLE"]}},
        "/retry/attempts",
        "the host fetches for itself",
    ),
    "codes to retry on in one attempt": (
        {"retry": {"attempts": 1, "budget_s": 5, "on": ["UPSTREAM_UNAVAILABLE"]}},
        "/retry/on",
        "one attempt",
    ),
    "no attempts": ({"retry": {"attempts": 0, "budget_s": 5, "on": []}}, "/retry/attempts", "1"),
    "destructive without evidence": ({"effect": "destructive"}, "/effect", "evidence"),
    "waiver without a day": (
        {**DESTRUCTIVE, "evidence": {"none": "why"}},
        "/evidence",
        "`until` is missing",
    ),
    "waiver until never": (
        {**DESTRUCTIVE, "evidence": {"none": "why", "until": "2027-13-01"}},
        "/evidence/until",
        "day",
    ),
    "waiver of a read": ({"evidence": DESTRUCTIVE["evidence"]}, "/evidence", "destructive"),
    "mask nowhere": ({"mask": {"arguments": ["/secret"]}}, "/mask/arguments/0", "leads to nothing"),
    "mask of the data": ({"mask": {"result": ["/run_id"]}}, "/mask/result/0", "leads to nothing"),
}


@pytest.mark.requirement("CON-1", "CON-2", "RET-2", "EVI-3")
@pytest.mark.parametrize("case", REFUSED)
def test_each_broken_rule_is_told_at_its_place_and_alone(case: str) -> None:
    assert_refused(*REFUSED[case])


def test_what_is_exactly_at_the_edge_loads() -> None:
    found = contract(
        {
            "result.fresh": {"at": "/observed_at", "max_age_s": 60},
            "fetch": {"http": HTTP, "cache": {"ttl_s": 60}},
            "retry": {"attempts": 1, "budget_s": 2, "on": []},
        }
    )
    assert (found.cache, found.retry) == (CacheRule(ttl_s=60), RetryRule(budget_s=2))


def test_the_rest_of_a_contract_is_read() -> None:
    found = contract(
        {
            **DESTRUCTIVE,
            "title": "Job status",
            "arguments.on_absent": {"/limit": 20},
            "arguments.integers": "i-json",
            "result.integers": "i-json",
            "result.bind": {"/project_id": {"caller": "tenant"}},
            "result.untrusted_text": {"note": "/note"},
            "result.display": ["/observed_at"],
            "mask": {"arguments": ["/labels/*"], "result": ["/note"]},
            "limits": {"max_call_bytes": 100, "max_bytes": 200, "max_depth": 3},
        }
    )
    assert found.title == "Job status"
    assert found.evidence_waiver == EvidenceWaiver(reason="why", until="2027-01-31")
    assert found.arguments.on_absent == {p("/limit"): 20}
    assert (found.arguments.integers, found.result.integers) == ("i-json", "i-json")
    assert found.result.bind == (BindRule(data=p("/project_id"), caller="tenant"),)
    assert found.result.untrusted_text == {"note": p("/note")}
    assert found.result.display == (p("/observed_at"),)
    assert (found.masked_arguments, found.masked_data) == ((p("/labels/*"),), (p("/note"),))
    assert found.call_limits == Limits(max_bytes=100, max_depth=3)
    assert found.limits == Limits(max_bytes=200, max_depth=3)


def test_limits_come_from_the_folder_where_a_contract_has_none() -> None:
    found = contract({}, settings={"limits": {"max_bytes": 1000, "max_depth": 5}})
    assert found.limits == Limits(max_bytes=1000, max_depth=5)
    assert found.call_limits == Limits(max_bytes=65_536, max_depth=5)
