"""Proofs, closedness and projections hold on every schema of the official suite."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema_rs import Draft202012Validator
from tests.unit.contracts.schemas.planting import (
    depth_of,
    get,
    holds_infinity,
    places,
    plant,
    put,
)

from sluicegate.checks.selection_expressions import compile_projections
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.guards import residual_guard
from sluicegate.contracts.schemas.keywords import schema_map, walk
from sluicegate.contracts.schemas.openness import find_open_objects
from sluicegate.contracts.schemas.projection import find_subschemas, project
from sluicegate.contracts.schemas.proofs import Prover
from sluicegate.contracts.schemas.registration import register
from sluicegate.values.pointers import EVERY, Pointer

SUITES: Final = os.environ.get("SLUICEGATE_SUITES")

pytestmark = pytest.mark.skipif(
    SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites"
)


@cache
def cases() -> tuple[tuple[str, CompiledSchema, list[Any]], ...]:
    return tuple(_cases())


def _cases() -> Iterator[tuple[str, CompiledSchema, list[Any]]]:
    root = Path(SUITES or "") / "json-schema-test-suite"
    remotes = {
        "http://localhost:1234/" + path.relative_to(root / "remotes").as_posix(): json.loads(
            path.read_bytes()
        )
        for path in (root / "remotes").rglob("*.json")
    }
    for path in sorted((root / "tests" / "draft2020-12").rglob("*.json")):
        if path.parent.name == "format":
            continue
        for group in json.loads(path.read_bytes()):
            found = register(group["schema"], side="result", strict=False, resources=remotes)
            if isinstance(found, CompiledSchema):
                name = f"{path.name}: {group['description']}"
                yield name, found, [test["data"] for test in group["tests"]]


def admits(schema: CompiledSchema, value: Any) -> bool:
    try:
        return schema.is_valid(value)
    except ValueError:
        return False


@pytest.mark.requirement("ARG-1", "ARG-2", "RES-1")
def test_no_planted_depth_or_infinity_breaks_a_proof() -> None:
    broken, proven, planted = [], 0, 0
    for name, schema, values in cases():
        proof = Prover(schema.document).prove(schema.document)
        if proof.max_depth is None and not proof.finite:
            continue
        proven += 1
        for value in values:
            for other in plant(value):
                planted += 1
                if not admits(schema, other):
                    continue
                if proof.max_depth is not None and depth_of(other) > proof.max_depth:
                    broken.append((name, "depth"))
                if proof.finite and holds_infinity(other):
                    broken.append((name, "infinity"))
    assert broken == []
    assert proven > 100
    assert planted > 5_000


@pytest.mark.requirement("ARG-1", "ARG-2", "RES-1")
@pytest.mark.parametrize("max_depth", [1, 2, 5])
def test_what_a_residual_guard_and_its_schema_both_admit_is_shallow_and_finite(
    max_depth: int,
) -> None:
    broken, split, admitted = [], 0, 0
    for name, schema, values in cases():
        guard = residual_guard(schema.document, max_depth)
        split += guard is not None
        for value in values:
            for other in plant(value, 300):
                if admits(schema, other) and (guard is None or guard(other)):
                    admitted += 1
                    if depth_of(other) > max_depth or holds_infinity(other):
                        broken.append((name, other))
    assert broken == []
    assert split > 100
    assert admitted > 1_000


@pytest.mark.requirement("CON-2", "RES-4")
def test_no_undeclared_member_passes_where_objects_are_closed() -> None:
    opened, closed = [], 0
    for name, schema, values in cases():
        if find_open_objects(schema.document):
            continue
        closed += 1
        for value in values:
            for at in places(value):
                found = get(value, at)
                if isinstance(found, dict) and admits(
                    schema, put(value, at, {**found, "zz-undeclared": 1})
                ):
                    opened.append((name, at))
    assert opened == []
    assert closed > 100


def names_of(schema: CompiledSchema) -> list[str]:
    names: dict[str, None] = {}
    for _, inner in walk(schema.document):
        if not isinstance(inner, bool):
            names.update(dict.fromkeys(schema_map(inner, "properties")))
    return list(names)[:8]


def pointers_of(schema: CompiledSchema) -> list[Pointer]:
    found: list[Pointer] = []
    level = [Pointer(())]
    for _ in range(3):
        level = [
            below
            for at in level
            for name in (*names_of(schema), EVERY)
            if find_subschemas(schema.document, below := at.child(name)).exists
        ][:12]
        found += level
    return found[:15]


@pytest.mark.requirement("RES-7")
def test_whatever_is_selected_fits_the_published_schema() -> None:
    broken, published = [], 0
    for name, schema, values in cases():
        pointers = pointers_of(schema)
        for selected in [[one] for one in pointers] + [
            list(two) for two in combinations(pointers, 2)
        ][:25]:
            agent_side = project(schema.document, selected, {})
            if isinstance(agent_side, tuple):
                continue
            published += 1
            fits = Draft202012Validator(dict(agent_side), validate_formats=True).is_valid
            select = compile_projections(schema.document, [selected], {})
            others = (other for value in values for other in plant(value, 100))
            broken.extend(
                (name, [one.text for one in selected])
                for other in others
                if admits(schema, other) and not fits(select(other, ())[0])
            )
    assert broken == []
    assert published > 200
