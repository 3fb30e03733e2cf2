"""A schema is bounded and closed until it registers; what that took is told."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.importing import closing
from sluicegate.lifecycle.importing.bounding import MAX_INTEGER, bound
from sluicegate.lifecycle.importing.closing import Settled, settle
from sluicegate.lifecycle.lint import matching
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("LIF-6")

BOUNDS: dict[str, tuple[Any, Any]] = {
    "a text": ({"type": "string"}, {"type": "string", "maxLength": 256}),
    "a text or null": (
        {"type": ["string", "null"]},
        {"type": ["string", "null"], "maxLength": 256},
    ),
    "an identifier keeps its pattern": (
        {"type": "string", "pattern": "^a+$"},
        {"type": "string", "pattern": "^a+$", "maxLength": 256},
    ),
    "listed values": ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
    "its own bound": ({"type": "string", "maxLength": 9}, {"type": "string", "maxLength": 9}),
    "an array": ({"type": "array"}, {"type": "array", "maxItems": 100}),
    "an integer": (
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 0, "maximum": MAX_INTEGER},
    ),
    "prose by its name": (
        {"properties": {"commit_message": {"type": "string"}}},
        {"properties": {"commit_message": {"type": "string", "maxLength": 4096}}},
    ),
    "a bound below not would admit more": (
        {"not": {"type": "string"}},
        {"not": {"type": "string"}},
    ),
}


@pytest.mark.parametrize(("given", "wanted"), BOUNDS.values(), ids=BOUNDS.keys())
def test_what_is_unbounded_gets_the_declared_default(given: Any, wanted: Any) -> None:
    assert bound(given)[0] == wanted


CLOSED: dict[str, tuple[Any, Any]] = {
    "open by omission": (
        {"type": "object", "properties": {"a": {"type": "boolean"}}},
        {
            "type": "object",
            "properties": {"a": {"type": "boolean"}},
            "additionalProperties": False,
        },
    ),
    "declared open": (
        {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": True},
        {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": False},
    ),
    "composed": (
        {"type": "object", "allOf": [{"properties": {"a": {"const": 1}}}]},
        {
            "type": "object",
            "allOf": [{"properties": {"a": {"const": 1}}}],
            "unevaluatedProperties": False,
        },
    ),
    "a map": (
        {"type": "object", "additionalProperties": {"const": 1}},
        {
            "type": "object",
            "additionalProperties": {"const": 1},
            "propertyNames": {"maxLength": 256},
            "maxProperties": 100,
        },
    ),
    "an object of anything": (
        {
            "type": "object",
            "properties": {"a": {"type": "object"}},
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"a": {"type": "object", "x-extension": {"name": "a", "version": "1"}}},
            "additionalProperties": False,
        },
    ),
    "any value": (
        {"type": "object", "properties": {"a": True}, "additionalProperties": False},
        {
            "type": "object",
            "properties": {
                "a": {"type": ["string", "number", "boolean", "null"], "maxLength": 4096}
            },
            "additionalProperties": False,
        },
    ),
}


@pytest.mark.parametrize(("given", "wanted"), CLOSED.values(), ids=CLOSED.keys())
def test_what_is_open_in_effect_is_closed_where_it_stands(given: Any, wanted: Any) -> None:
    before = repr(given)
    settled = settle(given, "arguments")
    assert isinstance(settled, Settled), settled
    assert settled.schema == wanted
    assert repr(given) == before


def test_what_asserts_nothing_here_is_taken_away_and_counted() -> None:
    settled = settle(
        {
            "type": "object",
            "properties": {
                "a": {"type": "string", "pattern": "(?=a)b", "tsType": "x", "format": "odd"},
                "b": {"const": 1, "default": 2, "examples": [3]},
            },
            "additionalProperties": False,
        },
        "result",
    )
    assert isinstance(settled, Settled), settled
    assert settled.schema["properties"] == {"a": {"type": "string"}, "b": {"const": 1}}
    assert settled.changes.dropped == {
        "pattern": 1,
        "tsType": 1,
        "format": 1,
        "default": 1,
        "examples": 1,
    }


def test_what_only_a_person_can_mend_stays_a_fault() -> None:
    faults = settle({"type": "object", "properties": {"a": {"type": "strng"}}}, "result")
    assert isinstance(faults, tuple)
    assert faults[0].code is Code.SCHEMA_META_INVALID


def test_more_names_and_patterns_than_can_be_matched_are_too_complex_before_any_round(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    word = {"type": "string"}
    schema: Any = {
        "properties": dict.fromkeys("abc", word),
        "patternProperties": {f"^{name}_$": word for name in "abc"},
    }
    assert isinstance(settle(schema, "result"), Settled)
    monkeypatch.setattr(matching, "MAX_MATCHES", 8)
    monkeypatch.setattr(closing, "register", refuse_to_register)
    (fault,) = settle(schema, "result")  # type: ignore[misc]
    assert fault.code is Code.SCHEMA_TOO_COMPLEX


def refuse_to_register(*_: object, **__: object) -> None:
    pytest.fail("registration matches every name with every pattern")
