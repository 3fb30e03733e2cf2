"""Older dialects are brought to draft 2020-12, meaning for meaning."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.importing.dialects import Dialect, DialectError, convert, dialect_of

pytestmark = pytest.mark.requirement("LIF-6", "CON-2")

CASES: dict[str, tuple[Dialect, Any, Any]] = {
    "definitions and their references": (
        "older",
        {"definitions": {"a": {}}, "properties": {"b": {"$ref": "x.json#/definitions/a"}}},
        {"$defs": {"a": {}}, "properties": {"b": {"$ref": "x.json#/$defs/a"}}},
    ),
    "a list of items": (
        "older",
        {"items": [{"type": "string"}], "additionalItems": False},
        {"prefixItems": [{"type": "string"}], "items": False},
    ),
    "additionalItems beside one schema of items asserts nothing": (
        "older",
        {"items": {"type": "string"}, "additionalItems": False},
        {"items": {"type": "string"}},
    ),
    "dependencies": (
        "older",
        {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        {"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}},
    ),
    "id": ("older", {"id": "a.json"}, {"$id": "a.json"}),
    "an id that is a fragment": ("older", {"$id": "#a"}, {"$anchor": "a"}),
    "exclusive bounds that are flags": (
        "older",
        {"minimum": 1, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False},
        {"exclusiveMinimum": 1, "maximum": 9},
    ),
    "what stands beside a reference was ignored": (
        "older",
        {"$ref": "#/definitions/a", "maxLength": 3, "description": "b"},
        {"$ref": "#/$defs/a", "description": "b"},
    ),
    "what stands beside a reference holds since 2019-09": (
        "2019-09",
        {"$ref": "#/$defs/a", "maxLength": 3, "items": [{"$ref": "#/definitions/b", "type": "a"}]},
        {
            "$ref": "#/$defs/a",
            "maxLength": 3,
            "prefixItems": [{"$ref": "#/$defs/b", "type": "a"}],
        },
    ),
    "a recursive reference to a root that nobody extends": (
        "2019-09",
        {"properties": {"a": {"$recursiveRef": "#"}, "b": {"$recursiveRef": "#", "$ref": "#/c"}}},
        {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/c", "allOf": [{"$ref": "#"}]}}},
    ),
    "a recursive reference to a root that may be extended": (
        "2019-09",
        {"$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}}},
        {
            "$dynamicAnchor": "recursive",
            "properties": {"a": {"$dynamicRef": "#recursive"}},
        },
    ),
    "a property that bears the name of a keyword": (
        "older",
        {"properties": {"id": {"type": "string"}, "definitions": {"items": [{}]}}},
        {"properties": {"id": {"type": "string"}, "definitions": {"prefixItems": [{}]}}},
    ),
    "nullable": (
        "openapi-3.0",
        {"type": "string", "enum": ["a"], "nullable": True},
        {"type": ["string", "null"], "enum": ["a", None]},
    ),
    "nullable beside a reference": (
        "openapi-3.0",
        {"allOf": [{"$ref": "#/a"}], "nullable": True},
        {"anyOf": [{"allOf": [{"$ref": "#/a"}]}, {"type": "null"}]},
    ),
    "example, discriminator and int32": (
        "openapi-3.0",
        {"type": "integer", "format": "int32", "example": 1, "discriminator": {}},
        {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1, "examples": [1]},
    ),
}


@pytest.mark.parametrize(("dialect", "given", "wanted"), CASES.values(), ids=CASES.keys())
def test_a_schema_means_the_same_afterwards(dialect: Dialect, given: Any, wanted: Any) -> None:
    assert convert(given, dialect) == wanted


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ("http://json-schema.org/draft-07/schema#", "older"),
        ("http://json-schema.org/draft-04/schema", "older"),
        ("https://json-schema.org/draft/2019-09/schema", "2019-09"),
        ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
    ],
)
def test_the_dialect_is_the_one_that_the_schema_names(named: str, wanted: Dialect) -> None:
    assert dialect_of({"$schema": named}) == wanted


@pytest.mark.parametrize(
    "named", ["https://example.com/mine", "http://json-schema.org/draft-03/schema#"]
)
def test_a_dialect_that_is_not_converted_is_not_guessed(named: str) -> None:
    with pytest.raises(DialectError):
        dialect_of({"$schema": named})


def test_where_no_dialect_is_named_nothing_beside_a_reference_is_dropped() -> None:
    schema: Any = {"definitions": {"a": {}}, "items": {"$ref": "#/definitions/a", "maxLength": 3}}
    assert convert(schema, dialect_of(schema)) == {
        "$defs": {"a": {}},
        "items": {"$ref": "#/$defs/a", "maxLength": 3},
    }
