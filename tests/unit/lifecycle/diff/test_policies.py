"""Changes beside the schemas: each rule of a contract has its kind, its side and its bump."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.lifecycle.diff.comparison import ToolDiff, compare_contracts, judge
from sluicegate.lifecycle.diff.containment import prove

pytestmark = pytest.mark.requirement("LIF-3")

TEXT = {"type": "string", "pattern": "^[a-z]{1,9}$"}
BASE: dict[str, Any] = {
    "sluicegate": 1,
    "tool": "job_status",
    "version": "1.0.0",
    "owner": "ci",
    "description": "State of a run.",
    "effect": "read",
    "arguments": {
        "schema": {
            "type": "object",
            "properties": {"id": TEXT, "other": TEXT},
            "required": ["id", "other"],
            "additionalProperties": False,
        },
        "checks": ["acme.checks:one"],
        "resource": [{"type": "run", "id": "/id"}],
    },
    "fetch": {"http": {"method": "GET", "url": "https://ci.example/{/id}", "timeout_s": 5}},
    "limits": {"max_bytes": 4096, "max_depth": 8},
    "upstream": {
        "status": {"404": "NOT_FOUND"},
        "map": {"id": "/id", "state": "/status", "at": "/at"},
    },
    "result": {
        "schema": {
            "type": "object",
            "properties": {
                "id": TEXT,
                "state": TEXT,
                "at": {"type": "string", "format": "date-time", "maxLength": 40},
                "note": TEXT,
            },
            "required": ["id", "state", "at"],
            "additionalProperties": False,
        },
        "bind": {"/id": "/id"},
        "fresh": {"at": "/at", "max_age_s": 60, "max_ahead_s": 5},
        "checks": ["acme.checks:one", "acme.checks:two"],
        "agent": ["/id", "/state", "/note"],
    },
    "errors": {"NOT_FOUND": {"retryable": False}, "LOCKED": {"retryable": True}},
    "retry": {"attempts": 2, "budget_s": 10, "on": ["LOCKED"]},
}


def contract(*edits: tuple[str, Any]) -> Contract:
    """The base with each place set to a value, or taken out where the value is None."""
    document = copy.deepcopy(BASE)
    for place, value in edits:
        *way, last = place.split(".")
        holder = document
        for name in way:
            holder = holder[name]
        if value is None:
            del holder[last]
        else:
            holder[last] = value
    found = load_one(document)
    assert isinstance(found, Contract), [str(one) for one in found]
    return found


def load_one(document: Any) -> Contract | tuple[Problem, ...]:
    settings = b'python: ["acme."]\n'
    loaded = load(
        {"sluicegate.yaml": settings, "job/contract.json": json.dumps(document).encode()},
        resolve=lambda name: lambda: name,
    )
    return loaded.contracts["job_status"] if isinstance(loaded, ContractSet) else loaded


def compared(old: Contract, new: Contract) -> ToolDiff:
    comparison = compare_contracts(old, new)
    return judge(
        comparison, [prove(part.old, part.new, part.assumed) for part in comparison.unproven]
    )


def told(found: ToolDiff) -> list[tuple[str, str, str, bool]]:
    return [(one.kind, one.role, str(one.bump), one.needs_replay) for one in found.changes]


WRITE = (("effect", "write"),)

CASES: list[tuple[str, list[tuple[str, Any]], list[tuple[str, str, str, bool]]]] = [
    ("owner", [("owner", "build")], [("owner-changed", "tool", "patch", False)]),
    ("text", [("description", "Other.")], [("tool-text-changed", "tool", "minor", False)]),
    ("effect", [*WRITE], [("effect-changed", "tool", "major", False)]),
    (
        "resource",
        [("arguments.resource", [{"type": "run", "id": "/other"}])],
        [("resource-changed", "arguments", "major", False)],
    ),
    (
        "check of arguments gone",
        [("arguments.checks", [])],
        [("check-removed", "arguments", "major", False)],
    ),
    (
        "check of the result new",
        [("result.checks", ["acme.checks:one", "acme.checks:two", "acme.checks:three"])],
        [("check-added", "result", "minor", True)],
    ),
    (
        "integers",
        [("result.integers", "i-json")],
        [("integers-narrowed", "result", "minor", True)],
    ),
    (
        "limits",
        [("limits", {"max_bytes": 2048, "max_depth": 9})],
        [
            ("limit-raised", "arguments", "minor", False),
            ("limit-lowered", "result", "minor", True),
            ("limit-raised", "result", "minor", False),
        ],
    ),
    (
        "call limit",
        [("limits.max_call_bytes", 1024)],
        [("limit-lowered", "arguments", "major", False)],
    ),
    (
        "endpoint",
        [("fetch.http.url", "https://ci.example/v2/{/id}")],
        [("endpoint-changed", "result", "minor", True)],
    ),
    (
        "another way to fetch",
        [
            ("fetch", {"python": {"function": "acme.jobs:state", "timeout_s": 5}}),
            ("upstream.status", None),
        ],
        [
            ("endpoint-changed", "result", "minor", True),
            ("mapping-changed", "result", "minor", True),
        ],
    ),
    (
        "mapping",
        [("upstream.map.state", "/state")],
        [("mapping-changed", "result", "minor", True)],
    ),
    (
        "cache",
        [("fetch.cache", {"ttl_s": 5})],
        [("cache-changed", "result", "minor", False)],
    ),
    (
        "binding elsewhere",
        [("result.bind", {"/id": "/other"})],
        [("binding-changed", "result", "major", False)],
    ),
    ("no binding", [("result.bind", None)], [("check-removed", "result", "major", False)]),
    (
        "older data",
        [("result.fresh.max_age_s", 90)],
        [("freshness-widened", "result", "major", False)],
    ),
    (
        "younger data",
        [("result.fresh.max_age_s", 30)],
        [("freshness-narrowed", "result", "minor", True)],
    ),
    ("no freshness", [("result.fresh", None)], [("check-removed", "result", "major", False)]),
    (
        "error new",
        [("errors.GONE", {"retryable": False})],
        [("error-added", "result", "major", False)],
    ),
    (
        "error retryable",
        [("errors.NOT_FOUND", {"retryable": True})],
        [("error-retryable-changed", "result", "major", False)],
    ),
    (
        "retry more",
        [("retry.attempts", 3)],
        [("retry-extended", "arguments", "minor", False)],
    ),
    (
        "retry less",
        [("retry.budget_s", 5)],
        [("retry-reduced", "arguments", "minor", False)],
    ),
    (
        "optional field of the agent gone",
        [("result.agent", ["/id", "/state"])],
        [("optional-selected-field-removed", "result", "minor", False)],
    ),
    (
        "field of the agent gone",
        [("result.agent", ["/id", "/note"])],
        [("selected-field-removed", "result", "major", False)],
    ),
    (
        "field for the operator",
        [("result.operator", ["/at"])],
        [("host-fields-changed", "result", "minor", False)],
    ),
    (
        "mask",
        [("mask", {"arguments": ["/other"]})],
        [("mask-changed", "arguments", "minor", False)],
    ),
    ("checks in another order", [("result.checks", ["acme.checks:two", "acme.checks:one"])], []),
    (
        "agent in another order",
        [("result.agent", ["/state", "/note", "/id"])],
        [("rewritten", "result", "patch", False)],
    ),
    ("only the version", [("version", "1.0.1")], []),
]


@pytest.mark.parametrize(("edits", "expected"), [pytest.param(*c[1:], id=c[0]) for c in CASES])
def test_a_rule_that_changed_has_its_kind_and_side(edits: list[Any], expected: list[Any]) -> None:
    assert told(compared(contract(), contract(*edits))) == expected


def test_an_error_that_is_gone_needs_a_replay() -> None:
    old, new = contract(("errors.GONE", {"retryable": False})), contract()
    assert told(compared(old, new)) == [("error-removed", "result", "minor", True)]


def test_more_attempts_of_a_write_without_a_key_break() -> None:
    found = compared(contract(*WRITE), contract(*WRITE, ("retry.attempts", 3)))
    assert told(found) == [("retry-extended-for-writes", "arguments", "major", False)]


def test_a_field_that_is_new_and_selected_is_told_once() -> None:
    properties = {**BASE["result"]["schema"]["properties"], "log": TEXT}
    new = contract(
        ("result.schema.properties", properties),
        ("result.schema.required", ["id", "state", "at", "log"]),
        ("result.agent", ["/id", "/state", "/note", "/log"]),
        ("upstream.map.log", "/log"),
    )
    assert [one.kind for one in compared(contract(), new).changes] == [
        "mapping-changed",
        "selected-field-added",
    ]


def test_a_new_optional_field_that_is_not_selected_is_no_break() -> None:
    properties = {**BASE["result"]["schema"]["properties"], "log": TEXT}
    found = compared(contract(), contract(("result.schema.properties", properties)))
    assert told(found) == [("unselected-data-changed", "result", "minor", False)]


LABEL = {"type": "string", "pattern": "^[a-z]*$", "maxLength": 50}


@pytest.mark.parametrize(
    "member",
    [
        pytest.param(
            {
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/label"},
                "propertyNames": {"maxLength": 9, "pattern": "^[a-z]*$"},
                "maxProperties": 3,
            },
            id="members of a map",
        ),
        pytest.param(
            {
                "type": "array",
                "maxItems": 3,
                "items": LABEL,
                "contains": {"$ref": "#/$defs/label"},
            },
            id="contains",
        ),
        pytest.param({**LABEL, "not": {"$ref": "#/$defs/label"}}, id="not"),
    ],
)
def test_what_stands_behind_a_reference_in_data_that_is_not_selected_is_told(member: Any) -> None:
    def version(longest: int) -> Contract:
        label = {"type": "string", "pattern": "^[a-z]*$", "maxLength": longest}
        properties = {**BASE["result"]["schema"]["properties"], "labels": member}
        return contract(
            ("result.schema.properties", properties), ("result.schema.$defs", {"label": label})
        )

    (change,) = compared(version(50), version(5)).changes
    assert (change.kind, str(change.bump)) == ("unselected-data-changed", "minor")
    assert change.pointer.startswith("/result/schema/properties/labels")


def test_a_field_beside_one_that_the_agent_sees_and_with_the_same_change_is_told() -> None:
    shorter = {"type": "string", "pattern": "^[a-z]{1,9}$", "maxLength": 5}
    old = {**BASE["result"]["schema"]["properties"], "log": TEXT}
    new = {**old, "log": shorter, "note": shorter}
    found = compared(
        contract(("result.schema.properties", old)), contract(("result.schema.properties", new))
    )
    assert [(one.kind, one.pointer) for one in found.changes] == [
        ("bound-tightened", "/result/schema/properties/note/maxLength"),
        ("unselected-data-changed", "/result/schema/properties/log/maxLength"),
    ]
