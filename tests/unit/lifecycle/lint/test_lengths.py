"""U01 and U02 where a pattern and the bounds beside it contradict each other."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.lifecycle.lint.deciding import lint_here

from sluicegate.lifecycle.lint.findings import WORD, closed

pytestmark = pytest.mark.requirement("LIF-1")

FIVE = {"type": "string", "pattern": "^a{5}$"}
CASES: dict[str, tuple[Any, dict[str, str]]] = {
    "a pattern longer than the text may be": (
        {"type": "string", "maxLength": 3, "pattern": "^a{5}$"},
        {"/properties/a": "U01"},
    ),
    "a pattern shorter than the text must be": (
        {"type": "string", "minLength": 6, "maxLength": 9, "pattern": "^a{5}$"},
        {"/properties/a": "U01"},
    ),
    "a pattern without anchors": (
        {"type": "string", "maxLength": 3, "pattern": "abcd"},
        {"/properties/a": "U01"},
    ),
    "a bound in allOf": ({**FIVE, "allOf": [{"maxLength": 3}]}, {"/properties/a": "U01"}),
    "a bound behind a reference": (
        {"$ref": "#/$defs/five", "maxLength": 3},
        {"/properties/a": "U01"},
    ),
    "two patterns": ({**FIVE, "allOf": [{"pattern": "^a{6,9}$"}]}, {"/properties/a": "U01"}),
    "each branch of a choice": (
        {"type": "string", "maxLength": 3, "anyOf": [FIVE, {"pattern": "^b{7}$"}]},
        {"/properties/a/anyOf/0": "U02", "/properties/a/anyOf/1": "U02"},
    ),
    "one branch of a choice": (
        {"anyOf": [{**FIVE, "maxLength": 3}, {"type": "boolean"}]},
        {"/properties/a/anyOf/0": "U02"},
    ),
    "a branch, by what holds beside it": (
        {"type": "string", "maxLength": 3, "oneOf": [FIVE, {"pattern": "^b$"}]},
        {"/properties/a/oneOf/0": "U02"},
    ),
    "items": (
        {"type": "array", "maxItems": 3, "items": {**FIVE, "maxLength": 3}},
        {"/properties/a/items": "U01"},
    ),
    "member names": (
        {
            "type": "object",
            "additionalProperties": WORD,
            "maxProperties": 3,
            "propertyNames": {"pattern": "^a{5}$", "maxLength": 3},
        },
        {"/properties/a/propertyNames": "U01"},
    ),
}
NEAR_MISSES: dict[str, Any] = {
    "as long as it may be": {**FIVE, "maxLength": 5},
    "as long as it must be": {**FIVE, "minLength": 5},
    "a pattern that is found within": {"type": "string", "pattern": "b", "minLength": 9},
    "a choice that leaves one": {
        "anyOf": [{"type": "string", "maxLength": 3, "pattern": "^b$"}, {**FIVE, "maxLength": 9}]
    },
    "null is valid": {"type": ["string", "null"], "maxLength": 3, "pattern": "^a{5}$"},
    "what must not be": {"type": "string", "maxLength": 9, "not": {**FIVE, "maxLength": 3}},
    "a pattern that Python does not read": {"type": "string", "maxLength": 3, "pattern": "^[[a]$"},
}


def found(member: Any) -> dict[str, str]:
    schema = closed({"a": member}, **{"$defs": {"five": FIVE}})
    return {each.pointer: each.rule for each in lint_here(schema) if each.rule in ("U01", "U02")}


@pytest.mark.parametrize(("member", "expected"), CASES.values(), ids=CASES.keys())
def test_a_pattern_that_its_bounds_contradict_is_told(
    member: Any, expected: dict[str, str]
) -> None:
    assert found(member) == expected


@pytest.mark.parametrize("member", NEAR_MISSES.values(), ids=NEAR_MISSES.keys())
def test_a_pattern_that_some_text_fits_is_not_told(member: Any) -> None:
    assert found(member) == {}
