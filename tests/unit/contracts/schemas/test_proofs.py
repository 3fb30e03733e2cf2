"""What a schema proves holds for every value it admits; what is not understood proves nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.schemas.planting import depth_of, holds_infinity, plant

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.proofs import Proof, Prover
from sluicegate.contracts.schemas.registration import register

pytestmark = pytest.mark.requirement("ARG-1", "ARG-2", "RES-1")

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}


def registered(schema: object) -> CompiledSchema:
    outcome = register(schema, side="result", strict=False)
    assert isinstance(outcome, CompiledSchema), outcome
    return outcome


def prove(schema: CompiledSchema) -> Proof:
    return Prover(schema.document).prove(schema.document)


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def rows(items: object) -> dict[str, Any]:
    return {"type": "array", "items": items}


CASES: list[Any] = [
    pytest.param(TEXT, 0, True, id="scalar"),
    pytest.param({"const": [[1]]}, 2, True, id="constant"),
    pytest.param({"enum": [{"a": []}, 1]}, 2, True, id="listed values"),
    pytest.param({"type": "object", "maxProperties": 0}, 1, True, id="no members"),
    pytest.param(closed(), 1, True, id="an empty object"),
    pytest.param(closed(a=NUMBER, b=rows(closed(c=TEXT))), 3, True, id="nested"),
    pytest.param({"type": "object"}, None, False, id="open object"),
    pytest.param(rows(True), None, False, id="items of any kind"),
    pytest.param({"type": "array"}, None, False, id="items by omission"),
    pytest.param(
        {"type": "array", "prefixItems": [TEXT], "maxItems": 1}, 1, True, id="nothing beyond first"
    ),
    pytest.param({"type": "array", "prefixItems": [TEXT], "items": False}, 1, True, id="tuple"),
    pytest.param({}, None, False, id="anything"),
    pytest.param(False, 0, True, id="nothing"),
    pytest.param({"minimum": 1, "maximum": 5}, None, False, id="bounds alone let infinity in"),
    pytest.param(
        {"type": ["number", "null"], "maximum": 5}, 0, True, id="bounds with a type do not"
    ),
    pytest.param({"allOf": [closed(a=True), closed(a=NUMBER)]}, 1, True, id="the least of layers"),
    pytest.param({"anyOf": [TEXT, rows(rows(NUMBER))]}, 2, True, id="the greatest of branches"),
    pytest.param({"anyOf": [TEXT, {"maximum": 3}]}, None, False, id="one branch without a type"),
    pytest.param(
        {"if": TEXT, "then": {"maxLength": 3}, "else": rows(NUMBER)}, 1, True, id="if and else"
    ),
    pytest.param({"if": TEXT, "then": TEXT}, None, False, id="if without else"),
    pytest.param({"not": {"type": ["object", "array"]}}, None, False, id="not proves nothing"),
    pytest.param(
        {"$ref": "#/$defs/a", "$defs": {"a": closed(x=rows(TEXT))}}, 2, True, id="a reference"
    ),
    pytest.param(closed(next={"$ref": "#"}), None, True, id="recursion is not bounded, but finite"),
    pytest.param({"$ref": "#"}, None, False, id="a reference to itself proves nothing"),
    pytest.param(
        {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
        None,
        False,
        id="branches that lead back to themselves prove nothing",
    ),
    pytest.param(
        {"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a", **TEXT}}},
        None,
        False,
        id="a dynamic reference proves nothing",
    ),
    pytest.param(
        {
            "type": "object",
            "allOf": [{"properties": {"a": NUMBER}}, {"properties": {"b": rows(TEXT)}}],
            "unevaluatedProperties": False,
        },
        2,
        True,
        id="closed around layers",
    ),
    pytest.param(
        {
            "type": "object",
            "allOf": [{"additionalProperties": True}],
            "unevaluatedProperties": False,
        },
        None,
        False,
        id="everything was evaluated before",
    ),
    pytest.param(
        {"type": "array", "contains": {}, "unevaluatedItems": False},
        None,
        False,
        id="contains evaluates whatever it finds",
    ),
    pytest.param(
        {
            "type": "object",
            "dependentSchemas": {"a": {"properties": {"b": rows(rows(NUMBER))}}},
            "unevaluatedProperties": NUMBER,
        },
        3,
        True,
        id="a dependent layer may be what evaluated",
    ),
    pytest.param(
        {"type": "object", "patternProperties": {"^x": rows(TEXT)}, "additionalProperties": TEXT},
        2,
        True,
        id="patterns and the rest",
    ),
]


@pytest.mark.parametrize(("schema", "max_depth", "finite"), CASES)
def test_proves_depth_and_finiteness(schema: object, max_depth: int | None, finite: bool) -> None:
    found = prove(registered(schema))
    assert (found.max_depth, found.finite) == (max_depth, finite)


SEEDS: list[Any] = [{}, [], "", {"a": {}, "b": [[1]], "x": 1}, [{"a": []}, [1]], {"xa": ["t"]}]


@pytest.mark.parametrize(("schema", "max_depth", "finite"), CASES)
def test_no_admitted_value_breaks_what_was_proven(
    schema: object, max_depth: int | None, finite: bool
) -> None:
    found = registered(schema)
    admitted = [value for seed in SEEDS for value in plant(seed, 600) if found.is_valid(value)]
    deepest = max(map(depth_of, admitted), default=0)
    assert max_depth is None or deepest <= max_depth
    assert not (finite and any(map(holds_infinity, admitted)))
