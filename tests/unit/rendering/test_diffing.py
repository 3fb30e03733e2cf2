"""What a diff shows is escaped for its reader, and what breaks stands next to the summary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sluicegate.rendering.diffing import (
    ShownChange,
    ShownDiff,
    ShownVersion,
    ShownWitness,
    report_diff,
)
from sluicegate.rendering.github import render_report_github
from sluicegate.rendering.human import render_human
from sluicegate.rendering.json_v1 import shape_report

pytestmark = pytest.mark.requirement("LIF-3", "AUD-5")

CHANGE = ShownChange(
    kind="bound-tightened",
    tool="t",
    role="arguments",
    pointer="/maximum",
    within="new",
    old="maximum 2",
    new="maximum 1",
    bump="major",
    basis="table",
    needs_replay=False,
    fingerprint="0123456789ab",
    waived=None,
    file="new.json",
    line=3,
    column=4,
)
MINOR = replace(CHANGE, kind="type-narrowed", bump="minor", needs_replay=True, line=None)
DIFF = ShownDiff(
    old="old.json",
    new="new.json",
    verdict="breaking",
    bump="major",
    tools=2,
    changes=(CHANGE, MINOR, replace(CHANGE, waived="agreed")),
    witnesses=(ShownWitness(tool="t", role="arguments", admitted_by="old", value=2),),
    versions=(
        ShownVersion(
            tool="t",
            fault="under-bumped",
            old="1.0.0",
            new="1.1.0",
            required="major",
            wanted="2.0.0",
            file="new.json",
        ),
    ),
    idle=(("ba9876543210", "expired"),),
)
HOSTILE = "\x1b[31m::error::\u202e\n"


def test_a_person_reads_the_least_first_and_the_summary_last() -> None:
    lines = render_human(report_diff(DIFF)).splitlines()
    assert lines[0] == "new.json:3:4: info bound-tightened"
    assert [line for line in lines if "error" in line] == [
        "new.json:3:4: error bound-tightened",
        "new.json: error under-bumped",
    ]
    assert lines[-3:] == [
        "counterexample: arguments of t that the old version takes and the new one does not",
        "  2",
        (
            "BREAKING: 3 changes, 1 breaking, 1 to replay first, 1 waived, 1 version at fault,"
            " 2 tools compared; version: major"
        ),
    ]


def test_a_hundred_counterexamples_are_told_as_five_and_how_many() -> None:
    lines = render_human(report_diff(replace(DIFF, witnesses=DIFF.witnesses * 100))).splitlines()
    assert sum(line.startswith("counterexample") for line in lines) == 5
    assert lines[-2] == "… and 95 counterexamples more; --format json-v1 tells all"


def test_a_workflow_log_has_errors_for_breaks_and_warnings_for_replays() -> None:
    told = render_report_github(report_diff(DIFF)).splitlines()
    levels = [line.split(" ")[0].split("::")[1] for line in told]
    assert levels == ["error", "warning", "notice", "error", "warning", "notice"]


@pytest.mark.parametrize("member", ["tool", "pointer", "old", "new", "file", "waived"])
def test_no_text_of_the_other_side_acts_on_its_reader(member: str) -> None:
    told: Any = {member: HOSTILE}
    shown = replace(DIFF, changes=(replace(CHANGE, **told),))
    for render in (render_human, render_report_github):
        text = render(report_diff(shown))
        assert "\x1b" not in text
        assert "\u202e" not in text
    plain = replace(DIFF, changes=(replace(CHANGE, **{member: "x"}),))
    assert len(render_human(report_diff(shown)).splitlines()) <= len(
        render_human(report_diff(plain)).splitlines()
    ) + HOSTILE.count("\n")
    assert not any(line.startswith("::") for line in render_human(report_diff(shown)).splitlines())


def test_json_has_the_members_that_were_promised() -> None:
    shaped = shape_report(report_diff(DIFF))
    assert list(shaped)[:4] == ["verdict", "changes", "witness", "bump"]
    assert shaped["witness"] == {
        "tool": "t",
        "role": "arguments",
        "admitted_by": "old",
        "value": 2,
    }


def test_what_does_not_load_has_no_bump() -> None:
    unread = ShownDiff(old="a", new="b", verdict=None, bump="patch", tools=0)
    shaped = shape_report(report_diff(unread))
    assert (shaped["verdict"], shaped["bump"]) == ("does-not-load", None)
