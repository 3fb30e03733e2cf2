"""C02 and C03: what one schema declares and its neighbour refuses, however they are joined."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.lifecycle.lint.deciding import lint_here

from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.lifecycle.lint.closers import find_refusals
from sluicegate.lifecycle.lint.findings import WORD
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.lint.subject import Subject

pytestmark = pytest.mark.requirement("LIF-1")

SUITES = os.environ.get("SLUICEGATE_SUITES")
S = WORD
AP: dict[str, Any] = {"additionalProperties": False}
UP: dict[str, Any] = {"unevaluatedProperties": False}
A: dict[str, Any] = {"properties": {"a": S}}
B: dict[str, Any] = {"properties": {"b": S}}
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "up in a branch of allOf": ({"allOf": [{**A, **UP}, B]}, "C03"),
    "up in allOf, declared beside": ({**B, "allOf": [{**A, **UP}]}, "C03"),
    "up in allOf of allOf": ({**B, "allOf": [{"allOf": [{**A, **UP}]}]}, "C03"),
    "up behind a reference": ({**B, "$ref": "#/$defs/q", "$defs": {"q": {**A, **UP}}}, "C03"),
    "up behind a reference in allOf": (
        {**B, "allOf": [{"$ref": "#/$defs/q"}], "$defs": {"q": {**A, **UP}}},
        "C03",
    ),
    "up behind two references": (
        {**B, "$ref": "#/$defs/p", "$defs": {"p": {"$ref": "#/$defs/q"}, "q": {**A, **UP}}},
        "C03",
    ),
    "up in every branch of a choice": (
        {**B, "oneOf": [{**A, **UP}, {"properties": {"c": S}, **UP}]},
        "C03",
    ),
    "up for the member that calls it": ({**B, "dependentSchemas": {"b": {**A, **UP}}}, "C03"),
    "up, declared by a pattern": (
        {"patternProperties": {"^b$": S}, "allOf": [{**A, **UP}]},
        "C03",
    ),
    "ap beside allOf": ({**A, **AP, "allOf": [B]}, "C02"),
    "ap beside a pattern in allOf": ({**AP, "allOf": [{"patternProperties": {"^b$": S}}]}, "C02"),
    "ap beside a pattern in allOf of allOf": (
        {**AP, "allOf": [{"allOf": [{"patternProperties": {"^b[0-9]{2}$": S}}]}]},
        "C02",
    ),
    "ap beside a reference": ({**A, **AP, "$ref": "#/$defs/q", "$defs": {"q": B}}, "C02"),
    "ap beside a choice": ({**A, **AP, "anyOf": [B, {"properties": {"c": S}}]}, "C02"),
    "ap beside if": ({**A, **AP, "if": B, "then": {"required": ["a"]}}, "C02"),
    "ap in a branch of allOf": ({"allOf": [{**A, **AP}, B]}, "C02"),
    "ap behind a reference": ({**B, "$ref": "#/$defs/q", "$defs": {"q": {**A, **AP}}}, "C02"),
}
NEAR_MISSES: dict[str, dict[str, Any]] = {
    "up outside of allOf": {**UP, "allOf": [A, B]},
    "up outside of a reference": {**B, **UP, "$ref": "#/$defs/q", "$defs": {"q": A}},
    "up in each branch, of its own": {"oneOf": [{**A, **UP}, {**B, **UP}]},
    "ap in each branch, of its own": {"oneOf": [{**A, **AP}, {**B, **AP}]},
    "a branch that leaves out what all may have": {
        "properties": {"a": S, "b": S},
        "oneOf": [{"properties": {"a": S}, **UP}, {"properties": {"a": S, "b": S}, **UP}],
    },
    "the same name on both sides": {**A, "allOf": [{**A, **UP}]},
    "the same pattern on both sides": {
        "patternProperties": {"^b$": S},
        "allOf": [{"patternProperties": {"^b$": S}, **UP}],
    },
    "a pattern that sees the name": {
        **B,
        "allOf": [{"patternProperties": {"^[a-z]$": S}, **UP}],
    },
    "a name that the pattern means": {**A, **AP, "allOf": [{"patternProperties": {"^a$": S}}]},
    "what is refused on purpose": {**A, **AP, "allOf": [{"properties": {"b": False}}]},
    "what stands a level below": {"properties": {"b": {**A, **UP, "type": "object"}}, **AP},
    "what a condition asks for": {**B, "if": {**A, **UP}, "then": {"required": ["b"]}, **UP},
    "ap of values": {"allOf": [{"additionalProperties": S}, {**A, **UP}]},
}


def found(schema: dict[str, Any]) -> set[str]:
    return {each.rule for each in lint_here({"type": "object", **schema})} & {"C02", "C03"}


@pytest.mark.parametrize(("schema", "rule"), CASES.values(), ids=CASES.keys())
def test_a_declared_member_that_is_always_refused_is_told(
    schema: dict[str, Any], rule: str
) -> None:
    assert found(schema) == {rule}


@pytest.mark.parametrize("schema", [schema for schema, _ in CASES.values()], ids=CASES.keys())
def test_the_engine_refuses_what_was_declared(schema: dict[str, Any]) -> None:
    name = "b12" if "^b[0-9]{2}$" in str(schema) else "b"
    assert not compile_validator({"type": "object", **schema}).is_valid({name: "x"})


@pytest.mark.parametrize("schema", NEAR_MISSES.values(), ids=NEAR_MISSES.keys())
def test_a_member_that_somebody_can_send_is_not_told(schema: dict[str, Any]) -> None:
    assert found(schema) == set()


@pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites")
def test_no_valid_document_of_the_suite_has_a_member_that_is_told_as_always_refused() -> None:
    folder = Path(SUITES or "") / "json-schema-test-suite"
    told = 0
    for path in sorted(folder.rglob("tests/draft2020-12/**/*.json")):
        for group in json.loads(path.read_text("utf-8")):
            if not isinstance(group["schema"], dict):
                continue
            sheet = Sheet(Subject(schema=group["schema"], side="result"))
            for refusal in find_refusals(sheet) if sheet.is_schema and not sheet.form else ():
                told += 1
                for case in group["tests"]:
                    if case["valid"] and isinstance(case["data"], dict):
                        assert not set(refusal.names) & case["data"].keys(), group["description"]
    assert told > 5


def test_the_finding_stands_at_the_keyword_that_refuses_and_names_what() -> None:
    schema = {"type": "object", **B, "$ref": "#/$defs/q", "$defs": {"q": {**A, **UP}}}
    (told,) = [each for each in lint_here(schema) if each.rule == "C03"]
    assert told.pointer == "/$defs/q/unevaluatedProperties"
    assert "`b`" in told.message
    assert "`a`" not in told.message
