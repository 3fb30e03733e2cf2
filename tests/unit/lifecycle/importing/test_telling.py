"""Many tools ask the same: it is told once, counted, and of whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.importing.blueprint import Decision
from sluicegate.lifecycle.importing.drafts import Draft
from sluicegate.lifecycle.importing.telling import tell_decisions, tell_left_out
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("LIF-6")

HOME = Path("contracts")
OWNER = Decision(at="owner", question="owner: who")


def bound(at: str) -> Decision:
    return Decision(at="result", question=f"result: bounds, at {at}", topic="result: bounds, at")


def draft(tool: str, *decisions: Decision, accepted: bool = False) -> Draft:
    return Draft(tool=tool, files={}, decisions=decisions, accepted=accepted)


def test_one_draft_is_told_question_by_question() -> None:
    blocking = Decision(at="effect", question="effect: which", blocks=True)
    assert list(tell_decisions([draft("a", OWNER, bound("/x"), bound("/y"))], HOME)) == [
        "contracts/a/contract.yaml: decide: owner: who",
        "contracts/a/contract.yaml: decide: result: bounds, at /x",
        "contracts/a/contract.yaml: decide: result: bounds, at /y",
    ]
    assert list(tell_decisions([draft("a", OWNER, blocking, accepted=True)], HOME)) == [
        "contracts/a/contract.yaml: default taken: owner: who",
        "contracts/a/contract.yaml: decide: effect: which",
    ]


def test_the_same_question_of_many_is_told_once_with_their_number_and_names() -> None:
    drafts = [draft(f"t{number}", OWNER, bound(f"/{number}")) for number in range(100)]
    assert list(tell_decisions(drafts, HOME)) == [
        "contracts: decide, all 100 contracts: owner: who",
        "contracts: decide, all 100 contracts: result: bounds, at … (see each contract.yaml)",
    ]
    some = [draft(name, OWNER, bound("/x")) for name in "ab"]
    assert list(tell_decisions([*some, draft("c", bound("/y"))], HOME)) == [
        "contracts: decide, 2 of 3 contracts (a, b): owner: who",
        "contracts: decide, all 3 contracts: result: bounds, at … (see each contract.yaml)",
    ]
    assert list(tell_decisions([*some, draft("c")], HOME))[1] == (
        "contracts: decide, 2 of 3 contracts (a, b): result: bounds, at /x"
    )
    (told,) = tell_decisions([*(draft(f"t{n}", OWNER) for n in range(10)), draft("z")], HOME)
    assert told == (
        "contracts: decide, 10 of 11 contracts (t0, t1, t2, t3, t4, t5, t6, t7 and 2 more):"
        " owner: who"
    )


def left_out(line: int, name: str = "a", mend: str = "Rename it.") -> Problem:
    return Problem(
        code=Code.TOOL_NAME_PATTERN,
        document="tools.json",
        message=f"`{name}` is no name.",
        mend=mend,
        pointer=f"/{line}/name",
        line=line,
        column=1,
    )


def test_a_few_that_were_left_out_are_told_one_by_one() -> None:
    assert list(tell_left_out([left_out(1), left_out(2, "b"), left_out(3, mend="Other.")])) == [
        "tools.json:1:1: TOOL_NAME_PATTERN: `a` is no name. Rename it. Left out: /1/name",
        "tools.json:2:1: TOOL_NAME_PATTERN: `b` is no name. Rename it. Left out: /2/name",
        "tools.json:3:1: TOOL_NAME_PATTERN: `a` is no name. Other. Left out: /3/name",
    ]


def test_many_that_were_left_out_for_one_reason_are_told_once_with_their_places() -> None:
    first, rest = tell_left_out([left_out(line, str(line)) for line in range(1, 101)])
    assert first.startswith("tools.json:1:1: TOOL_NAME_PATTERN: `1` is no name.")
    assert rest.startswith(
        "tools.json: TOOL_NAME_PATTERN: left out for the same reason, 99 more: /2/name (line 2), "
    )
    assert rest.endswith("/9/name (line 9) and 91 more")
