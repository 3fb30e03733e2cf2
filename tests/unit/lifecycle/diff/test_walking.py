"""The walk names what differs and where; what says the same in another layout has no name."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.lifecycle.diff.comparing import registered

from sluicegate.lifecycle.diff.walking import find_differences

pytestmark = pytest.mark.requirement("LIF-3")


def closed(properties: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def member(schema: Any) -> dict[str, Any]:
    return closed({"a": schema})


def named(old: Any, new: Any) -> list[tuple[str, str]]:
    found = find_differences(registered(old).document, registered(new).document)
    return [(one.kind, one.pointer) for one in found]


TEXT = {"type": "string"}
AT = "/properties/a"
NODE = {
    "$ref": "#/$defs/n",
    "$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}},
}

CASES: list[tuple[str, Any, Any, list[tuple[str, str]]]] = [
    ("optional added", closed({}), closed({"a": TEXT}), [("optional-property-added", AT)]),
    ("required added", closed({}), closed({"a": TEXT}, ["a"]), [("required-property-added", AT)]),
    ("optional removed", closed({"a": TEXT}), closed({}), [("optional-property-removed", AT)]),
    (
        "required removed",
        closed({"a": TEXT}, ["a"]),
        closed({}),
        [("required-property-removed", AT)],
    ),
    (
        "renamed",
        closed({"a": TEXT}, ["a"]),
        closed({"b": TEXT}, ["b"]),
        [("property-renamed", "/properties/b")],
    ),
    (
        "two that could be the renamed one",
        closed({"a": TEXT}),
        closed({"b": TEXT, "c": TEXT}),
        [
            ("optional-property-added", "/properties/b"),
            ("optional-property-added", "/properties/c"),
            ("optional-property-removed", AT),
        ],
    ),
    (
        "added to an open object",
        {"type": "object"},
        {"type": "object", "properties": {"a": TEXT}},
        [("property-added-to-open", AT)],
    ),
    (
        "removed from an open object",
        {"type": "object", "properties": {"a": TEXT}},
        {"type": "object"},
        [("property-removed-from-open", AT)],
    ),
    ("required", member(TEXT), closed({"a": TEXT}, ["a"]), [("property-required", AT)]),
    ("optional", closed({"a": TEXT}, ["a"]), member(TEXT), [("property-optional", AT)]),
    ("opened", closed({}), {"type": "object"}, [("object-opened", "")]),
    ("closed", {"type": "object"}, closed({}), [("object-closed", "")]),
    (
        "map changed",
        {"type": "object", "additionalProperties": TEXT},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        [("additional-changed", "")],
    ),
    ("widened", member({"type": "integer"}), member({"type": "number"}), [("type-widened", AT)]),
    ("null", member(TEXT), member({"type": ["string", "null"]}), [("type-widened", AT)]),
    (
        "null by anyOf",
        member(TEXT),
        member({"anyOf": [TEXT, {"type": "null"}]}),
        [("type-widened", AT), ("branches-changed", f"{AT}/anyOf")],
    ),
    ("narrowed", member({"type": "number"}), member({"type": "integer"}), [("type-narrowed", AT)]),
    ("other type", member(TEXT), member({"type": "integer"}), [("type-changed", AT)]),
    ("enum more", member({"enum": ["x"]}), member({"enum": ["x", "y"]}), [("enum-widened", AT)]),
    ("enum less", member({"enum": ["x", "y"]}), member({"enum": ["y"]}), [("enum-narrowed", AT)]),
    ("const other", member({"const": "x"}), member({"const": "y"}), [("enum-changed", AT)]),
    ("const in enum", member({"const": 1}), member({"enum": [1, 2]}), [("enum-widened", AT)]),
    ("enum new", member(TEXT), member({"enum": ["x"]}), [("enum-added", AT)]),
    ("enum gone", member({"enum": ["x"]}), member(TEXT), [("enum-removed", AT)]),
    (
        "maximum up",
        member({"type": "integer", "maximum": 1}),
        member({"type": "integer", "maximum": 2}),
        [("bound-loosened", f"{AT}/maximum")],
    ),
    (
        "maximum excluded",
        member({"type": "number", "maximum": 1}),
        member({"type": "number", "exclusiveMaximum": 1}),
        [("bound-tightened", f"{AT}/maximum")],
    ),
    (
        "minLength new",
        member(TEXT),
        member({"type": "string", "minLength": 1}),
        [("bound-tightened", f"{AT}/minLength")],
    ),
    (
        "unique gone",
        member({"type": "array", "uniqueItems": True}),
        member({"type": "array"}),
        [("constraint-removed", f"{AT}/uniqueItems")],
    ),
    (
        "multipleOf other",
        member({"type": "integer", "multipleOf": 2}),
        member({"type": "integer", "multipleOf": 4}),
        [("constraint-changed", f"{AT}/multipleOf")],
    ),
    (
        "pattern other",
        member({"type": "string", "pattern": "^a$"}),
        member({"type": "string", "pattern": "^b$"}),
        [("pattern-changed", f"{AT}/pattern")],
    ),
    (
        "format new",
        member(TEXT),
        member({"type": "string", "format": "date"}),
        [("format-added", f"{AT}/format")],
    ),
    (
        "format other",
        member({"type": "string", "format": "date"}),
        member({"type": "string", "format": "date-time"}),
        [("format-changed", f"{AT}/format")],
    ),
    (
        "branch new",
        {"oneOf": [{"const": 1}, {"const": 2}]},
        {"oneOf": [{"const": 1}, {"const": 2}, {"const": 3}]},
        [("branch-added", "/oneOf/2")],
    ),
    (
        "branch gone",
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "string", "pattern": "^b"}]},
        {"anyOf": [{"type": "string", "minLength": 1}]},
        [("branch-removed", "/anyOf/1")],
    ),
    (
        "condition new",
        closed({"a": TEXT}),
        {**closed({"a": TEXT}), "dependentRequired": {"a": ["b"]}},
        [("condition-added", "/dependentRequired")],
    ),
    (
        "tuple longer",
        {"type": "array", "prefixItems": [TEXT]},
        {"type": "array", "prefixItems": [TEXT, TEXT]},
        [("items-changed", "/prefixItems")],
    ),
    (
        "items within",
        {"type": "array", "items": TEXT},
        {"type": "array", "items": {"type": "string", "maxLength": 3}},
        [("bound-tightened", "/items/maxLength")],
    ),
    (
        "recursion",
        NODE,
        {
            **NODE,
            "$defs": {
                "n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "a": TEXT}}
            },
        },
        [("property-added-to-open", "/$defs/n/properties/a")],
    ),
    (
        "description",
        member(TEXT),
        member({**TEXT, "description": "d"}),
        [("schema-text-changed", AT)],
    ),
    ("comment", member(TEXT), member({**TEXT, "$comment": "c"}), [("comment-changed", AT)]),
    ("default", member(TEXT), member({**TEXT, "default": "c"}), [("default-changed", AT)]),
    (
        "deprecated",
        member(TEXT),
        member({**TEXT, "deprecated": True}),
        [("deprecated-changed", AT)],
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), [pytest.param(*c[1:], id=c[0]) for c in CASES])
def test_each_change_has_its_kind_and_place(
    old: Any, new: Any, expected: list[tuple[str, str]]
) -> None:
    assert named(old, new) == expected


REWRITES: list[tuple[str, Any, Any]] = [
    ("required order", closed({"a": TEXT}, ["a", "b"]), closed({"a": TEXT}, ["b", "a"])),
    ("enum order", {"enum": [1, 2]}, {"enum": [2, 1]}),
    ("const and enum of one", {"const": 1}, {"enum": [1]}),
    ("1 and 1.0", {"const": 1}, {"const": 1.0}),
    (
        "branch order",
        {"oneOf": [{"const": 1}, {"const": 2}]},
        {"oneOf": [{"const": 2}, {"const": 1}]},
    ),
    ("moved away", member(TEXT), {**member({"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}}),
    (
        "renamed definition",
        {**member({"$ref": "#/$defs/t"}), "$defs": {"t": TEXT}},
        {**member({"$ref": "#/$defs/u"}), "$defs": {"u": TEXT}},
    ),
    ("allOf around", member(TEXT), {"allOf": [member(TEXT)]}),
    (
        "integer bound",
        {"type": "integer", "minimum": 1},
        {"type": "integer", "exclusiveMinimum": 0},
    ),
    ("nothing at least", TEXT, {"type": "string", "minLength": 0}),
]


@pytest.mark.parametrize(("old", "new"), [pytest.param(*c[1:], id=c[0]) for c in REWRITES])
def test_what_says_the_same_otherwise_is_no_difference(old: Any, new: Any) -> None:
    assert named(old, new) == []
