"""What must not hold is neither bounded nor closed: the import would admit more."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.lifecycle.importing.bounding import bound
from sluicegate.lifecycle.importing.closing import Settled, settle
from sluicegate.lifecycle.importing.reversals import is_reversed

pytestmark = pytest.mark.requirement("LIF-6", "CON-2")

LONG = "x" * 300
TEXT = {"type": "string", "minLength": 290}
MAP = {"type": "object", "additionalProperties": {"type": "integer"}}
OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}}


def of(member: Any, **definitions: Any) -> Any:
    return {
        "type": "object",
        "properties": {"a": member},
        "additionalProperties": False,
        "$defs": definitions,
    }


def no(name: str) -> Any:
    return {"not": {"$ref": f"#/$defs/{name}"}}


CASES: dict[str, tuple[Any, Any]] = {
    "a definition below not": (of(no("t"), t={"type": "string"}), LONG),
    "a definition behind another": (
        of(no("far"), far={"$ref": "#/$defs/t"}, t={"type": "string"}),
        LONG,
    ),
    "a definition that is used in both ways": (
        {
            "type": "object",
            "properties": {"a": no("t"), "b": {"$ref": "#/$defs/t"}},
            "$defs": {"t": {"type": "string"}},
        },
        LONG,
    ),
    "a part of a definition": (
        of(
            {"type": "string", "not": {"$ref": "#/$defs/t/items"}},
            t={"type": "array", "items": {"type": "string"}},
        ),
        LONG,
    ),
    "a definition of a condition": (
        of({"if": {"$ref": "#/$defs/t"}, "then": False}, t={"type": "string"}),
        LONG,
    ),
    "a counted definition": (
        of(
            {
                "type": "array",
                "contains": {"$ref": "#/$defs/t"},
                "maxContains": 0,
                "minContains": 0,
            },
            t={"type": "string"},
        ),
        [LONG],
    ),
    "a map below not": (
        of({"type": "object", "not": MAP}),
        {f"n{number}": number for number in range(200)},
    ),
    "a map that is used in both ways": (
        {
            "type": "object",
            "properties": {"a": no("m"), "b": {"$ref": "#/$defs/m"}},
            "$defs": {"m": MAP},
        },
        {f"n{number}": number for number in range(200)},
    ),
    "an object that is closed elsewhere": (
        {
            "type": "object",
            "properties": {"a": no("o"), "b": {"$ref": "#/$defs/o"}},
            "$defs": {"o": OBJECT},
        },
        {"a": 1, "z": 2},
    ),
}


@pytest.mark.parametrize(("schema", "value"), CASES.values(), ids=CASES.keys())
def test_an_import_admits_nothing_that_was_refused(schema: Any, value: Any) -> None:
    assert not compile_validator(schema).is_valid({"a": value})
    bounded, _ = bound(schema)
    assert not compile_validator(bounded).is_valid({"a": value})
    settled = settle(bounded, "result")
    if isinstance(settled, Settled):
        assert not compile_validator(settled.schema).is_valid({"a": value})


def test_a_definition_that_is_used_in_both_ways_is_bounded_where_it_must_hold() -> None:
    schema, _ = CASES["a definition that is used in both ways"]
    bounded, added = bound(schema)
    assert not compile_validator(bounded).is_valid({"b": LONG})
    assert added.texts == ["/$defs/t"]


def test_a_member_that_bears_the_name_of_a_keyword_is_none() -> None:
    assert not is_reversed(("properties", "not", "items"), frozenset())
    assert is_reversed(("properties", "not", "not"), frozenset())
    assert is_reversed(("$defs", "t", "items"), frozenset({"t"}))
