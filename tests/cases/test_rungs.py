"""One input for each rung that this rung alone refuses: taking any rung out turns a test red."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import Contract
from sluicegate.gates.call_gate import CallLadder, Prepared
from sluicegate.gates.judging import judge
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.gates.verdicts import Question
from sluicegate.testing import NOON, contracts_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.limits import Limits
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

CALLER = Caller(subject="svc")
REQUEST_ID = RequestId("req.rungs0001")
PLACE = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "maxLength": 400},
        "state": {"enum": ["up", "down"]},
    },
    "required": ["id", "state"],
    "additionalProperties": False,
}


def contract(upstream: Mapping[str, Any]) -> Contract:
    document = {
        "sluicegate": 1,
        "tool": "place",
        "version": "1.0.0",
        "owner": "tests",
        "description": "One place.",
        "effect": "read",
        "arguments": {
            "schema": {
                "type": "object",
                "properties": {"id": {"type": "string", "maxLength": 400}},
                "required": ["id"],
                "additionalProperties": False,
            }
        },
        "fetch": {"host": {}},
        "limits": {"max_call_bytes": 200, "max_bytes": 300, "max_depth": 4},
        "upstream": upstream,
        "result": {"schema": PLACE, "bind": {"/id": "/id"}, "agent": ["/state"]},
        "errors": {"GONE": {"retryable": False}},
    }
    return contracts_of({"place/contract.json": json.dumps(document)}).contracts["place"]


def refuse_odd(arguments: object, *, caller: Caller) -> list[Finding]:
    odd = isinstance(arguments, Mapping) and arguments["id"] == "odd"
    return [Finding(code=Code.CHECK_FAILED, pointer="/id")] if odd else []


CALLS = {
    "bound": (b'{"id": "%b"}' % (b"a" * 300), "bound", "TOO_LARGE"),
    "parse": (b'{"id": "a", "id": "a"}', "parse", "DUPLICATE_MEMBER"),
    "conform": (b'{"id": 1}', "conform", "TYPE"),
    "check": (b'{"id": "odd"}', "check", "CHECK_FAILED"),
}


@pytest.mark.requirement("ARG-1", "ARG-2", "ARG-3", "ARG-6")
@pytest.mark.parametrize("rung", CALLS)
def test_each_rung_of_the_call_ladder_refuses_what_it_alone_sees(rung: str) -> None:
    raw, stage, code = CALLS[rung]
    ladder = CallLadder(contract({}), [refuse_odd])
    refused = ladder.climb(raw, CALLER)
    assert isinstance(refused, Rejected)
    assert (refused.stage, refused.code) == (stage, code)
    assert isinstance(ladder.climb(b'{"id": "a"}', CALLER), Prepared)


MAPPED = {
    "map": {"id": "/key", "state": {"at": "/status", "values": {"1": "up", "0": "down"}}},
}
ENVELOPE = {"tool": "place", "request_id": REQUEST_ID, "outcome": "success"}
GOOD: dict[str, tuple[dict[str, Any], object]] = {
    "bare": ({}, {"id": "a", "state": "up"}),
    "mapped": (MAPPED, {"key": "a", "status": "1", "more": [1]}),
    "envelope": ({"envelope": True}, {**ENVELOPE, "data": {"id": "a", "state": "up"}}),
}
RESULTS: dict[str, tuple[str, object, dict[str, Any], tuple[str, str]]] = {
    "fetch": ("bare", GOOD["bare"][1], {"status": 418}, ("fetch", "UPSTREAM_STATUS")),
    "bound": ("bare", {"id": "a" * 300, "state": "up"}, {}, ("bound", "TOO_LARGE")),
    "bound, nesting": ("mapped", {"more": [[[[1]]]]}, {}, ("bound", "TOO_DEEP")),
    "parse": ("mapped", b'{"key":"a","status":"1","x":1,"x":1}', {}, ("parse", "DUPLICATE_MEMBER")),
    "parse, infinite": (
        "mapped",
        b'{"key":"a","status":"1","x":1e400}',
        {},
        ("parse", "NON_FINITE_NUMBER"),
    ),
    "unwrap": (
        "envelope",
        {**ENVELOPE, "data": {"id": "a", "state": "up"}, "more": 1},
        {},
        ("unwrap", "ENVELOPE"),
    ),
    "narrow": ("mapped", {"key": "a"}, {}, ("narrow", "NOT_FOUND_AT")),
    "narrow, table": ("mapped", {"key": "a", "status": "2"}, {}, ("narrow", "UNMAPPED_VALUE")),
    "conform": ("bare", {"id": "a", "state": "gone"}, {}, ("conform", "ENUM")),
    "vouch, subject": ("bare", {"id": "b", "state": "up"}, {}, ("vouch", "WRONG_SUBJECT")),
    "vouch, request": (
        "envelope",
        {**ENVELOPE, "request_id": "req.another01", "data": {"id": "a", "state": "up"}},
        {},
        ("vouch", "WRONG_REQUEST"),
    ),
}


def climb(carrier: str, document: object, **members: Any) -> Selected | Rejected:
    raw = document if isinstance(document, bytes) else json.dumps(document).encode()
    told = {"status": 200, "content_type": "application/json", **members}
    receipt = Receipt(adapter="a", adapter_version="1", endpoint="e", raw=raw, **told)
    arguments = {"id": "a"}
    request = Request(tool="place", request_id=REQUEST_ID, arguments=arguments, caller=CALLER)
    return ResultLadder(contract(GOOD[carrier][0])).climb(receipt, request, NOON)


@pytest.mark.requirement("RES-1", "RES-2", "RES-3", "RES-4", "RES-5", "RES-10", "ENV-3")
@pytest.mark.parametrize("rung", RESULTS)
def test_each_rung_of_the_result_ladder_refuses_what_it_alone_sees(rung: str) -> None:
    carrier, document, members, expected = RESULTS[rung]
    refused = climb(carrier, document, **members)
    assert isinstance(refused, Rejected)
    assert (refused.stage, refused.code) == expected


@pytest.mark.requirement("RES-7", "RES-3")
@pytest.mark.parametrize("carrier", GOOD)
def test_the_last_rung_leaves_the_selected_fields_alone(carrier: str) -> None:
    selected = climb(carrier, GOOD[carrier][1])
    assert not isinstance(selected, Rejected)
    assert selected[0] == {"state": "up"}


@pytest.mark.requirement("ARG-1", "RES-1")
@pytest.mark.parametrize("side", ["arguments", "result"])
def test_judge_climbs_the_bounds_on_both_sides(side: Any) -> None:
    limits = Limits(max_bytes=20, max_depth=2)
    large, deep = b'"%b"' % (b"a" * 20), b"[[[]]]"
    question = Question(schema={}, side=side, limits=limits)
    codes = [judge(raw, question).code for raw in (large, deep, b"[[]]")]
    assert codes == ["TOO_LARGE", "TOO_DEEP", None]
