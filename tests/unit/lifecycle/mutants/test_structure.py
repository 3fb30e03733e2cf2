"""Mutants of values: each refused by the schema, or named with the rule that closes its hole."""

from __future__ import annotations

import copy
import json
import os
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.contracts.schemas.registration import register
from sluicegate.lifecycle.mutants.structure import mutate_structure
from sluicegate.values.codes import Stage

SUITES = os.environ.get("SLUICEGATE_SUITES")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "run_id": {"type": "string", "pattern": "^run_[a-z0-9]{4,8}$"},
        "state": {"enum": ["failed", "succeeded"]},
        "observed_at": {"type": "string", "format": "date-time", "maxLength": 35},
        "attempts": {"type": "integer", "minimum": 1, "maximum": 9},
        "steps": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[a-z]{1,9}$"},
            "maxItems": 3,
            "uniqueItems": True,
        },
        "trigger": {
            "oneOf": [
                {"type": "null"},
                {
                    "type": "object",
                    "properties": {"kind": {"const": "push"}},
                    "required": ["kind"],
                    "additionalProperties": False,
                },
            ]
        },
    },
    "required": ["run_id", "state", "observed_at", "attempts", "steps", "trigger"],
    "additionalProperties": False,
}
VALUE = {
    "run_id": "run_a1b2",
    "state": "failed",
    "observed_at": "2026-01-01T12:00:00Z",
    "attempts": 2,
    "steps": ["lint", "test"],
    "trigger": {"kind": "push"},
}


def without(*path: str) -> dict[str, Any]:
    """The schema with one safeguard removed."""
    schema = copy.deepcopy(SCHEMA)
    place = schema
    for segment in path[:-1]:
        place = place[segment]
    del place[path[-1]]
    return schema


def survivors(schema: dict[str, Any]) -> dict[str, str]:
    admits = compile_validator(schema).is_valid
    return {
        mutant.name: mutant.rule
        for mutant in mutate_structure(VALUE, schema)
        if admits(mutant.value)
    }


@pytest.mark.requirement("LIF-2")
def test_a_strict_schema_refuses_every_mutant() -> None:
    assert survivors(SCHEMA) == {}


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("path", "rule", "named"),
    [
        (("additionalProperties",), "C01", "extra-unreviewed.unreviewed"),
        (("required",), "C05", "drop.run_id"),
        (("properties", "run_id", "pattern"), "B02", "blank-before.run_id"),
        (("properties", "observed_at", "format"), "X04", "month-13.observed_at"),
        (("properties", "observed_at", "maxLength"), "X05", "flood-2.observed_at"),
        (("properties", "steps", "maxItems"), "B03", "too-many-items.steps"),
        (("properties", "attempts", "maximum"), "B04", "no-maximum.attempts"),
        (("properties", "attempts", "type"), "C08", "as-boolean.attempts"),
    ],
    ids=["closing", "required", "pattern", "format", "maxLength", "maxItems", "maximum", "type"],
)
def test_a_safeguard_that_is_removed_leaves_a_hole_with_the_rule_that_closes_it(
    path: tuple[str, ...], rule: str, named: str
) -> None:
    assert survivors(without(*path))[named] == rule


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (
            "run_[a-z0-9]{4,8}",
            {"blank-before.run_id", "blank-after.run_id", "embedded.run_id", "zero-width.run_id"},
        ),
        ("^run_[a-z0-9]{4,8}", {"blank-after.run_id", "zero-width.run_id", "line-feed.run_id"}),
    ],
    ids=["both ends", "the end"],
)
def test_a_pattern_without_anchors_is_named_at_the_ends_that_are_open(
    pattern: str, names: set[str]
) -> None:
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["run_id"]["pattern"] = pattern
    found = survivors(schema)
    assert names <= found.keys()
    assert {found[name] for name in names} == {"X01"}


EXTENSIONS: dict[str, dict[str, Any]] = {
    "with a type": {"type": "object", "x-extension": {"name": "raw", "version": "1"}},
    "without a type": {"x-extension": {"name": "raw", "version": "1"}},
    "with members": {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "x-extension": {"name": "raw", "version": "1"},
    },
    "behind a reference": {"$ref": "#/$defs/raw"},
    "in allOf": {"allOf": [{"$ref": "#/$defs/raw"}, {"type": "object"}]},
    "of an array": {"type": "array", "x-extension": {"name": "raw", "version": "1"}},
}


@pytest.mark.requirement("CON-2", "LIF-2")
@pytest.mark.parametrize("extension", EXTENSIONS.values(), ids=EXTENSIONS.keys())
def test_what_an_extension_admits_was_declared_and_is_no_hole(extension: dict[str, Any]) -> None:
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["raw"] = extension
    schema["required"].append("raw")
    schema["$defs"] = {"raw": EXTENSIONS["with a type"]}
    inner: Any = [{"a": "b", "id": 1}] if "array" in str(extension) else {"a": "b", "c": [{"d": 1}]}
    admits = compile_validator(schema).is_valid
    value = {**VALUE, "raw": inner}
    assert admits(value)
    mutants = list(mutate_structure(value, schema))
    assert [each.name for each in mutants if admits(each.value)] == []
    assert "extra-unreviewed.unreviewed" in {each.name for each in mutants}


