"""Every pair of the field cases, judged for both readers: right, or undecided and said so."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from tests.unit.lifecycle.diff.comparing import registered

from sluicegate.lifecycle.diff.comparison import ToolDiff, compare_schemas, judge
from sluicegate.lifecycle.diff.containment import Proof, prove

ROWS: Final[dict[str, Any]] = {
    row["id"]: row
    for row in map(
        json.loads,
        Path(__file__).with_name("schema-changes.jsonl").read_text("utf-8").splitlines(),
    )
}

UNDECIDED: Final = frozenset({"pattern equivalent spelling"})
"""Whether two patterns admit the same texts is not proven here (facts: lifecycle 0.2)."""


Side = Literal["arguments", "result"]
SIDES: Final[tuple[Side, Side]] = ("arguments", "result")


@cache
def proof_of(name: str) -> Proof:
    return prove(*documents_of(name))


@cache
def documents_of(name: str) -> tuple[Any, Any]:
    return registered(ROWS[name]["old"]).document, registered(ROWS[name]["new"]).document


def judged(name: str, side: Side) -> ToolDiff:
    comparison = compare_schemas(*documents_of(name), side)
    return judge(comparison, [proof_of(name)] * len(comparison.unproven))


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ROWS)
def test_every_field_case_is_judged_right_for_both_readers(name: str, side: Side) -> None:
    found = judged(name, side)
    expected = "undecided" if name in UNDECIDED else ROWS[name]["expect"][side]
    assert found.outcome == expected, found.changes


@pytest.mark.requirement("LIF-3")
@pytest.mark.parametrize("name", ROWS)
def test_a_break_is_shown_by_a_value_that_one_side_takes_and_the_other_does_not(name: str) -> None:
    for side in SIDES:
        broken = ROWS[name]["expect"][side] == "breaking"
        assert bool(judged(name, side).counterexamples) == broken


@pytest.mark.requirement("LIF-3")
def test_no_field_case_rests_on_the_table_against_the_proof() -> None:
    disputed = [
        (name, change.kind)
        for name in ROWS
        for side in SIDES
        for change in judged(name, side).changes
        if change.basis == "stricter"
    ]
    assert disputed == []
