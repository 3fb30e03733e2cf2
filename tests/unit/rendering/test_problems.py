"""A fault of a contract folder says where it is, what is wrong, and how to mend it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.rendering.reported import report

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.github import render_report_github
from sluicegate.rendering.human import render_item
from sluicegate.rendering.json_v1 import shape_item
from sluicegate.rendering.problems import item_of_problem
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("LIF-5", "CON-1")

PROBLEM = Problem(
    code=Code.CONTRACT_INVALID,
    document="job/contract.yaml",
    message="`max_age` is no key of fresh.",
    mend="Write max_age_s.",
    pointer="/result/fresh/max_age",
    line=2,
    column=3,
)


def test_a_person_reads_place_line_and_way_on() -> None:
    assert render_item(item_of_problem(PROBLEM), read=lambda _: b"fresh:\n  max_age: 60\n") == (
        "job/contract.yaml:2:3: error CONTRACT_INVALID\n"
        "  `max_age` is no key of fresh.\n"
        "  2 |   max_age: 60\n"
        "    |   ^\n"
        "  at /result/fresh/max_age\n"
        "  hint: Write max_age_s.\n"
        "  sluicegate explain CONTRACT_INVALID\n"
    )


def test_a_problem_without_a_place_names_its_file_alone() -> None:
    nowhere = item_of_problem(replace(PROBLEM, pointer="", line=None, column=None))
    assert render_report_github(report(nowhere)).splitlines()[0] == (
        "::error file=job/contract.yaml,title=CONTRACT_INVALID::"
        "`max_age` is no key of fresh.%0AWrite max_age_s."
    )


def test_a_program_finds_the_members_that_problems_always_had() -> None:
    shaped = shape_item(item_of_problem(PROBLEM))
    assert {name: shaped[name] for name in ("code", "document", "mend", "line")} == {
        "code": "CONTRACT_INVALID",
        "document": "job/contract.yaml",
        "mend": "Write max_age_s.",
        "line": 2,
    }
