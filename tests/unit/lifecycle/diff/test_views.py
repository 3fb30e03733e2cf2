"""No result that is called compatible lets the agent see what it could not see before.

Over seeded pairs of contracts with selections, in a world small enough to be gone through. 100
pairs by default; 3,000 where SLUICEGATE_FULL is 1.
"""

from __future__ import annotations

import copy
import os
import random
from collections import Counter
from typing import Any, Final

import pytest
from tests.unit.lifecycle.diff.random_results import FLAT as FLAT_WORLD
from tests.unit.lifecycle.diff.random_results import (
    WORLDS,
    edit_result,
    make_nullable_choice,
    make_result,
    make_selection,
    values_of,
)
from tests.unit.lifecycle.diff.test_policies import BASE, compared, load_one

from sluicegate.checks.selection import compile_selector
from sluicegate.contracts.contract import Contract
from sluicegate.lifecycle.diff.comparison import ToolDiff
from sluicegate.lifecycle.diff.touching import admits_null
from sluicegate.values.json import canonical_text

pytestmark = pytest.mark.requirement("LIF-3")

PAIRS: Final = 3_000 if os.environ.get("SLUICEGATE_FULL") == "1" else 100


def contract(schema: Any, agent: list[str]) -> Contract | None:
    document = copy.deepcopy(BASE)
    del document["upstream"]["map"]
    document["result"] = {"schema": schema, "agent": agent}
    found = load_one(document)
    return found if isinstance(found, Contract) else None


def judged(old: Any, new: Any, agent: list[str]) -> ToolDiff:
    before, after = contract(old, agent), contract(new, agent)
    assert before is not None
    assert after is not None
    return compared(before, after)


def seen(whole: Contract, values: list[Any]) -> set[str]:
    selector: Any = compile_selector(whole.result)
    takes = whole.result.schema.is_valid
    return {canonical_text(selector(one, ())[0]) for one in values if takes(one)}


def test_nothing_that_is_called_compatible_lets_a_new_view_through() -> None:
    rng = random.Random(20261130)
    worlds = [(world, values_of(world)) for world in WORLDS]
    wrong = []
    found: Counter[tuple[str, bool]] = Counter()
    while found.total() < PAIRS:
        world, values = rng.choice(worlds)
        schema, agent = make_result(rng, world), make_selection(rng, world)
        edited = edit_result(rng, schema, world)
        fewer = [one for one in agent if len(agent) == 1 or rng.random() < 0.9]
        old, new = contract(schema, agent), contract(edited, fewer or agent)
        if old is None or new is None:
            continue
        fresh = seen(new, values) - seen(old, values)
        outcome = str(compared(old, new).outcome)
        found[outcome, bool(fresh)] += 1
        if outcome == "compatible" and fresh:
            wrong.append((schema, edited, agent, fewer, sorted(fresh)[:3]))
    assert wrong == []
    harmless = sum(number for (_, fresh), number in found.items() if not fresh)
    assert found["compatible", False] > harmless * 0.7
    assert harmless < PAIRS * 0.95


