"""One report, as a program and GitHub's workflow log are told it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.reported import FAILING, OPEN, RAW, REMARK, WIDE, report

from sluicegate.rendering.github import render_report_github
from sluicegate.rendering.json_v1 import shape_report
from sluicegate.rendering.reports import column_in_characters, fingerprint_item
from sluicegate.rendering.spans import locate

pytestmark = pytest.mark.requirement("LIF-5")


def test_columns_count_characters_and_not_bytes() -> None:
    place = locate(RAW, "/b")
    assert place is not None
    assert place.key is not None
    assert column_in_characters(RAW, place.key) == OPEN.column


def test_github_gets_one_command_an_item_and_the_summary() -> None:
    assert render_report_github(report(OPEN, REMARK)) == (
        "::error file=contracts/a b.json,line=2,col=12,title=C01 open-object::The object takes any"
        " member.%0AWhat nobody declared reaches the agent.%0AWrite additionalProperties: false."
        "%0Aat /b\n"
        "::notice title=C10 wide::The object takes any member.%0AWrite additionalProperties: false."
        "\n::notice title=lint::FAILS: 2 schemas\n"
    )


def test_github_is_told_the_causes_of_an_item() -> None:
    assert (
        render_report_github(report(FAILING))
        .splitlines()[0]
        .endswith(
            "::was rejected%0AENUM at /b: expected one of: 1, 2. did you mean 1"
            "%0ATYPE at the whole document"
        )
    )


def test_a_program_is_told_each_part_and_what_an_item_does_not_have_is_null() -> None:
    hidden = replace(REMARK, part="")
    extra = replace(OPEN, part="more", detail={"kind": "other"})
    shown = shape_report(replace(report(OPEN, WIDE, hidden, extra), parts=("items", "more", "no")))
    counted = {name: shown[name] for name in ("errors", "warnings", "infos", "profile")}
    assert counted == {"errors": 2, "warnings": 1, "infos": 1, "profile": "strict"}
    listed = {part: shown[part] for part in ("items", "more", "no")}
    assert listed == {
        "items": [
            {
                "rule": "C01",
                "name": "open-object",
                "severity": "error",
                "message": "The object takes any member.",
                "why": "What nobody declared reaches the agent.",
                "hint": "Write additionalProperties: false.",
                "tool": None,
                "file": "contracts/a b.json",
                "pointer": "/b",
                "line": 2,
                "column": 12,
                "fingerprint": fingerprint_item(OPEN),
                "count": 1,
                "group": "a b.json",
            },
            {
                "rule": "C09",
                "name": "wide",
                "severity": "warning",
                "message": "The object takes any member.",
                "why": None,
                "hint": "Write additionalProperties: false.",
                "tool": None,
                "file": "contracts/a b.json",
                "pointer": "/b",
                "line": None,
                "column": None,
                "fingerprint": fingerprint_item(WIDE),
                "count": 3,
                "group": "a b.json",
            },
        ],
        "more": [{**listed["items"][0], "kind": "other"}],  # type: ignore[index, dict-item, call-overload]
        "no": [],
    }


def test_a_fingerprint_stays_where_lines_move_and_differs_by_rule_and_place() -> None:
    moved = replace(OPEN, line=90, message="Said otherwise.")
    assert fingerprint_item(moved) == fingerprint_item(OPEN)
    others = {
        fingerprint_item(item)
        for item in (OPEN, replace(OPEN, rule="C02"), replace(OPEN, pointer="/c"), REMARK)
    }
    assert len(others) == 4
    assert fingerprint_item(replace(OPEN, fingerprint="own")) == "own"


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_acts_on_no_workflow_log(name: str) -> None:
    hostile = replace(OPEN, name=name, message=name, file=name, pointer="/" + name, hint=name)
    assert len(render_report_github(report(hostile)).splitlines()) == 2
