"""``removed``: a name that was released and went is not declared again."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import contract, problems

from sluicegate.contracts import reading_removed
from sluicegate.contracts.contract import RemovedNames
from sluicegate.contracts.schemas.members import TooManyMembersError
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("LIF-3")


def test_tombstones_are_read_for_both_sides() -> None:
    found = contract(
        {
            "version": "2.1.0",
            "removed": {
                "arguments": {"/branch": "2.0.0"},
                "result": {"/steps/*/label": "2.1.0", "/gone/inner": "1.0.0-rc.1"},
            },
        }
    )
    assert found.removed == RemovedNames(
        arguments={Pointer.parse("/branch"): "2.0.0"},
        result={
            Pointer.parse("/steps/*/label"): "2.1.0",
            Pointer.parse("/gone/inner"): "1.0.0-rc.1",
        },
    )
    assert found.document["removed"]["arguments"] == {"/branch": "2.0.0"}  # type: ignore[index,call-overload]


@pytest.mark.requirement("CON-4")
def test_a_tombstone_is_policy_and_a_contract_without_one_keeps_its_digest() -> None:
    without, empty = contract(), contract({"removed": {}})
    buried = contract({"removed": {"result": {"/branch": "1.0.0"}}})
    assert empty.fingerprints == without.fingerprints
    assert buried.fingerprints.language == without.fingerprints.language
    assert buried.fingerprints.policy != without.fingerprints.policy


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "an argument that is declared": (
        {"arguments": {"/run_id": "1.0.0"}},
        "/removed/arguments/~1run_id",
        "was removed with 1.0.0, and the schema declares it again",
    ),
    "a member of the data that is declared": (
        {"result": {"/steps/*/name": "1.0.0"}},
        "/removed/result/~1steps~1*~1name",
        "declares it again",
    ),
    "what something declared stands in": (
        {"result": {"/steps": "1.0.0"}},
        "/removed/result/~1steps",
        "declares it again",
    ),
    "the whole document": ({"result": {"": "1.0.0"}}, "/removed/result/", "names no member"),
    "every item": (
        {"result": {"/gone/*": "1.0.0"}},
        "/removed/result/~1gone~1*",
        "names no member",
    ),
    "no pointer": ({"result": {"gone": "1.0.0"}}, "/removed/result/gone", "not a JSON Pointer"),
    "no version": ({"result": {"/gone": "1.0"}}, "/removed/result/~1gone", "such as 2.0.0"),
    "a later version": (
        {"result": {"/gone": "1.0.1"}},
        "/removed/result/~1gone",
        "follows version 1.0.0",
    ),
    "a list": ({"result": ["/gone"]}, "/removed/result", "a mapping"),
    "another side": ({"data": {"/gone": "1.0.0"}}, "/removed/data", "not a key of removed"),
}


@pytest.mark.requirement("CON-1")
@pytest.mark.parametrize("case", REFUSED)
def test_each_fault_is_told_at_its_place_and_alone(case: str) -> None:
    removed, pointer, said = REFUSED[case]
    (found,) = problems({"removed": removed})
    assert (found.pointer, said in str(found)) == (pointer, True), str(found)
    assert found.line is not None


def test_a_schema_of_too_many_members_is_held_to_no_tombstone_and_does_not_load(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: object) -> frozenset[Pointer]:
        raise TooManyMembersError("more than 3 members")

    monkeypatch.setattr(reading_removed, "list_members", refuse)
    (found,) = problems({"removed": {"result": {"/gone": "1.0.0"}}})
    assert "more than 3 members" in found.message
