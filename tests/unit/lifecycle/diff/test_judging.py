"""The proof binds, the stricter of table and proof counts, and what is unproven is said."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.lifecycle.diff.comparing import compare

from sluicegate.lifecycle.diff.changes import Basis, Difference
from sluicegate.lifecycle.diff.containment import EQUAL, Proof
from sluicegate.lifecycle.diff.judging import judge_schema, judge_unselected, outcome_of
from sluicegate.lifecycle.diff.kinds import Bump

pytestmark = pytest.mark.requirement("LIF-3")

LOWERED = Difference(kind="bound-tightened", pointer="/maximum")
PATTERN = Difference(kind="pattern-changed", pointer="/pattern")


def judged(difference: Difference | None, covers: tuple[Any, Any], role: Any) -> Any:
    proof = Proof(new_covers_old=covers[0], old_covers_new=covers[1])
    found = () if difference is None else (difference,)
    return judge_schema(found, proof, "t", role, written_alike=False)


@pytest.mark.parametrize(
    ("difference", "covers", "role", "expected"),
    [
        pytest.param(
            LOWERED,
            ("no", "yes"),
            "arguments",
            [("bound-tightened", Bump.MAJOR, Basis.TABLE, False)],
            id="narrower arguments",
        ),
        pytest.param(
            LOWERED,
            ("no", "yes"),
            "result",
            [("bound-tightened", Bump.MINOR, Basis.TABLE, True)],
            id="a narrower result needs a replay",
        ),
        pytest.param(
            LOWERED,
            ("yes", "no"),
            "arguments",
            [("bound-tightened", Bump.MAJOR, Basis.STRICTER, False)],
            id="the table is stricter than the proof",
        ),
        pytest.param(
            LOWERED,
            ("no", "no"),
            "result",
            [
                ("bound-tightened", Bump.MINOR, Basis.TABLE, True),
                ("schema-changed", Bump.MAJOR, Basis.PROOF, False),
            ],
            id="the proof finds more than the table",
        ),
        pytest.param(
            LOWERED,
            ("yes", "yes"),
            "arguments",
            [("rewritten", Bump.PATCH, Basis.TABLE, False)],
            id="equal meaning is no change",
        ),
        pytest.param(
            PATTERN,
            ("unknown", "unknown"),
            "arguments",
            [("pattern-changed", Bump.MAJOR, Basis.UNPROVEN, False)],
            id="unproven",
        ),
        pytest.param(
            PATTERN,
            ("no", "yes"),
            "result",
            [("pattern-changed", Bump.MINOR, Basis.PROOF, True)],
            id="proven narrower",
        ),
        pytest.param(
            PATTERN,
            ("yes", "no"),
            "result",
            [("pattern-changed", Bump.MAJOR, Basis.PROOF, False)],
            id="proven wider",
        ),
        pytest.param(
            None,
            ("yes", "no"),
            "arguments",
            [("schema-changed", Bump.MINOR, Basis.PROOF, False)],
            id="wider and no keyword tells",
        ),
    ],
)
def test_table_and_proof_come_to_one_judgement(
    difference: Difference | None, covers: tuple[Any, Any], role: str, expected: list[Any]
) -> None:
    changes = judged(difference, covers, role)
    assert [(c.kind, c.bump, c.basis, c.needs_replay) for c in changes] == expected


def test_what_is_unproven_is_undecided_until_a_known_break_outweighs_it() -> None:
    unproven = judged(PATTERN, ("unknown", "unknown"), "arguments")
    broken = judged(LOWERED, ("no", "yes"), "arguments")
    assert outcome_of(()) == "compatible"
    assert outcome_of(unproven) == "undecided"
    assert outcome_of((*unproven, *broken)) == "breaking"


@pytest.mark.parametrize(
    ("covers", "replay"), [(("no", "yes"), True), (("yes", "no"), False), (("no", "no"), True)]
)
def test_data_that_no_agent_sees_never_breaks_it(covers: tuple[Any, Any], replay: bool) -> None:
    proof = Proof(new_covers_old=covers[0], old_covers_new=covers[1])
    (change,) = judge_unselected([LOWERED], proof, "t", seen=EQUAL, place="/result/schema")
    assert (change.kind, change.bump, change.needs_replay) == (
        "unselected-data-changed",
        Bump.MINOR,
        replay,
    )


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        pytest.param(("yes", "yes"), True, id="the agent sees no change"),
        pytest.param(("yes", "no"), True, id="what the agent sees widens, and the rest narrows"),
        pytest.param(("no", "yes"), False, id="what the agent sees says why"),
    ],
)
def test_data_that_is_not_equal_is_told_though_no_keyword_says_why(
    seen: tuple[Any, Any], told: bool
) -> None:
    proof = Proof(new_covers_old="no", old_covers_new="yes")
    view = Proof(new_covers_old=seen[0], old_covers_new=seen[1])
    found = judge_unselected([], proof, "t", seen=view, place="/result/schema")
    assert [(one.kind, one.pointer, one.needs_replay) for one in found] == (
        [("unselected-data-changed", "/result/schema", True)] if told else []
    )


def test_a_pattern_that_is_spelled_otherwise_is_undecided_for_both() -> None:
    old = {"type": "string", "pattern": "^[A-Z]{2}$"}
    new = {"type": "string", "pattern": "^[A-Z][A-Z]$"}
    assert compare(old, new, "arguments").outcome == "undecided"
    assert compare(old, new, "result").outcome == "undecided"


def test_a_witness_closes_what_the_canonical_form_leaves_open() -> None:
    old = {"type": "string", "pattern": "^[A-Z]{2}$"}
    new = {"type": "string", "pattern": "^[A-Z]{3}$"}
    (shown,) = compare(old, new, "arguments").counterexamples
    assert shown.admitted_by == "old"
    assert isinstance(shown.value, str)
    assert len(shown.value) == 2
