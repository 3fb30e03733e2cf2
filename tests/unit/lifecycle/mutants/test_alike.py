"""Of places that differ in nothing a schema sees, mutants are made in three examples."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.mutants.alike import Alike
from sluicegate.lifecycle.mutants.structure import mutate_structure

pytestmark = pytest.mark.requirement("LIF-2")

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "maxLength": 9},
        "b": {"type": ["array", "null"], "items": {"type": "integer"}, "maxItems": 3},
    },
    "required": ["a"],
    "additionalProperties": False,
}


def made(*values: Any) -> list[set[str]]:
    """The pointers at which mutants are made of each value, in their order."""
    alike = Alike()
    return [
        {mutant.pointer for mutant in mutate_structure(value, SCHEMA, alike=alike)}
        for value in values
    ]


def test_the_fourth_example_of_one_shape_adds_nothing() -> None:
    found = made(*({"a": str(turn)} for turn in range(5)))
    assert all(found[:3])
    assert found[3:] == [set(), set()]


@pytest.mark.parametrize(
    "other",
    [{"a": "x", "b": None}, {"a": "x", "b": []}, {"a": "x", "b": [1]}],
    ids=["another member", "an empty array", "an array"],
)
def test_a_place_of_another_kind_is_tried_however_late_it_comes(other: Any) -> None:
    alike = Alike()
    for value in [{"a": "x"}] * 4:
        list(mutate_structure(value, SCHEMA, alike=alike))
    last = list(mutate_structure(other, SCHEMA, alike=alike))
    assert "/b" in {each.pointer for each in last}
    assert [each.name for each in last if (each.pointer, each.keyword) == ("/a", "maxLength")] == []


def test_what_was_left_out_is_counted() -> None:
    alike = Alike()
    for _ in range(5):
        list(mutate_structure({"a": "x"}, SCHEMA, alike=alike))
    assert alike.left_out == 4  # the object and its member, twice


def test_within_one_example_all_items_that_are_looked_into_count_once() -> None:
    found = made({"a": "x", "b": [1, 2, 3]}, {"a": "x", "b": [1, 2, 3]})
    assert found[0] == found[1]
    assert {"/b/0", "/b/1", "/b/2"} <= found[0]
