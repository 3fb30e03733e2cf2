"""Registration refuses what CON-2 names, each with its code, its place and a way to mend it."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import SchemaFault, register
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("CON-2")

DIALECT = "https://json-schema.org/draft/2020-12/schema"
CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}


def closed(**properties: Any) -> dict[str, Any]:
    return {**CLOSED, "properties": properties}


def faults_of(
    schema: object, side: Literal["arguments", "result"] = "result", **options: Any
) -> list[tuple[str, str]]:
    outcome = register(schema, side=side, strict=options.pop("strict", True), **options)
    if isinstance(outcome, CompiledSchema):
        return []
    assert outcome, "a refusal without a fault says nothing"
    return [(fault.code.value, fault.pointer) for fault in outcome]


def only_fault(schema: object, **options: Any) -> SchemaFault:
    outcome = register(schema, side="result", strict=True, **options)
    assert isinstance(outcome, tuple)
    assert len(outcome) == 1
    return outcome[0]


REFUSED_IN_BOTH_FORMS: list[Any] = [
    pytest.param(7, "SCHEMA_META_INVALID", "", id="a number is no schema"),
    pytest.param(None, "SCHEMA_META_INVALID", "", id="null is no schema"),
    pytest.param({1: "x"}, "SCHEMA_META_INVALID", "", id="a member name that is no text"),
    pytest.param({"const": {1, 2}}, "SCHEMA_META_INVALID", "/const", id="a value that is no JSON"),
    pytest.param({"const": float("inf")}, "SCHEMA_META_INVALID", "/const", id="an infinite number"),
    pytest.param({"const": 10**4301}, "SCHEMA_META_INVALID", "/const", id="an endless integer"),
    pytest.param({"const": "\ud800"}, "SCHEMA_META_INVALID", "", id="half a surrogate pair"),
    pytest.param({"type": "dict"}, "SCHEMA_META_INVALID", "/type", id="a type of another language"),
    pytest.param({"required": True}, "SCHEMA_META_INVALID", "/required", id="draft-3 required"),
    pytest.param({"items": [{}]}, "SCHEMA_META_INVALID", "/items", id="items as a list"),
    pytest.param(
        {"exclusiveMinimum": True}, "SCHEMA_META_INVALID", "/exclusiveMinimum", id="draft-4 bound"
    ),
    pytest.param(
        {"$schema": "http://json-schema.org/draft-07/schema#"},
        *("SCHEMA_DIALECT", "/$schema"),
        id="draft-07",
    ),
    pytest.param(
        {"$schema": DIALECT + "#"}, "SCHEMA_DIALECT", "/$schema", id="the dialect, not exactly"
    ),
    pytest.param(
        {"$defs": {"a": {"$id": "x", "$schema": "http://json-schema.org/draft-07/schema#"}}},
        *("SCHEMA_DIALECT", "/$defs/a/$schema"),
        id="draft-07 further in",
    ),
    pytest.param(
        {"additionalPropeties": False},
        *("SCHEMA_UNKNOWN_KEYWORD", "/additionalPropeties"),
        id="a misspelt keyword",
    ),
    pytest.param(
        {"properties": {"a": {"nullable": True}}},
        *("SCHEMA_UNKNOWN_KEYWORD", "/properties/a/nullable"),
        id="a keyword of OpenAPI",
    ),
    pytest.param({"definitions": {}}, "SCHEMA_UNKNOWN_KEYWORD", "/definitions", id="definitions"),
    pytest.param(
        {"dependencies": {}}, "SCHEMA_UNKNOWN_KEYWORD", "/dependencies", id="dependencies"
    ),
    pytest.param(
        {"$recursiveRef": "#"}, "SCHEMA_UNKNOWN_KEYWORD", "/$recursiveRef", id="$recursiveRef"
    ),
    pytest.param({"format": "datetime"}, "SCHEMA_UNKNOWN_FORMAT", "/format", id="unknown format"),
    pytest.param({"format": "int64"}, "SCHEMA_UNKNOWN_FORMAT", "/format", id="OpenAPI format"),
    pytest.param(
        {"$ref": "http://169.254.169.254/latest/meta-data"},
        *("SCHEMA_REMOTE_REF", "/$ref"),
        id="a reference into the network",
    ),
    pytest.param(
        {"$ref": "file:///etc/hostname"}, "SCHEMA_REMOTE_REF", "/$ref", id="a file of the machine"
    ),
    pytest.param({"$ref": "//host/x"}, "SCHEMA_REMOTE_REF", "/$ref", id="a host without a scheme"),
    pytest.param({"$ref": "../x.json"}, "SCHEMA_REMOTE_REF", "/$ref", id="out of the folder"),
    pytest.param(
        {"$defs": {"unused": {"$ref": "https://example.com/x"}}},
        *("SCHEMA_REMOTE_REF", "/$defs/unused/$ref"),
        id="an unused reference into the network",
    ),
    pytest.param(
        {"$dynamicRef": "https://example.com/x#m"},
        *("SCHEMA_REMOTE_REF", "/$dynamicRef"),
        id="a dynamic reference into the network",
    ),
    pytest.param({"$ref": "#/$defs/no"}, "SCHEMA_UNRESOLVED_REF", "/$ref", id="dangling pointer"),
    pytest.param({"$ref": "#no"}, "SCHEMA_UNRESOLVED_REF", "/$ref", id="dangling anchor"),
    pytest.param({"$ref": "no.json"}, "SCHEMA_UNRESOLVED_REF", "/$ref", id="no such file"),
    pytest.param(
        {"$ref": "#/examples/0", "examples": [{}]},
        *("SCHEMA_UNRESOLVED_REF", "/$ref"),
        id="a reference to what is no schema",
    ),
    pytest.param(
        {"$defs": {"a": {"$id": "x", "type": "null"}, "b": {"$id": "x", "type": "string"}}},
        *("SCHEMA_ID_COLLISION", "/$defs/b/$id"),
        id="one $id twice",
    ),
    pytest.param({"pattern": "(?=a)"}, "SCHEMA_PATTERN", "/pattern", id="look-ahead"),
    pytest.param({"pattern": r"(a)\1"}, "SCHEMA_PATTERN", "/pattern", id="back-reference"),
    pytest.param({"pattern": "("}, "SCHEMA_PATTERN", "/pattern", id="no expression at all"),
    pytest.param(
        {"patternProperties": {"(?!a)/": {}}},
        *("SCHEMA_PATTERN", "/patternProperties/(?!a)~1"),
        id="look-ahead in a member name",
    ),
    pytest.param(
        {"type": "string", "default": 1}, "SCHEMA_DEFAULT_INVALID", "/default", id="bad default"
    ),
    pytest.param(
        {
            "$defs": {"n": {"type": "integer"}},
            "properties": {"a": {"$ref": "#/$defs/n", "default": ""}},
        },
        *("SCHEMA_DEFAULT_INVALID", "/properties/a/default"),
        id="a default that breaks what it refers to",
    ),
    pytest.param(
        {"type": "string", "format": "date", "examples": ["2026-01-01", "today"]},
        *("SCHEMA_DEFAULT_INVALID", "/examples/1"),
        id="a bad example, by format",
    ),
]


@pytest.mark.parametrize(("schema", "code", "pointer"), REFUSED_IN_BOTH_FORMS)
@pytest.mark.parametrize("strict", [True, False], ids=["contract", "bare"])
def test_refuses_with_code_and_place(schema: object, code: str, pointer: str, strict: bool) -> None:
    assert (code, pointer) in faults_of(schema, strict=strict)


@pytest.mark.parametrize(("schema", "code", "pointer"), REFUSED_IN_BOTH_FORMS)
def test_what_is_wrong_with_the_schema_itself_is_told_first(
    schema: object, code: str, pointer: str
) -> None:
    assert faults_of(schema, strict=False)[0] == (code, pointer)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"minimun": 1}, "Did you mean `minimum`?", id="near keyword"),
        pytest.param({"maxlength": 1}, "Did you mean `maxLength`?", id="wrong case"),
        pytest.param({"nullable": True}, 'Write `type: [T, "null"]`.', id="nullable"),
        pytest.param({"format": "date-tim"}, "Did you mean `date-time`?", id="near format"),
        pytest.param({"type": "str"}, "Did you mean `string`?", id="Python's name of a type"),
        pytest.param({"type": "float"}, "Did you mean `number`?", id="C's name of a type"),
        pytest.param(
            {"items": [{}]},
            "Write `prefixItems` for the first items and `items: false` for the rest.",
            id="items as a list",
        ),
    ],
)
def test_says_how_to_mend_it(schema: object, expected: str) -> None:
    assert only_fault(schema).mend == expected


def test_tells_every_unknown_keyword_at_once() -> None:
    schema = {"a": 1, "properties": {"p": {"b": 2}}, "x-free": {}}
    assert faults_of(schema) == [
        ("SCHEMA_UNKNOWN_KEYWORD", "/a"),
        ("SCHEMA_UNKNOWN_KEYWORD", "/properties/p/b"),
    ]


def test_names_from_the_schema_are_shown_escaped_and_cut() -> None:
    fault = only_fault({"a\x1b[31m" + "b" * 100: 1})
    assert "\x1b" not in fault.message
    assert "b" * 60 not in fault.message


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(None, [("SCHEMA_ROOT_NOT_OBJECT", "")], id="null"),
        pytest.param(True, [("SCHEMA_ROOT_NOT_OBJECT", "")], id="true"),
        pytest.param({"anyOf": [CLOSED]}, [("SCHEMA_ROOT_NOT_OBJECT", "")], id="type in a branch"),
        pytest.param(
            {"type": ["object", "null"], "additionalProperties": False},
            [("SCHEMA_ROOT_NOT_OBJECT", "")],
            id="object or null",
        ),
        pytest.param({"type": "string"}, [("SCHEMA_ROOT_NOT_OBJECT", "")], id="string"),
        pytest.param(CLOSED, [], id="a closed object"),
    ],
)
def test_arguments_of_a_contract_are_an_object(schema: object, expected: object) -> None:
    assert faults_of(schema, side="arguments") == expected


def test_a_bare_arguments_schema_may_have_any_root() -> None:
    assert faults_of({"type": "string"}, side="arguments", strict=False) == []


def test_a_result_of_a_contract_may_have_any_closed_root() -> None:
    assert faults_of({"type": "array", "items": CLOSED}) == []


@pytest.mark.parametrize("schema", [True, {}], ids=["true", "empty"])
def test_a_bare_schema_that_admits_everything_registers(schema: object) -> None:
    registered = register(schema, side="result", strict=False)
    assert isinstance(registered, CompiledSchema)
    assert registered.is_valid({"any": ["thing"]})


def test_false_registers_as_a_document_that_admits_nothing() -> None:
    registered = register(False, side="result", strict=False)
    assert isinstance(registered, CompiledSchema)
    assert registered.document == {"not": {}}
    assert not registered.is_valid({})


def test_the_document_is_a_copy_that_later_changes_do_not_reach() -> None:
    schema = closed(a={"type": "string"})
    registered = register(schema, side="result", strict=True)
    schema["properties"]["a"]["type"] = "integer"
    assert isinstance(registered, CompiledSchema)
    assert registered.document["properties"] == {"a": {"type": "string"}}
    assert registered.is_valid({"a": "text"})


@pytest.mark.requirement("RES-4")
def test_formats_are_asserted() -> None:
    registered = register({"type": "string", "format": "date-time"}, side="result", strict=True)
    assert isinstance(registered, CompiledSchema)
    assert not registered.is_valid("yesterday")
    assert registered.is_valid("2026-11-30T12:00:00Z")


def test_keywords_are_told_from_names_and_values() -> None:
    """A property named like a keyword, and a keyword inside a value, are neither."""
    schema = closed(
        **{"$ref": {"type": "string"}, "$id": {"type": "string"}, "nullable": {"type": "string"}},
        value={"const": {"$ref": "http://example.com/", "nullable": 1, "$id": "x"}},
    )
    assert faults_of(schema) == []


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param({"$ref": "#"}, id="refers to itself"),
        pytest.param({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}, id="refers round"),
        pytest.param({"$id": "%%%", "$ref": "#/%zz%ff"}, id="broken URIs"),
        pytest.param({"$id": "urn:a", "$ref": "b"}, id="relative to a URN"),
        pytest.param({"$anchor": "a", "$ref": "#a"}, id="an anchor to itself"),
        pytest.param({"$dynamicRef": "#", "$dynamicAnchor": "a"}, id="a dynamic loop"),
        pytest.param({"enum": []}, id="an empty enum"),
        pytest.param({"$id": "http://[::1", "default": 1}, id="an id that is no URI"),
        pytest.param({"$defs": []}, id="definitions as a list"),
        pytest.param({"properties": {"": {"$ref": "#/properties/"}}}, id="an empty name"),
        pytest.param({"$ref": "#/$defs/%2525", "$defs": {"%25": {}}}, id="encoded twice"),
        pytest.param({"type": ["string", "string"]}, id="a type twice"),
        pytest.param({"minimum": 1e308, "multipleOf": 5e-324}, id="extreme numbers"),
    ],
)
@pytest.mark.parametrize("strict", [True, False], ids=["contract", "bare"])
def test_never_raises_whatever_the_schema_holds(hostile: object, strict: bool) -> None:
    outcome = register(hostile, side="result", strict=strict)
    assert isinstance(outcome, CompiledSchema) or all(
        isinstance(fault.code, Code) and fault.message and fault.mend for fault in outcome
    )


def test_a_python_object_that_holds_itself_is_too_complex() -> None:
    schema: dict[str, Any] = {"type": "object"}
    schema["properties"] = {"a": schema}
    assert faults_of(schema)[0][0] == "SCHEMA_TOO_COMPLEX"


def test_a_value_shared_a_billion_times_is_too_complex() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(30):
        schema = {"type": "object", "properties": {"a": schema, "b": schema}}
    assert faults_of(schema)[0][0] == "SCHEMA_TOO_COMPLEX"
