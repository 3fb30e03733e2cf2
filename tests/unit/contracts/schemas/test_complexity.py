"""What one value may cost is bounded before anything is compiled (CON-2)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from sluicegate.contracts.schemas import composition, openness
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.projection import find_subschemas, project
from sluicegate.contracts.schemas.proofs import Prover
from sluicegate.contracts.schemas.registration import register
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("CON-2")

Schema = dict[str, Any]


def codes(schema: object) -> set[str]:
    outcome = register(schema, side="result", strict=False)
    if isinstance(outcome, CompiledSchema):
        return set()
    return {fault.code.value for fault in outcome}


def unevaluated_inside_unevaluated(levels: int) -> Schema:
    schema: Schema = {"type": "object"}
    for _ in range(levels):
        schema = {"allOf": [schema], "properties": {"a": {}}, "unevaluatedProperties": False}
    return schema


def equal_layers(levels: int) -> Schema:
    schema: Schema = {"type": "object"}
    for _ in range(levels):
        schema = {"allOf": [{"properties": {"a": schema}}, {"properties": {"a": schema}}]}
    return schema


def layers_by_reference(levels: int) -> Schema:
    definitions: Schema = {"d0": {"type": "object"}}
    for level in range(1, levels + 1):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {
            "allOf": [{"properties": {"a": below}}, {"properties": {"a": below, "b": {}}}]
        }
    return {"$ref": f"#/$defs/d{levels}", "$defs": definitions}


def fan_of_references(levels: int) -> Schema:
    definitions: Schema = {"d0": {"type": "string"}}
    for level in range(1, levels + 1):
        below = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"allOf": [below, below]}
    return {"$ref": f"#/$defs/d{levels}", "$defs": definitions}


def chain_of_references(length: int) -> Schema:
    definitions: Schema = {"d0": {"type": "string"}}
    for level in range(1, length + 1):
        definitions[f"d{level}"] = {"$ref": f"#/$defs/d{level - 1}"}
    return {"$ref": f"#/$defs/d{length}", "$defs": definitions}


def nested_unevaluated_items(levels: int) -> Schema:
    schema: Schema = {"type": "array"}
    for _ in range(levels):
        schema = {"allOf": [{"prefixItems": [schema]}], "unevaluatedItems": False}
    return schema


@pytest.mark.parametrize(
    ("build", "admitted", "refused"),
    [
        pytest.param(unevaluated_inside_unevaluated, 3, 12, id="unevaluated in unevaluated"),
        pytest.param(nested_unevaluated_items, 3, 12, id="unevaluated items in unevaluated items"),
        pytest.param(equal_layers, 3, 8, id="two equal layers at every level"),
        pytest.param(layers_by_reference, 3, 18, id="two layers at every level, by reference"),
        pytest.param(fan_of_references, 4, 24, id="a fan of references"),
        pytest.param(chain_of_references, 20, 2_000, id="a chain of references"),
    ],
)
def test_a_few_levels_pass_and_a_bomb_does_not(
    build: Callable[[int], Schema], admitted: int, refused: int
) -> None:
    assert codes(build(admitted)) == set()
    assert codes(build(refused)) == {"SCHEMA_TOO_COMPLEX"}


def node(*branches: Schema, keyword: str = "oneOf") -> Schema:
    return {"type": "object", keyword: list(branches)}


HERE: Schema = {"$ref": "#"}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(
            {"type": "object", "properties": {"next": HERE, "other": HERE}}, set(), id="a tree"
        ),
        pytest.param({"type": "array", "items": HERE}, set(), id="arrays of arrays"),
        pytest.param(
            node({"properties": {"and": HERE}}, {"properties": {"or": HERE}}),
            set(),
            id="branches that lead on by names of their own",
        ),
        pytest.param(
            node({"properties": {"a": HERE}}, {"properties": {"a": HERE, "b": {}}}),
            {"SCHEMA_TOO_COMPLEX"},
            id="two branches that lead on by one name",
        ),
        pytest.param(
            node(
                {"properties": {"a": HERE}}, {"properties": {"a": HERE, "b": {}}}, keyword="allOf"
            ),
            {"SCHEMA_TOO_COMPLEX"},
            id="two layers that lead on by one name",
        ),
        pytest.param(
            {"patternProperties": {"a": HERE, "^a": HERE}},
            {"SCHEMA_TOO_COMPLEX"},
            id="two patterns for one name",
        ),
        pytest.param(
            {"items": HERE, "contains": HERE}, {"SCHEMA_TOO_COMPLEX"}, id="items and contains"
        ),
        pytest.param(
            {"allOf": [{"properties": {"a": HERE}}], "unevaluatedProperties": False},
            set(),
            id="a closed recursive object",
        ),
        pytest.param(
            {
                "$dynamicAnchor": "n",
                "allOf": [
                    {"properties": {"a": {"$dynamicRef": "#n"}}},
                    {"properties": {"a": {"$dynamicRef": "#n"}, "b": {}}},
                ],
            },
            {"SCHEMA_TOO_COMPLEX"},
            id="two layers that lead on dynamically",
        ),
    ],
)
def test_recursion_must_not_multiply(schema: Schema, expected: set[str]) -> None:
    """The engine lists errors along every way; from two ways on they double at each level."""
    assert codes(schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({"enum": list(range(60_000))}, id="many values"),
        pytest.param({"description": "x" * 1_000_001}, id="many characters"),
        pytest.param(json.loads('{"not":' * 101 + "{}" + "}" * 101), id="many levels"),
    ],
)
def test_sheer_size_is_refused(schema: object) -> None:
    assert codes(schema) == {"SCHEMA_TOO_COMPLEX"}


def closed(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize("cap", ["places", "work"])
def test_places_that_multiply_in_composition_are_refused(
    cap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = closed(a=closed(b=closed(c={"type": "string"})))
    assert isinstance(register(schema, side="result", strict=True), CompiledSchema)
    if cap == "places":
        monkeypatch.setattr(openness, "MAX_PLACES", 3)
    else:
        monkeypatch.setattr(composition, "MAX_WORK", 3)
    outcome = register(schema, side="result", strict=True)
    assert isinstance(outcome, tuple)
    assert [fault.code.value for fault in outcome] == ["SCHEMA_TOO_COMPLEX"]


@pytest.mark.requirement("RES-7")
def test_what_multiplies_beyond_reading_promises_nothing_and_is_not_selected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    schema, pointer = closed(a={"type": "string"}), Pointer.parse("/a")
    assert find_subschemas(schema, pointer).exists
    monkeypatch.setattr(composition, "MAX_WORK", 0)
    assert not find_subschemas(schema, pointer).exists
    refused = project(schema, [pointer], {})
    assert isinstance(refused, tuple)
    assert [fault.code.value for fault in refused] == ["SCHEMA_TOO_COMPLEX"]


@pytest.mark.parametrize("closing", [{}, {"type": "string"}], ids=["falls", "holds"])
def test_a_long_circle_of_many_schemas_is_judged_in_little_time(closing: Schema) -> None:
    """Each schema refers to the next, so that a claim may fall along the whole circle."""
    definitions = {
        f"d{index}": closed(next={"$ref": f"#/$defs/d{index + 1}"}) for index in range(60)
    }
    definitions["d60"] = closed(next={"$ref": "#/$defs/d0"}, end=closing)
    wide = {f"w{index}": closed(a={"type": "string"}) for index in range(1_500)}
    schema = {"$ref": "#/$defs/d0", "$defs": {**definitions, **wide}}
    began = time.process_time()
    outcome = register(schema, side="result", strict=False)
    assert isinstance(outcome, CompiledSchema)
    assert Prover(outcome.document).prove(outcome.document).finite is bool(closing)
    assert time.process_time() - began < 5


def test_names_are_matched_with_patterns_up_to_a_bound() -> None:
    schema = {
        "type": "object",
        "properties": {f"m{index}": {"type": "string"} for index in range(600)},
        "patternProperties": {f"^x{index}": {"type": "string"} for index in range(400)},
        "additionalProperties": False,
    }
    refused = register(schema, side="result", strict=True)
    assert isinstance(refused, tuple)
    assert [fault.code.value for fault in refused] == ["SCHEMA_TOO_COMPLEX"]
