"""Patterns that differ in a repetition alone are compared by it; whatever else differs is not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.unit.lifecycle.diff.comparing import Side, compare

from sluicegate.contracts.schemas.compiling import matches
from sluicegate.lifecycle.diff.repetitions import is_within, say_wider
from sluicegate.lifecycle.mutants.patterns import make_edge_texts, make_texts

pytestmark = pytest.mark.requirement("LIF-3")


@pytest.mark.parametrize(
    ("inner", "outer", "expected"),
    [
        pytest.param("^a{4,12}$", "^a{4,14}$", True, id="pushed out"),
        pytest.param("^a{4,12}$", "^a{4,10}$", False, id="drawn in"),
        pytest.param("^a{4,12}$", "^a{2,14}$", True, id="both ends"),
        pytest.param("^a{4}$", "^a+$", True, id="one or more"),
        pytest.param("^a?$", "^a*$", True, id="any number"),
        pytest.param("^a*$", "^a{0,9}$", False, id="no end"),
        pytest.param("^a{2,3}?b$", "^a{2,5}?b$", True, id="as few as may be"),
        pytest.param("^a{2,3}b{5}$", "^a{2,4}b{4}$", False, id="one of two"),
        pytest.param("^[{4,12}]$", "^[{4,14}]$", False, id="in a class it is no repetition"),
        pytest.param("^[]{4,12}]$", "^[]{4,14}]$", False, id="a class that begins with its end"),
        pytest.param("^[a&&[{1,2}]]$", "^[a&&[{1,3}]]$", False, id="a class in a class"),
        pytest.param(r"^\{1,2}$", r"^\{1,3}$", False, id="a brace that is one"),
        pytest.param(r"^\p{L}{2,3}$", r"^\p{L}{2,4}$", True, id="a class by name"),
        pytest.param(r"^\[a{2,3}$", r"^\[a{2,4}$", True, id="a bracket that is one"),
        pytest.param("^a{2,3}$", "^b{2,4}$", False, id="something else"),
        pytest.param("(?!a{2,3})b", "(?!a{2,4})b", False, id="what looks ahead turns it round"),
        pytest.param("(?x)a#{2,3}", "(?x)a#{2,4}", False, id="a flag"),
        pytest.param("^a{2,9999999999}$", "^a{2,99999999999}$", False, id="beyond all bounds"),
        pytest.param("^(?:a{2,3}|b)$", "^(?:a{1,3}|b)$", True, id="in a group"),
    ],
)
def test_a_pattern_lies_within_another_by_its_repetitions(
    inner: str, outer: str, expected: bool
) -> None:
    assert is_within(inner, outer) is expected


def _pattern(rng: random.Random, depth: int = 2) -> tuple[str, str]:
    """Two patterns of one shape."""
    if depth == 0 or rng.random() < 0.4:
        atom = rng.choice(("a", "[ab]", r"\d", "b", "."))
        pair = (atom, atom)
    else:
        parts = [_pattern(rng, depth - 1) for _ in range(rng.randint(1, 2))]
        glue = rng.choice(("", "|"))
        pair = (f"(?:{glue.join(p[0] for p in parts)})", f"(?:{glue.join(p[1] for p in parts)})")
    if rng.random() < 0.6:
        signs = ("?", "*", "+", "{1}", "{2}", "{1,2}", "{1,3}", "{0,2}", "{2,}")
        pair = (pair[0] + rng.choice(signs), pair[1] + rng.choice(signs))
    return pair


def test_what_lies_within_matches_no_text_that_the_other_refuses() -> None:
    rng = random.Random(7)
    within = 0
    for _ in range(3_000):
        one, other = (f"^{each}$" for each in _pattern(rng))
        if is_within(one, other):
            within += 1
            texts = [*make_texts(one, count=8), *make_edge_texts(one)]
            assert [each for each in texts if matches(one, each) > matches(other, each)] == []
    assert within > 300


def texts(pattern: str, **more: Any) -> dict[str, Any]:
    member = {"type": "string", "pattern": pattern, **more}
    return {"type": "object", "properties": {"x": member}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("old", "new", "side", "outcome"),
    [
        pytest.param("{4,12}", "{4,14}", "arguments", "compatible", id="arguments pushed out"),
        pytest.param("{4,12}", "{4,14}", "result", "breaking", id="a result pushed out"),
        pytest.param("{4,12}", "{4,10}", "arguments", "breaking", id="arguments drawn in"),
        pytest.param("{4,12}", "{4,10}", "result", "compatible", id="a result drawn in"),
        pytest.param("{4,12}", "{5,12}", "arguments", "breaking", id="no longer so short"),
    ],
)
def test_a_bound_in_a_pattern_is_decided(old: str, new: str, side: Side, outcome: str) -> None:
    found = compare(texts(f"^[a-z]{old}$"), texts(f"^[a-z]{new}$"), side)
    assert found.outcome == outcome
    assert [(one.kind, str(one.basis)) for one in found.changes] == [("pattern-changed", "proof")]
    assert bool(found.counterexamples) == (outcome == "breaking")


def test_the_longest_text_that_was_taken_shows_what_is_lost() -> None:
    found = compare(texts("^[a-z]{4,12}$"), texts("^[a-z]{4,10}$"), "arguments")
    (shown,) = found.counterexamples
    value: Any = shown.value
    assert 10 < len(value["x"]) <= 12


def test_a_schema_that_names_the_wider_pattern_too_admits_what_it_did() -> None:
    old = {"not": texts("^a{1,2}$"), "properties": {"y": {"pattern": "^a{1,2}$", "allOf": [True]}}}
    said = say_wider(old, texts("^a{1,3}$"))
    inner: Any = said["properties"]
    assert inner["y"] == {"pattern": "^a{1,2}$", "allOf": [True, {"pattern": "^a{1,3}$"}]}
    assert say_wider(old, texts("^b{1,3}$")) is old


def both(member: Any, listed: list[int]) -> dict[str, Any]:
    properties = {**member["properties"], "n": {"enum": listed}}
    return {**member, "properties": properties}


def test_a_proof_is_not_told_of_a_change_that_it_does_not_belong_to() -> None:
    old, new = texts("^(?:a|b)+c$"), texts("^(?:b|a)+c$")
    alone = compare(old, new, "result")
    assert [(one.kind, str(one.basis)) for one in alone.changes] == [
        ("pattern-changed", "unproven")
    ]
    beside = compare(both(old, [1]), both(new, [1, 2]), "result")
    assert {one.kind: str(one.basis) for one in beside.changes} == {
        "pattern-changed": "unproven",
        "enum-widened": "table",
    }
    assert beside.outcome == "breaking"


def test_what_is_refuted_and_belongs_to_no_one_change_is_told_by_itself() -> None:
    def two(one: str, other: str) -> dict[str, Any]:
        properties = {
            name: {"type": "string", "pattern": p}
            for name, p in zip("xy", (one, other), strict=True)
        }
        return {"type": "object", "properties": properties, "additionalProperties": False}

    found = compare(two("^(?:a|b)c$", "^d$"), two("^(?:b|a)c$", "^e$"), "result")
    assert [(one.kind, str(one.basis)) for one in found.changes] == [
        ("pattern-changed", "unproven"),
        ("pattern-changed", "unproven"),
        ("schema-changed", "proof"),
    ]
    assert found.outcome == "breaking"
