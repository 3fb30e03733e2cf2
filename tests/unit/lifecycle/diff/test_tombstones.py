"""Names that went: a removal asks for a tombstone, and what comes back breaks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import BASE, contract

from sluicegate.lifecycle.diff import tombstones
from sluicegate.lifecycle.diff.changes import judge_by_table
from sluicegate.lifecycle.diff.tombstones import find_returning, find_tombstone_differences

pytestmark = pytest.mark.requirement("LIF-3")

TEXT = {"type": "string", "maxLength": 9}
RESULT = "result.schema.properties"
STEPS = f"{RESULT}.steps.items.properties"
NOTE_GONE = {f"{RESULT}.note": ...}
KEPT = {"removed": {"result": {"/note": "1.0.0"}}}
OTHER = {"removed": {"result": {"/other": "1.0.0"}}}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], list[tuple[str, str, str]]]] = {
    "nothing": ({}, {}, []),
    "an added member": ({}, {f"{RESULT}.more": TEXT}, []),
    "a removal without tombstone": ({}, NOTE_GONE, [("tombstone-missing", "result", "patch")]),
    "a removal with its tombstone": (
        {},
        {**NOTE_GONE, **KEPT},
        [("tombstone-added", "result", "patch")],
    ),
    "a removed argument": (
        {},
        {"arguments.schema.properties.limit": ...},
        [("tombstone-missing", "arguments", "patch")],
    ),
    "a rename": (
        {},
        {**NOTE_GONE, f"{RESULT}.remark": TEXT},
        [("tombstone-missing", "result", "patch")],
    ),
    "an object that went, told once": (
        {},
        {f"{RESULT}.steps": ...},
        [("tombstone-missing", "result", "patch")],
    ),
    "a tombstone of another name": (
        {},
        {**NOTE_GONE, **OTHER},
        [("tombstone-added", "result", "patch"), ("tombstone-missing", "result", "patch")],
    ),
    "a tombstone of the other side": (
        {},
        {**NOTE_GONE, "removed": {"arguments": {"/note": "1.0.0"}}},
        [("tombstone-added", "arguments", "patch"), ("tombstone-missing", "result", "patch")],
    ),
    "a tombstone that stays": ({**NOTE_GONE, **KEPT}, {**NOTE_GONE, **KEPT}, []),
    "a tombstone that goes": (
        {**NOTE_GONE, **KEPT},
        NOTE_GONE,
        [("tombstone-removed", "result", "major")],
    ),
    "a tombstone of another version": (
        {**NOTE_GONE, **KEPT},
        {**NOTE_GONE, "removed": {"result": {"/note": "0.9.0"}}},
        [("tombstone-added", "result", "patch")],
    ),
    "a name that comes back": (
        {**NOTE_GONE, **KEPT},
        {},
        [("removed-name-reused", "result", "major")],
    ),
    "a name that comes back below an item": (
        {"removed": {"result": {"/steps/*/label": "1.0.0"}}},
        {f"{STEPS}.label": TEXT},
        [("removed-name-reused", "result", "major")],
    ),
    "a tombstone for what it stood in": (
        {"removed": {"result": {"/steps/*/label": "1.0.0"}}},
        {f"{RESULT}.steps": ..., "removed": {"result": {"/steps": "1.0.0"}}},
        [("tombstone-added", "result", "patch")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_becomes_of_a_name_is_named_and_judged(case: str) -> None:
    old, new, wanted = CASES[case]
    found = find_tombstone_differences(contract(old), contract(new))
    changes = [judge_by_table(difference, "t", role) for role, difference in found]
    assert [(one.kind, one.role, str(one.bump)) for one in changes] == wanted


def test_a_schema_of_too_many_members_counts_as_breaking_once_it_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> None:
        raise tombstones.TooManyMembersError("more than 3 members")

    monkeypatch.setattr(tombstones, "list_members", refuse)
    assert list(find_tombstone_differences(contract(), contract())) == []
    ((role, found),) = find_tombstone_differences(contract(), contract(NOTE_GONE))
    assert (role, found.kind) == ("result", "names-not-compared")


def test_a_name_of_an_older_release_that_comes_back_is_found_without_any_tombstone() -> None:
    older = [("0.8.0", dict(BASE)), ("0.9.0", dict(BASE))]
    gone = {**NOTE_GONE, f"{RESULT}.steps": ...}
    found = list(find_returning(older, contract(gone), contract()))
    assert [(role, one.kind, one.new, one.old) for role, one in found] == [
        ("result", "removed-name-reused", "/note", "stood in 0.8.0"),
        ("result", "removed-name-reused", "/steps", "stood in 0.8.0"),
    ]
    assert list(find_returning(older, contract(), contract())) == []
    assert list(find_returning([("0.8.0", {})], contract(gone), contract())) == []


def test_what_has_a_tombstone_in_the_last_release_is_not_told_twice() -> None:
    before = contract({**NOTE_GONE, **KEPT})
    assert list(find_returning([("0.8.0", dict(BASE))], before, contract())) == []
