"""References across documents: resolved by name, bundled into one document, nothing fetched."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.references import climbs_out, join_uri
from sluicegate.contracts.schemas.registration import register

pytestmark = pytest.mark.requirement("CON-1")

BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
    ],
)
def test_resolves_as_rfc_3986_section_5_4(reference: str, expected: str) -> None:
    assert join_uri(BASE, reference) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("common.json", False),
        ("../common.json", False),
        ("../../common.json", True),
        ("a/../../../x", True),
        ("/x", False),
        ("/../x", True),
        ("http://h/../../..", False),
    ],
)
def test_sees_a_reference_that_climbs_out_of_the_folder(reference: str, expected: bool) -> None:
    assert climbs_out("folder:///tool/contract.yaml", reference) is expected


def registered(schema: object, **options: Any) -> CompiledSchema:
    outcome = register(schema, side="result", strict=True, **options)
    assert isinstance(outcome, CompiledSchema), outcome
    return outcome


def codes(schema: object, **options: Any) -> list[tuple[str, str | None, str]]:
    outcome = register(schema, side="result", strict=True, **options)
    assert isinstance(outcome, tuple)
    return [(fault.code.value, fault.resource, fault.pointer) for fault in outcome]


IDS = {
    "$defs": {
        "id": {"type": "string", "pattern": "^[a-z]+$", "maxLength": 9},
        "pair": {"type": "array", "items": {"$ref": "#/$defs/id"}, "maxItems": 2},
        "unused": {"nullable": True},
    }
}


def row(reference: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"row": {"$ref": reference}},
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("reference", "base"),
    [
        ("ids.json#/$defs/pair", ""),
        ("../ids.json#/$defs/pair", "tool/contract.yaml"),
        ("/ids.json#/%24defs/pair", "tool/contract.yaml"),
        ("./x/../ids.json#/$defs/pair", ""),
    ],
)
def test_a_reference_reads_the_file_that_it_names_from_where_it_stands(
    reference: str, base: str
) -> None:
    schema = registered(row(reference), resources={"ids.json": IDS}, base=base)
    assert schema.is_valid({"row": ["a", "b"]})
    assert not schema.is_valid({"row": ["A"]})


def test_the_effective_document_holds_what_is_reached_and_nothing_else() -> None:
    schema = registered(row("ids.json#/$defs/pair"), resources={"ids.json": IDS})
    assert schema.document == {
        "type": "object",
        "properties": {"row": {"$ref": "#/$defs/pair"}},
        "additionalProperties": False,
        "$defs": {
            "pair": {"type": "array", "items": {"$ref": "#/$defs/id"}, "maxItems": 2},
            "id": IDS["$defs"]["id"],
        },
    }


def test_another_validator_takes_the_effective_document_as_it_is() -> None:
    document = registered(row("ids.json#/$defs/pair"), resources={"ids.json": IDS}).document
    validator = jsonschema.Draft202012Validator(dict(document))
    assert validator.is_valid({"row": ["a"]})
    assert not validator.is_valid({"row": ["a", "b", "c"]})


def test_a_name_that_is_taken_is_not_overwritten() -> None:
    schema = {**row("ids.json#/$defs/id"), "$defs": {"id": {"type": "null"}}}
    registered_schema = registered(schema, resources={"ids.json": IDS})
    assert registered_schema.is_valid({"row": "abc"})
    assert registered_schema.document["$defs"] == {
        "id": {"type": "null"},
        "id_2": IDS["$defs"]["id"],
    }


def test_documents_may_refer_to_one_another_in_a_circle() -> None:
    resources = {
        "a.json": {
            "type": "object",
            "properties": {"b": {"$ref": "b.json"}},
            "additionalProperties": False,
        },
        "b.json": {"type": "array", "items": {"$ref": "a.json"}, "maxItems": 2},
    }
    schema = registered({"$ref": "a.json"}, resources=resources)
    assert schema.is_valid({"b": [{"b": []}]})
    assert not schema.is_valid({"b": [{"b": [1]}]})


def test_a_document_is_found_by_its_id_and_refers_relative_to_it() -> None:
    resources = {
        "one.yaml": {"$id": "https://acme.example/s/one", "$ref": "two#end"},
        "two.yaml": {
            "$id": "https://acme.example/s/two",
            "$defs": {"x": {"$anchor": "end", "type": "string"}},
        },
    }
    schema = registered({"$ref": "https://acme.example/s/one"}, resources=resources)
    assert schema.is_valid("text")
    assert not schema.is_valid(1)
    assert "acme" not in str(schema.document)


def test_a_fault_in_another_document_is_led_back_to_it() -> None:
    resources = {"ids.json": {"$defs": {"id": {"type": "string", "nullable": True}}}}
    assert codes(row("ids.json#/$defs/id"), resources=resources) == [
        ("SCHEMA_UNKNOWN_KEYWORD", "ids.json", "/$defs/id/nullable")
    ]


def test_a_dangling_reference_in_another_document_is_led_back_to_it() -> None:
    resources = {"ids.json": {"$defs": {"id": {"$ref": "#/$defs/no"}}}}
    assert codes(row("ids.json#/$defs/id"), resources=resources) == [
        ("SCHEMA_UNRESOLVED_REF", "ids.json", "/$defs/id/$ref")
    ]


def test_an_older_dialect_in_another_document_is_refused() -> None:
    resources = {"old.json": {"$schema": "http://json-schema.org/draft-07/schema#"}}
    assert codes(row("old.json"), resources=resources) == [
        ("SCHEMA_DIALECT", "old.json", "/$schema")
    ]


@pytest.mark.requirement("CON-2")
def test_an_id_that_another_schema_bears_with_another_text_is_refused() -> None:
    schema = {"$id": "urn:tool:v1", **row("#/$defs/s"), "$defs": {"s": {"type": "string"}}}
    other = {"$id": "urn:tool:v1", "type": "object", "additionalProperties": False}
    assert codes(schema, resources={"urn:tool:v1": other}) == [
        ("SCHEMA_ID_COLLISION", None, "/$id")
    ]


@pytest.mark.requirement("CON-2")
def test_an_id_that_the_same_schema_bears_is_no_collision() -> None:
    schema = {"$id": "urn:tool:v1", "type": "object", "additionalProperties": False}
    assert registered(schema, resources={"urn:tool:v1": dict(schema)}).is_valid({})


def test_resources_that_nobody_asks_for_are_not_judged() -> None:
    assert registered({"type": "null"}, resources={"x.json": {"const": object()}}).is_valid(None)


def test_a_resource_that_is_no_json_is_told_by_name() -> None:
    assert codes(row("x.json"), resources={"x.json": {"const": object()}}) == [
        ("SCHEMA_META_INVALID", "x.json", "/const")
    ]


@pytest.mark.requirement("CON-2")
def test_dynamic_references_across_documents_keep_their_meaning() -> None:
    tree = {
        "$id": "https://acme.example/tree",
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {
            "data": {"type": "string"},
            "children": {"type": "array", "items": {"$dynamicRef": "#node"}},
        },
    }
    strict_tree = {
        "$id": "https://acme.example/strict-tree",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": False,
    }
    outcome = register(strict_tree, side="result", strict=False, resources={"tree.json": tree})
    assert isinstance(outcome, CompiledSchema)
    assert outcome.is_valid({"children": [{"data": "x"}]})
    assert not outcome.is_valid({"children": [{"daat": "x"}]})
