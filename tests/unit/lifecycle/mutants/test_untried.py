"""Places that no accepted example has are told, outermost, by pointer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sluicegate.lifecycle.mutants.untried import Reached

pytestmark = pytest.mark.requirement("LIF-2")

TEXT = {"type": "string", "maxLength": 9}


def closed(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members, "additionalProperties": False}


KINDS = {"oneOf": [closed(a=TEXT), closed(b=TEXT)]}
RAW = {"type": "object", "properties": {"a": TEXT}, "x-extension": {"name": "raw", "version": "1"}}
MAP = {"type": "object", "additionalProperties": TEXT, "propertyNames": {"pattern": "^[a-z]$"}}
CASES: dict[str, tuple[Any, list[Any], tuple[str, ...]]] = {
    "a member that is absent": (closed(a=TEXT, b=TEXT), [{"a": "x"}], ("/b",)),
    "its inside is not told": (closed(a=TEXT, b=closed(c=TEXT)), [{"a": "x"}], ("/b",)),
    "a member of a member": (closed(a=closed(b=TEXT)), [{"a": {}}], ("/a/b",)),
    "items of an empty array": (closed(a={"type": "array", "items": TEXT}), [{"a": []}], ("/a/*",)),
    "members of items": (
        closed(a={"type": "array", "items": closed(b=TEXT)}),
        [{"a": [{}]}],
        ("/a/*/b",),
    ),
    "values of an empty map": (closed(a=MAP), [{"a": {}}], ("/a/*",)),
    "the end of a tuple": (
        closed(a={"type": "array", "prefixItems": [TEXT, TEXT]}),
        [{"a": ["x"]}],
        ("/a/1",),
    ),
    "a branch": (closed(a=KINDS), [{"a": {"a": "x"}}], ("/a by oneOf/1",)),
    "a branch at the root": (KINDS, [{"b": "x"}], ("/ by oneOf/0",)),
    "what a condition leads to": (
        {**closed(a=TEXT), "if": {"required": ["a"]}, "then": {"minProperties": 1}},
        [{}],
        ("/a", "/ by then"),
    ),
    "behind a reference": (
        {**closed(a={"$ref": "#/$defs/b"}), "$defs": {"b": closed(c=TEXT)}},
        [{"a": {}}],
        ("/a/c",),
    ),
    "a second example has it": (closed(a=TEXT, b=TEXT), [{"a": "x"}, {"b": "y"}], ()),
    "each branch has one": (closed(a=KINDS), [{"a": {"a": "x"}}, {"a": {"b": "x"}}], ()),
    "null is no branch to try": (closed(a={"anyOf": [TEXT, {"type": "null"}]}), [{"a": "x"}], ()),
    "what is forbidden": (closed(a=TEXT, b=False), [{"a": "x"}], ()),
    "an extension": (closed(a=RAW), [{"a": {}}], ()),
    "listed values": (closed(a={"enum": ["x", "y"]}), [{"a": "x"}], ()),
    "no example at all": (closed(a=TEXT), [], ()),
}


@pytest.mark.parametrize(("schema", "examples", "untried"), CASES.values(), ids=CASES.keys())
def test_what_no_example_has_is_told(
    schema: dict[str, Any], examples: list[Any], untried: tuple[str, ...]
) -> None:
    reached = Reached(json.loads(json.dumps(schema)))
    for example in examples:
        reached.add(example)
    assert reached.tell_untried() == untried
