"""Examples and witnesses made from a schema alone."""

from __future__ import annotations

import json
import os
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.contracts.schemas.registration import register
from sluicegate.lifecycle.mutants.examples import build_example
from sluicegate.lifecycle.mutants.patterns import make_texts
from sluicegate.lifecycle.mutants.witnesses import build_witnesses
from sluicegate.values.pointers import NOTHING

SUITES = os.environ.get("SLUICEGATE_SUITES")

CASES: dict[str, dict[str, Any]] = {
    "pattern": {"type": "string", "pattern": "^run_[A-Za-z0-9]{12,48}$"},
    "format and length": {"type": "string", "format": "date-time", "maxLength": 20},
    "bounds": {"type": "number", "exclusiveMinimum": 1, "maximum": 1.5},
    "multiple": {"type": "integer", "minimum": 7, "multipleOf": 5},
    "unique items": {
        "type": "array",
        "items": {"type": "string", "pattern": "^[a-z]$"},
        "minItems": 5,
        "uniqueItems": True,
    },
    "contains twice": {
        "type": "array",
        "items": {"type": "integer"},
        "contains": {"minimum": 9},
        "minContains": 2,
    },
    "tuple": {"type": "array", "prefixItems": [{"const": 1}, {"const": "a"}], "items": False},
    "branches": {
        "oneOf": [{"type": "string", "maxLength": 0, "minLength": 1}, {"const": {"a": [1]}}]
    },
    "condition": {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "more": {"type": "boolean"}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["more"]},
    },
    "bounded map": {
        "type": "object",
        "propertyNames": {"pattern": "^k[0-9]$"},
        "additionalProperties": {"type": "integer"},
        "minProperties": 2,
        "maxProperties": 3,
    },
    "recursion": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["name", "children"],
                "additionalProperties": False,
            }
        },
    },
}


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize("name", CASES)
def test_an_example_is_valid(name: str) -> None:
    example = build_example(CASES[name])
    assert example is not NOTHING
    assert compile_validator(CASES[name]).is_valid(example)


def test_nothing_is_made_of_a_schema_that_admits_nothing() -> None:
    assert build_example({"type": "string", "minLength": 2, "maxLength": 1}) is NOTHING


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[a-z0-9][a-z0-9-]{2,62}$",
        r"^(?:a|bc)+\d{3}$",
        r"^[^/\s]+/[^/\s]+$",
        r"^https://ci\.example/[a-z]{1,9}$",
        r"^v(?:0|[1-9]\d*)\.\d+$",
    ],
)
def test_a_text_matches_its_pattern_and_can_be_varied(pattern: str) -> None:
    matches = compile_validator({"type": "string", "pattern": pattern}).is_valid
    texts = list(make_texts(pattern, count=5))
    assert len(set(texts)) >= 2
    assert all(map(matches, texts))


def test_a_pattern_that_python_cannot_read_makes_no_text() -> None:
    assert list(make_texts(r"^\p{L}+$")) == []


@pytest.mark.requirement("LIF-2")
@pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES is not set")
def test_nearly_every_satisfiable_schema_of_the_official_suite_yields_an_example() -> None:
    made = lacking = 0
    folder = Path(str(SUITES), "json-schema-test-suite/tests/draft2020-12")
    for path in sorted(folder.rglob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            schema = register(group["schema"], side="result", strict=False)
            if not isinstance(schema, CompiledSchema) or not isinstance(schema.document, dict):
                continue
            if not any(case["valid"] for case in group["tests"]):
                continue
            example = build_example(schema.document)
            if example is NOTHING:
                lacking += 1
            else:
                made += 1
                assert schema.is_valid(example)
    assert made > 380
    assert lacking <= 8


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "maxLength": 10}, {"type": "string", "maxLength": 20}),
        ({"enum": ["a", "b"]}, {"enum": ["a", "b", "c"]}),
        ({"type": "integer", "maximum": 9}, {"type": "integer", "maximum": 10}),
        ({"type": "integer"}, {"type": "number"}),
        ({"type": "string", "pattern": "^a+$"}, {"type": "string", "pattern": "^[ab]+$"}),
        (
            {"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": False},
            {
                "type": "object",
                "properties": {"a": {"const": 1}, "b": {"const": 2}},
                "additionalProperties": False,
            },
        ),
    ],
    ids=["maxLength", "enum", "maximum", "type", "pattern", "member"],
)
def test_a_witness_of_one_of_two_versions_tells_them_apart(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    was, now = compile_validator(old).is_valid, compile_validator(new).is_valid
    witnesses = [each for schema in (old, new) for each in islice(build_witnesses(schema, []), 500)]
    assert any(now(each) and not was(each) for each in witnesses)
    assert not any(was(each) and not now(each) for each in witnesses)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"$ref": "#"}, "maxItems": 2},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False},
    ],
    ids=["bounded lists", "lists", "objects"],
)
def test_a_schema_that_recurs_without_end_is_searched_to_a_depth(schema: dict[str, Any]) -> None:
    assert build_example(schema) is not NOTHING
    assert len(list(islice(build_witnesses(schema, ()), 20))) > 1
