"""Arguments and result of a contract: each rule is told at its place."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import (
    assert_refused,
    contract,
)

# changes, the pointer of the one problem, a word of its message
REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    # arguments
    "resource of an optional argument": (
        {"arguments.resource": [{"type": "t", "id": "/limit"}]},
        "/arguments/resource/0/id",
        "optional",
    ),
    "resource nowhere": (
        {"arguments.resource": [{"type": "t", "id": "/projectid"}]},
        "/arguments/resource/0/id",
        "leads to nothing",
    ),
    "pointer without slash": (
        {"arguments.resource": [{"type": "t", "id": "project_id"}]},
        "/arguments/resource/0/id",
        "not a JSON Pointer",
    ),
    "adding what is required": (
        {"arguments.on_absent": {"/project_id": "x"}},
        "/arguments/on_absent/~1project_id",
        "never absent",
    ),
    "adding what does not fit": (
        {"arguments.on_absent": {"/limit": 51}},
        "/arguments/on_absent/~1limit",
        "does not fit",
    ),
    "adding to every item": (
        {"arguments.on_absent": {"/labels/*": "x"}},
        "/arguments/on_absent/~1labels~1*",
        "one place",
    ),
    "adding below what is added": (
        {
            "arguments.schema.properties.o": {
                "type": "object",
                "properties": {"k": {"type": "integer"}},
                "additionalProperties": False,
            },
            "arguments.on_absent": {"/o/k": 3, "/o": {}},
        },
        "/arguments/on_absent/~1o~1k",
        "lies in `/o`",
    ),
    "integers": ({"arguments.integers": "ijson"}, "/arguments/integers", "one of"),
    # result
    "binding an optional argument": (
        {"result.bind": {"/count": "/limit"}},
        "/result/bind/~1count",
        "optional",
    ),
    "binding data that is nowhere": (
        {"result.bind": {"/projectid": "/project_id"}},
        "/result/bind/~1projectid",
        "leads to nothing",
    ),
    "binding to no argument": (
        {"result.bind": {"/project_id": "/nowhere"}},
        "/result/bind/~1project_id",
        "leads to nothing",
    ),
    "binding different types": (
        {"result.bind": {"/count": "/run_id"}},
        "/result/bind/~1count",
        "no type in common",
    ),
    "binding to a caller's name": (
        {"result.bind": {"/project_id": {"caller": "name"}}},
        "/result/bind/~1project_id/caller",
        "one of",
    ),
    "fresh at an optional time": (
        {"result.fresh": {"at": "/seen_at", "max_age_s": 5}},
        "/result/fresh/at",
        "optional",
    ),
    "fresh at no text": (
        {
            "result.fresh": {"at": "/count", "max_age_s": 5},
            "result.schema.required": ["project_id", "state", "observed_at", "count"],
        },
        "/result/fresh/at",
        "no RFC 3339 time",
    ),
    "fresh at a word of a list": (
        {"result.fresh": {"at": "/state", "max_age_s": 5}},
        "/result/fresh/at",
        "never an RFC 3339 time",
    ),
    "fresh at a day": (
        {
            "result.fresh": {"at": "/observed_at", "max_age_s": 5},
            "result.schema.properties.observed_at": {"type": "string", "format": "date"},
        },
        "/result/fresh/at",
        "never an RFC 3339 time",
    ),
    "fresh at a text that is too short": (
        {
            "result.fresh": {"at": "/observed_at", "max_age_s": 5},
            "result.schema.properties.observed_at": {"type": "string", "maxLength": 19},
        },
        "/result/fresh/at",
        "never an RFC 3339 time",
    ),
    "fresh for no time": (
        {"result.fresh": {"at": "/observed_at", "max_age_s": 0}},
        "/result/fresh/max_age_s",
        "above 0",
    ),
    "nothing for the agent": ({"result.agent": []}, "/result", "nothing is selected"),
    "no agent at all": ({"result.agent": ...}, "/result", "nothing is selected"),
    "agent far too deep": (
        {"result.agent": ["/steps" + "/name" * 100]},
        "/result/agent/0",
        "has 101 segments",
    ),
    "agent twice": (
        {"result.agent": ["/state", "/state"]},
        "/result/agent/1",
        "overlap",
    ),
    "agent inside itself": (
        {"result.agent": ["/steps", "/steps/*/name"]},
        "/result/agent/1",
        "overlap",
    ),
    "text without a bound": (
        {
            "result.untrusted_text": {"note": "/note"},
            "result.schema.properties.note": {"type": "string"},
        },
        "/result/untrusted_text/note",
        "without a bound",
    ),
    "text that is none": (
        {"result.untrusted_text": {"count": "/count"}},
        "/result/untrusted_text/count",
        "not always a string",
    ),
    "an extension for the agent": (
        {
            "result.agent": ["/note"],
            "result.schema.properties.note": {
                "type": "object",
                "x-extension": {"name": "acme", "version": "1.0.0"},
            },
        },
        "/result/agent/0",
        "extension",
    ),
    "operator's field for the agent": (
        {"result.operator": ["/state"]},
        "/result/operator/0",
        "overlaps",
    ),
    "operator's field inside the agent's": (
        {"result.agent": ["/steps"], "result.operator": ["/steps/*/name"]},
        "/result/operator/0",
        "overlaps",
    ),
    "operator's field on display": (
        {"result.operator": ["/note"], "result.display": ["/note"]},
        "/result/operator/0",
        "overlaps",
    ),
    "operator's field as text": (
        {"result.operator": ["/note"], "result.untrusted_text": {"note": "/note"}},
        "/result/operator/0",
        "overlaps",
    ),
    "display nowhere": ({"result.display": ["/not"]}, "/result/display/0", "leads to nothing"),
    "text with a bad name": (
        {"result.untrusted_text": {"a b": "/note"}},
        "/result/untrusted_text/a b",
        "no name",
    ),
}


@pytest.mark.requirement("CON-1", "CON-2")
@pytest.mark.parametrize("case", REFUSED)
def test_each_broken_rule_of_a_side_is_told_at_its_place_and_alone(case: str) -> None:
    assert_refused(*REFUSED[case])


@pytest.mark.requirement("CON-2")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 20},
        {"enum": ["never", "2026-01-01T12:00:00Z"]},
        {"const": "1970-01-01T00:00:00Z"},
    ],
    ids=["a text of any form", "a list with a time", "one time"],
)
def test_an_answer_is_fresh_at_what_may_be_a_time(schema: dict[str, Any]) -> None:
    found = contract(
        {
            "result.fresh": {"at": "/observed_at", "max_age_s": 5},
            "result.schema.properties.observed_at": schema,
        }
    )
    assert found.result.fresh is not None