@pytest.mark.requirement("LIF-2")
def test_what_only_looks_like_an_extension_is_a_hole() -> None:
    schema = copy.deepcopy(SCHEMA)
    schema["properties"]["raw"] = {"type": "object", "x-extension": {"name": "raw"}}
    admits = compile_validator(schema).is_valid
    value = {**VALUE, "raw": {"a": "b"}}
    found = {each.name: each.rule for each in mutate_structure(value, schema) if admits(each.value)}
    assert found["extra-unreviewed.raw.unreviewed"] == "C01"


def test_a_flood_has_distinct_items_so_that_unique_items_hide_no_missing_limit() -> None:
    schema = without("properties", "steps", "maxItems")
    (flood,) = [
        mutant for mutant in mutate_structure(VALUE, schema) if mutant.keyword == "maxItems"
    ]
    value: Any = flood.value
    assert len(value["steps"]) == len(set(value["steps"])) > 100


def test_what_the_author_declared_is_no_mutant() -> None:
    schema = copy.deepcopy(SCHEMA)
    schema["required"].remove("trigger")
    schema["properties"]["attempts"]["type"] = ["integer", "null"]
    names = {mutant.name for mutant in mutate_structure(VALUE, schema, side="arguments")}
    assert {"drop.trigger", "as-null.attempts"} & names == set()


def test_an_optional_member_is_a_hole_of_a_result_until_its_schema_says_why() -> None:
    schema = copy.deepcopy(SCHEMA)
    schema["required"].remove("trigger")
    assert survivors(schema) == {"drop.trigger": "C06"}
    why = {"rule": "C06", "reason": "not all runs have one", "until": "2099-12-31"}
    schema["properties"]["trigger"]["x-lint"] = [why]
    assert survivors(schema) == {}


def test_a_list_that_names_none_declares_arguments_and_no_result() -> None:
    none = {**SCHEMA, "required": []}
    names = {mutant.name for mutant in mutate_structure(VALUE, none, side="arguments")}
    dropped = {f"drop.{name}" for name in VALUE}
    assert dropped & names == set()
    assert survivors(none) == dict.fromkeys(dropped, "C06")


def test_whoever_stops_early_has_tried_every_place_and_every_member() -> None:
    names = [f"a{number}" for number in range(200)]
    word = {"type": "string", "pattern": "^[a-z]{1,9}$"}
    schema = {
        "type": "object",
        "properties": {**dict.fromkeys(names, word), "zz": {"type": "string"}},
        "required": [*names, "zz"],
        "additionalProperties": False,
    }
    value = dict.fromkeys([*names, "zz"], "abc")
    first = list(islice(mutate_structure(value, schema), 4_000))
    assert {"", *(f"/{name}" for name in value)} <= {mutant.pointer for mutant in first}
    assert {mutant.rule for mutant in first if mutant.pointer == "/zz"} >= {"B01"}


def test_every_item_with_a_schema_of_its_own_is_changed() -> None:
    word = {"type": "string", "pattern": "^[a-z]{1,9}$"}
    schema = {"type": "array", "prefixItems": [word] * 5, "items": False, "minItems": 5}
    changed = {mutant.pointer for mutant in mutate_structure(["abc"] * 5, schema)}
    assert {f"/{index}" for index in range(5)} <= changed


def test_mutants_are_the_same_each_time_and_each_once() -> None:
    first, second = (list(mutate_structure(VALUE, SCHEMA)) for _ in range(2))
    assert first == second
    assert max(Counter(mutant.raw for mutant in first).values()) == 1


def test_a_mutant_spells_its_value_and_leaves_the_example_alone() -> None:
    before = copy.deepcopy(VALUE)
    for mutant in mutate_structure(VALUE, SCHEMA):
        assert json.loads(mutant.raw) == mutant.value != before
        assert (mutant.level, mutant.stage) == ("structure", Stage.CONFORM)
    assert before == VALUE


@pytest.mark.requirement("LIF-2")
@pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES is not set")
def test_no_mutant_without_a_rule_is_valid_by_any_schema_of_the_official_suite() -> None:
    checked = 0
    folder = Path(str(SUITES), "json-schema-test-suite/tests/draft2020-12")
    for path in sorted(folder.glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            schema = register(group["schema"], side="result", strict=False)
            if not isinstance(schema, CompiledSchema) or not isinstance(schema.document, dict):
                continue
            for case in group["tests"]:
                if not case["valid"]:
                    continue
                for mutant in mutate_structure(case["data"], schema.document, schema.is_valid):
                    assert mutant.rule or not schema.is_valid(mutant.value), (path.name, mutant)
                    checked += 1
    assert checked > 10_000
