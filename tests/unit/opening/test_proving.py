"""A proof that does not come to an end is no proof, and takes no other with it."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sluicegate.lifecycle.diff.comparison import Part
from sluicegate.lifecycle.diff.containment import UNPROVEN
from sluicegate.opening import proving
from sluicegate.opening.proving import prove_parts
from sluicegate.values.pointers import NOTHING

pytestmark = pytest.mark.requirement("LIF-3")


def part(old: Any, new: Any) -> Part:
    return Part(role="arguments", place="", old=old, new=new, differences=(), reader="tool")


PAIR = part({"type": "integer", "maximum": 2}, {"type": "integer", "maximum": 1})


def test_a_proof_comes_back_from_the_child_with_its_witness() -> None:
    (proof,) = prove_parts([PAIR])
    assert (proof.new_covers_old, proof.old_covers_new) == ("no", "yes")
    assert (proof.lost, proof.gained) == (2, NOTHING)


def test_a_witness_of_null_is_a_witness() -> None:
    (proof,) = prove_parts([part({"type": ["string", "null"]}, {"type": "string"})])
    assert proof.lost is None


def test_what_a_proof_assumes_is_tried_in_the_child() -> None:
    narrower = part({"type": "integer"}, {"type": "integer", "maximum": 1})
    sound, doubtful = prove_parts(
        [replace(narrower, assumed=({"const": 1},)), replace(narrower, assumed=({"not": {}},))]
    )
    assert (sound.old_covers_new, doubtful.old_covers_new) == ("yes", "unknown")


def test_nothing_to_prove_starts_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert prove_parts([]) == ()


def test_a_child_that_cannot_start_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert prove_parts([PAIR, PAIR]) == (UNPROVEN, UNPROVEN)


def test_a_pair_that_ends_the_child_is_unproven_and_the_others_are_not() -> None:
    (first, broken, last) = prove_parts([PAIR, part({"type": "dict"}, {}), PAIR])
    assert broken == UNPROVEN
    assert first == last
    assert first.new_covers_old == "no"


def test_a_child_that_hangs_is_ended_and_its_pair_unproven(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    hanging = tmp_path / "hanging.py"
    hanging.write_text("import sys\nsys.stdin.read()\nimport signal\nsignal.pause()\n")
    monkeypatch.setattr(proving, "_CHILD", hanging)
    monkeypatch.setattr(proving, "WALL_S", 0.3)
    assert prove_parts([PAIR]) == (UNPROVEN,)


def test_one_run_starts_no_more_children_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proving, "MAX_CHILDREN", 2)
    broken = part({"type": "dict"}, {})
    assert prove_parts([broken, broken, PAIR]) == (UNPROVEN, UNPROVEN, UNPROVEN)


def test_lists_of_lists_are_compared() -> None:
    lists: dict[str, Any] = {"type": "array", "items": {"$ref": "#"}}
    (proof,) = prove_parts([part(lists, {**lists, "maxItems": 2})])
    assert proof.new_covers_old == "no"
