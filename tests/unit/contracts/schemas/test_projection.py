"""What a schema promises at a pointer, and the closed schema of what is selected (RES-7)."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from tests.unit.contracts.schemas.planting import plant

from sluicegate.checks.selection_expressions import compile_projections
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.projection import find_subschemas, project
from sluicegate.contracts.schemas.registration import register
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("RES-7")

TEXT: dict[str, Any] = {"type": "string", "maxLength": 9}
NUMBER: dict[str, Any] = {"type": "integer"}
EXTENSION: dict[str, Any] = {"type": "object", "x-extension": {"name": "acme", "version": "1"}}


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(required)
    return {**schema, "additionalProperties": False}


def pointers(*texts: str) -> list[Pointer]:
    return [Pointer.parse(text) for text in texts]


def registered(schema: object) -> CompiledSchema:
    outcome = register(schema, side="result", strict=True)
    assert isinstance(outcome, CompiledSchema), outcome
    return outcome


ORDER = closed(
    "id",
    "rows",
    id=TEXT,
    note=TEXT,
    owner=closed("name", name=TEXT, mail=TEXT),
    parent={"anyOf": [closed("id", id=TEXT), {"type": "null"}]},
    rows={
        "type": "array",
        "maxItems": 3,
        "items": closed("sku", sku=TEXT, count=NUMBER, tags={"type": "array", "items": TEXT}),
    },
    labels={
        "type": "object",
        "additionalProperties": TEXT,
        "propertyNames": {"pattern": "^[a-z]+$"},
        "maxProperties": 4,
    },
    pair={"type": "array", "prefixItems": [TEXT, NUMBER], "items": False, "minItems": 1},
    vendor=EXTENSION,
)


@pytest.mark.parametrize(
    ("pointer", "required", "types"),
    [
        ("", True, {"object"}),
        ("/id", True, {"string"}),
        ("/note", False, {"string"}),
        ("/owner/name", False, {"string"}),
        ("/parent", False, {"object", "null"}),
        ("/parent/id", False, {"string"}),
        ("/rows", True, {"array"}),
        ("/rows/*", True, {"object"}),
        ("/rows/*/sku", True, {"string"}),
        ("/rows/*/count", False, {"number"}),
        ("/rows/*/tags/*", False, {"string"}),
        ("/rows/0/sku", False, {"string"}),
        ("/labels/any", False, {"string"}),
        ("/pair/0", False, {"string"}),
        ("/pair/1", False, {"number"}),
        ("/pair/*", False, {"string", "number"}),
    ],
)
def test_says_what_stands_at_a_pointer(pointer: str, required: bool, types: set[str]) -> None:
    reach = find_subschemas(registered(ORDER).document, Pointer.parse(pointer))
    assert (reach.exists, reach.required, set(reach.types)) == (True, required, types)


@pytest.mark.parametrize(
    "pointer",
    ["/no", "/id/x", "/rows/sku", "/rows/x", "/*", "/pair/2", "/owner/*", "/rows/-", "/rows/*/no"],
)
def test_says_that_nothing_stands_there(pointer: str) -> None:
    assert not find_subschemas(registered(ORDER).document, Pointer.parse(pointer)).exists


LAYERED = {
    "type": "object",
    "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"a": {"minimum": 3}}}],
    "oneOf": [
        {"properties": {"kind": {"const": "x"}, "x": TEXT}, "required": ["kind", "x"]},
        {"properties": {"kind": {"const": "y"}, "y": NUMBER}, "required": ["kind", "y"]},
    ],
    "unevaluatedProperties": False,
    "$defs": {"base": {"type": "object", "properties": {"a": NUMBER}, "required": ["a"]}},
}


@pytest.mark.parametrize(
    ("pointer", "required", "schemas"),
    [
        ("/a", True, ({"type": "integer"}, {"minimum": 3})),
        ("/kind", True, ()),
        ("/x", False, (TEXT,)),
    ],
)
def test_reads_through_references_layers_and_branches(
    pointer: str, required: bool, schemas: tuple[Any, ...]
) -> None:
    reach = find_subschemas(registered(LAYERED).document, Pointer.parse(pointer))
    assert (reach.exists, reach.required, reach.schemas) == (True, required, schemas)


def test_a_place_of_an_open_object_that_nobody_declares_does_not_exist() -> None:
    assert not find_subschemas({"type": "object"}, Pointer.parse("/a")).exists


def test_a_member_declared_as_anything_exists() -> None:
    reach = find_subschemas({"properties": {"a": True}}, Pointer.parse("/a"))
    assert (reach.exists, reach.required) == (True, False)


def published(schema: object, *texts: str, **untrusted: str) -> Any:
    return project(
        registered(schema).document,
        pointers(*texts),
        {name: Pointer.parse(text) for name, text in untrusted.items()},
    )


def test_publishes_the_selected_fields_closed_and_as_required() -> None:
    assert published(ORDER, "/id", "/owner/mail", "/rows/*/sku") == {
        "type": "object",
        "properties": {
            "id": TEXT,
            "owner": {
                "type": "object",
                "properties": {"mail": TEXT},
                "additionalProperties": False,
            },
            "rows": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"sku": TEXT},
                    "required": ["sku"],
                    "additionalProperties": False,
                },
                "maxItems": 3,
            },
        },
        "required": ["id", "rows"],
        "additionalProperties": False,
    }


def test_a_place_that_may_be_no_object_is_null_then() -> None:
    assert published(ORDER, "/parent/id")["properties"]["parent"]["type"] == ["object", "null"]


def test_what_may_stand_in_one_of_several_branches_is_optional() -> None:
    found = published(LAYERED, "/a", "/kind", "/x")
    assert found["properties"] == {
        "a": {"allOf": [{"type": "integer"}, {"minimum": 3}]},
        "kind": {"anyOf": [{"const": "x"}, {"const": "y"}]},
        "x": TEXT,
    }
    assert found["required"] == ["a", "kind"]


def test_selecting_the_whole_publishes_the_whole() -> None:
    schema = closed("a", a=TEXT)
    assert published(schema, "") == schema


def test_references_in_what_is_selected_come_along_under_names_of_their_own() -> None:
    schema = {
        **closed(tree={"$ref": "#/$defs/node"}, other={"$ref": "#/$defs/unused"}),
        "$defs": {
            "node": closed(next={"$ref": "#/$defs/node"}, label=TEXT),
            "unused": closed(),
        },
    }
    assert published(schema, "/tree") == {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/node"}},
        "additionalProperties": False,
        "$defs": {"node": closed(next={"$ref": "#/$defs/node"}, label=TEXT)},
    }


def test_a_reference_to_the_root_becomes_a_definition() -> None:
    found = published(closed(next={"$ref": "#"}), "/next")
    assert found["properties"] == {"next": {"$ref": "#/$defs/root"}}
    assert found["$defs"] == {"root": closed(next={"$ref": "#/$defs/root"})}


def test_selecting_nothing_publishes_an_empty_object() -> None:
    assert published(ORDER) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_untrusted_text_stands_in_a_member_of_its_own() -> None:
    found = published(ORDER, "/id", body="/note", names="/rows/*/tags/*")
    assert found["properties"]["untrusted_text"] == {
        "type": "object",
        "properties": {
            "body": TEXT,
            "names": {
                "type": "array",
                "items": {
                    "anyOf": [{"type": "array", "items": TEXT}, {"type": "null"}],
                },
                "maxItems": 3,
            },
        },
        "required": ["names"],
        "additionalProperties": False,
    }
    assert found["required"] == ["id", "untrusted_text"]


REFUSED: list[Any] = [
    pytest.param(ORDER, ["/no"], {}, "leads to nothing", id="nowhere"),
    pytest.param(ORDER, ["/rows/*/no"], {}, "leads to nothing", id="nowhere in the items"),
    pytest.param(ORDER, ["/rows/0/sku"], {}, "leads to nothing", id="one item"),
    pytest.param(ORDER, ["/id/*"], {}, "leads to no array", id="items of a string"),
    pytest.param(ORDER, ["/rows", "/rows/*/sku"], {}, "overlap", id="one covers another"),
    pytest.param(ORDER, ["/id", "/id"], {}, "overlap", id="twice"),
    pytest.param(ORDER, ["/pair/0", "/pair/*"], {}, "overlap", id="an item and every item"),
    pytest.param(ORDER, ["/note"], {"note": "/note"}, "overlap", id="field and text"),
    pytest.param(ORDER, ["/vendor"], {}, "extension", id="an extension"),
    pytest.param(ORDER, ["/vendor/x"], {}, "extension", id="inside an extension"),
    pytest.param(ORDER, [""], {}, "extension", id="what holds an extension"),
    pytest.param(ORDER, ["/id"], {"x": "/rows"}, "not always a string", id="text that is none"),
    pytest.param(
        ORDER, ["/id"], {"x": "/pair/*"}, "not always a string", id="text that may be none"
    ),
    pytest.param(ORDER, ["/id"], {"x": "/no"}, "leads to nothing", id="text nowhere"),
    pytest.param(
        closed(a={"type": "string"}), [], {"a": "/a"}, "without a bound", id="unbounded text"
    ),
    pytest.param(
        {"type": "array", "items": TEXT},
        [],
        {"a": "/*"},
        "must be an object",
        id="text beside items",
    ),
    pytest.param(
        closed(untrusted_text=TEXT, a=TEXT),
        ["/untrusted_text"],
        {"a": "/a"},
        "bears the name",
        id="a field in the place of text",
    ),
]


@pytest.mark.parametrize(("schema", "selected", "texts", "message"), REFUSED)
def test_refuses_what_cannot_be_selected(
    schema: object, selected: list[str], texts: dict[str, str], message: str
) -> None:
    found = published(schema, *selected, **texts)
    assert isinstance(found, tuple)
    assert [fault.code.value for fault in found] == ["CONTRACT_INVALID"]
    assert message in found[0].message


VALUE: dict[str, Any] = {
    "id": "o1",
    "note": "n",
    "owner": {"name": "x", "mail": "m"},
    "parent": None,
    "rows": [{"sku": "s", "count": 1, "tags": ["t"]}, {"sku": "z"}],
    "labels": {"k": "v"},
    "pair": ["a", 1],
}


@pytest.mark.parametrize(
    ("selected", "texts"),
    [
        (["/id", "/rows/*/sku", "/parent/id"], {}),
        (["/rows/*/tags/*", "/labels", "/pair"], {}),
        (["/rows/*/count", "/owner/mail"], {"a": "/note", "b": "/rows/*/tags/*"}),
        (["/parent"], {"mail": "/owner/mail", "sku": "/rows/*/sku"}),
        ([], {"parent": "/parent/id", "one": "/id"}),
    ],
    ids=["members", "whole parts", "optional texts", "texts of items", "texts alone"],
)
def test_whatever_is_selected_of_a_valid_document_fits_the_published_schema(
    selected: list[str], texts: dict[str, str]
) -> None:
    schema = registered(ORDER)
    untrusted = {name: Pointer.parse(text) for name, text in texts.items()}
    agent_side = project(schema.document, pointers(*selected), untrusted)
    assert not isinstance(agent_side, tuple)
    fits = Draft202012Validator(dict(agent_side), validate_formats=True).is_valid
    select = compile_projections(schema.document, [pointers(*selected)], untrusted)
    valid = [value for value in (VALUE, *plant(VALUE)) if schema.is_valid(value)]
    assert len(valid) > 1
    assert [value for value in valid if not fits(select(value, ())[0])] == []