def test_no_null_comes_through_a_choice_that_is_called_compatible() -> None:
    rng = random.Random(20261130)
    values = values_of(FLAT_WORLD)
    found: Counter[tuple[str, bool]] = Counter()
    for _ in range(PAIRS // 2):
        written, edited = make_nullable_choice(rng)
        agent = rng.choice((["/o/p"], ["/o/q"], ["/o/p", "/n"]))
        old, new = contract(written, agent), contract(edited, agent)
        assert old is not None
        assert new is not None
        fresh = bool(seen(new, values) - seen(old, values))
        found[str(compared(old, new).outcome), fresh] += 1
    assert not found["compatible", True]
    assert found["breaking", True]
    assert found["compatible", False]


BIT = {"type": "integer", "minimum": 0, "maximum": 10}
SHORT = {"type": "string", "pattern": "^[a-z]{1,9}$", "maxLength": 9}


def closed(properties: Any, required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required or []}
    return {**schema, "additionalProperties": False, **more}


FLAT = closed({"id": SHORT, "n": BIT}, ["id"])
LIST = {"type": "array", "items": closed({"a": BIT, "b": BIT}, ["a"]), "maxItems": 3}
BRANCHES = [
    closed({"kind": {"const": "one"}, "a": BIT, "log": SHORT}, ["kind", "a"]),
    closed({"kind": {"const": "two"}, "b": BIT, "log": SHORT}, ["kind", "b"]),
]


def listed(**more: Any) -> dict[str, Any]:
    return closed({"l": {**LIST, **more}}, ["l"])


def branched(first: Any, keyword: str = "oneOf") -> dict[str, Any]:
    return {"type": "object", keyword: [first, BRANCHES[1]], "unevaluatedProperties": False}


SEEN: list[tuple[str, Any, Any, list[str], str]] = [
    *(
        (keyword, {**FLAT, keyword: value, **more}, FLAT, ["/id", "/n"], kind)
        for keyword, value, kind, more in (
            (
                "if",
                {"properties": {"id": {"const": "abc"}}},
                "condition-removed",
                {"then": {"properties": {"n": {"maximum": 5}}}},
            ),
            ("dependentRequired", {"id": ["n"]}, "condition-removed", {}),
            ("dependentSchemas", {"id": {"required": ["n"]}}, "condition-removed", {}),
            ("not", {"properties": {"n": {"const": 5}}}, "condition-removed", {}),
            ("minProperties", 2, "bound-loosened", {}),
            ("maxProperties", 1, "bound-loosened", {}),
            ("propertyNames", {"maxLength": 1}, "constraint-removed", {}),
            ("anyOf", [{"required": ["n"]}, {"maxProperties": 0}], "branches-changed", {}),
            ("oneOf", [{"required": ["n"]}, {"maxProperties": 0}], "branches-changed", {}),
        )
    ),
    *(
        (keyword, listed(**{keyword: value}), listed(), ["/l/*/a"], kind)
        for keyword, value, kind in (
            ("minItems", 1, "bound-loosened"),
            ("uniqueItems", True, "constraint-removed"),
            ("contains", {"required": ["b"]}, "constraint-removed"),
        )
    ),
    (
        "a member of a branch may be absent",
        branched(BRANCHES[0]),
        branched({**BRANCHES[0], "required": ["kind"]}),
        ["/kind", "/a", "/b"],
        "property-optional",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "agent", "kind"), [pytest.param(*case[1:], id=case[0]) for case in SEEN]
)
def test_what_joins_selected_members_is_no_change_of_unselected_data(
    old: Any, new: Any, agent: list[str], kind: str
) -> None:
    found = judged(old, new, agent)
    assert [(one.kind, str(one.bump)) for one in found.changes if one.breaks] == [(kind, "major")]
    assert all(one.pointer.startswith("/result/schema") for one in found.changes)
    assert judged(new, old, agent).outcome == "compatible"


def test_a_condition_that_is_gone_is_shown_by_a_value_that_reaches_the_agent() -> None:
    (_, old, new, agent, _), *_ = SEEN
    (shown,) = judged(old, new, agent).counterexamples
    value: Any = shown.value
    assert value["id"] == "abc"
    assert value["n"] > 5


CONDITION = {
    "if": {"properties": {"id": {"const": "abc"}}, "required": ["id"]},
    "then": {"properties": {"n": {"maximum": 5}}},
}


def text(limit: int) -> dict[str, Any]:
    return {"type": "string", "pattern": "^[a-z]*$", "maxLength": limit}


def logged(limit: int, *, required: bool = False, **more: Any) -> dict[str, Any]:
    needed = ["id", "log"] if required else ["id"]
    return closed({"id": SHORT, "n": BIT, "log": text(limit)}, needed, **more)


def log_of_items(limit: int) -> dict[str, Any]:
    item = closed({"a": BIT, "b": {**BIT, "maximum": limit}}, ["a", "b"])
    return closed({"l": {**LIST, "items": item}}, ["l"])


def log_of_branch(limit: int, keyword: str) -> dict[str, Any]:
    members = {**BRANCHES[0]["properties"], "log": text(limit)}
    return branched(closed(members, ["kind", "a", "log"]), keyword)


DEPENDENT = {"dependentRequired": {"log": ["n"]}}

UNSEEN: list[tuple[str, Any, Any, list[str]]] = [
    ("plain", logged(5), logged(50), ["/id", "/n"]),
    ("required", logged(5, required=True), logged(50), ["/id", "/n"]),
    ("beside a condition", logged(5, **CONDITION), logged(50, **CONDITION), ["/id", "/n"]),
    ("beside a count", logged(5, minProperties=2), logged(50, minProperties=2), ["/id", "/n"]),
    ("beside what depends", logged(5, **DEPENDENT), logged(50, **DEPENDENT), ["/id", "/n"]),
    ("items", log_of_items(1), log_of_items(10), ["/l/*/a"]),
    *(
        (
            f"a branch of {keyword}",
            log_of_branch(5, keyword),
            log_of_branch(50, keyword),
            ["/kind", "/a", "/b"],
        )
        for keyword in ("oneOf", "anyOf")
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "agent"), [pytest.param(*case[1:], id=case[0]) for case in UNSEEN]
)
def test_what_the_agent_cannot_see_is_a_minor_whatever_stands_beside_it(
    old: Any, new: Any, agent: list[str]
) -> None:
    found = judged(old, new, agent)
    assert {(one.kind, str(one.bump)) for one in found.changes} == {
        ("unselected-data-changed", "minor")
    }


def test_a_hidden_member_that_could_not_be_had_before_is_no_unseen_change() -> None:
    never = {"type": "string", "enum": ["a"], "maxLength": 0}
    old = closed({"id": SHORT, "log": never}, ["id", "log"])
    new = closed({"id": SHORT, "log": {"enum": ["a"]}}, ["id", "log"])
    assert judged(old, new, ["/id"]).outcome == "undecided"


def test_branches_within_a_branch_are_seen_by_what_closes_the_whole() -> None:
    """Two of them that hold together let through members that none does alone."""

    def nested(first: Any, second: Any) -> dict[str, Any]:
        one = {"properties": {"kind": {"const": "one"}}, "required": ["kind"]}
        inner = {**one, "anyOf": [{"properties": first}, {"properties": second}]}
        two = {"properties": {"kind": {"const": "two"}}, "required": ["kind"]}
        return {"type": "object", "oneOf": [inner, two], "unevaluatedProperties": False}

    old = nested({"a": BIT, "h": BIT, "b": False}, {"b": BIT, "a": False})
    new = nested({"a": BIT, "h": BIT}, {"b": BIT})
    assert judged(old, new, ["/kind", "/a", "/b"]).outcome != "compatible"


def told_apart(keyword: str, count: int = 2, *, of: Any = ("object", "null")) -> dict[str, Any]:
    """A place whose branches are told apart by a hidden member, and by a null not at all."""
    branches = [
        closed({"kind": {"const": kind}, "x": {"enum": list(values)}}, ["kind", "x"])
        for kind, values in (("a", (1, 2)), ("b", (3,)))
    ]
    for branch in branches:
        del branch["type"]
    item = {"type": list(of), keyword: branches[:count]}
    return closed({"id": SHORT, "item": item}, ["item"])


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_a_null_that_took_two_branches_is_new_where_it_takes_one(keyword: str) -> None:
    new = told_apart("anyOf") if keyword == "anyOf" else told_apart("oneOf", 1)
    found = judged(told_apart("oneOf"), new, ["/item/x"])
    assert found.outcome == "breaking"
    assert [one.value for one in found.counterexamples] == [{"item": None}]
    assert judged(new, new, ["/item/x"]).outcome == "compatible"


def test_the_hidden_part_of_a_branch_may_widen_beside_a_null() -> None:
    def widened(limit: int, keyword: str) -> dict[str, Any]:
        schema = told_apart(keyword)
        schema["properties"]["item"][keyword][0]["properties"]["log"] = text(limit)
        return schema

    for keyword in ("oneOf", "anyOf"):
        found = judged(widened(5, keyword), widened(50, keyword), ["/item/x"])
        assert {one.kind for one in found.changes} == {"unselected-data-changed"}
        assert found.outcome == "compatible"


@pytest.mark.parametrize("types", [("object", "string"), ("object", "string", "null")])
def test_a_choice_over_other_values_than_objects_is_not_taken_apart(types: Any) -> None:
    old, new = told_apart("oneOf", of=types), told_apart("anyOf", of=types)
    assert judged(old, new, ["/item/x"]).outcome != "compatible"


NULL: Any = {"type": "null"}
TAKES_NULL: list[tuple[Any, bool | None]] = [
    (True, True),
    (False, False),
    ({"properties": {"a": False}, "minItems": 3}, True),
    ({"type": ["object", "null"]}, True),
    ({"type": "object"}, False),
    ({"enum": [1, None]}, True),
    ({"const": 0}, False),
    ({"$ref": "#/$defs/null"}, True),
    ({"allOf": [NULL, {"type": "string"}]}, False),
    ({"anyOf": [{"type": "string"}, NULL]}, True),
    ({"anyOf": [{"type": "string"}]}, False),
    ({"oneOf": [True, NULL]}, False),
    ({"oneOf": [True, {"type": "string"}]}, True),
    ({"not": NULL}, False),
    ({"if": NULL, "then": False}, False),
    ({"if": NULL, "else": False}, True),
    ({"if": {"type": "string"}, "else": {"type": "string"}}, False),
    ({"$dynamicRef": "#x"}, None),
    ({"oneOf": [True, NULL, {"$dynamicRef": "#x"}]}, False),
    ({"oneOf": [True, {"$dynamicRef": "#x"}]}, None),
    ({"if": {"$dynamicRef": "#x"}, "then": False}, None),
    ({"if": {"$dynamicRef": "#x"}}, True),
    ({"$ref": "#/$defs/round"}, None),
]


@pytest.mark.parametrize(("schema", "admitted"), TAKES_NULL)
def test_whether_a_null_is_valid_is_told_from_what_applies_in_place(
    schema: Any, admitted: bool | None
) -> None:
    root = {"$defs": {"null": NULL, "round": {"anyOf": [{"$ref": "#/$defs/round"}]}}}
    assert admits_null(schema, root) is admitted


def test_choices_beyond_measure_leave_it_untold() -> None:
    deep: Any = NULL
    for _ in range(90):
        deep = {"anyOf": [deep]}
    assert admits_null(deep, {}) is None
