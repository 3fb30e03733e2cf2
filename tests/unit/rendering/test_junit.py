"""JUnit: one test case a checked thing, and XML whatever a thing is named."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.reported import OPEN, REMARK, WIDE, report

from sluicegate.rendering.junit import render_junit

pytestmark = pytest.mark.requirement("LIF-5")

CASES = ("a b.json", "c.json")


def test_every_checked_thing_is_a_case_and_an_error_fails_its_own() -> None:
    assert render_junit(report(OPEN, WIDE, cases=CASES)) == (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<testsuites name="sluicegate" tests="2" failures="1" errors="0">\n'
        '  <testsuite name="lint" tests="2" failures="1" errors="0">\n'
        '    <testcase classname="sluicegate.lint" name="a b.json" file="contracts/a b.json">\n'
        '      <failure type="C01" message="The object takes any member.">'
        "contracts/a b.json:2:12 /b: error C01 open-object\n"
        "  The object takes any member.\n"
        "  What nobody declared reaches the agent.\n"
        "  Write additionalProperties: false.</failure>\n"
        "      <system-out>contracts/a b.json#/b: warning C09 wide\n"
        "  The object takes any member.\n"
        "  Write additionalProperties: false.</system-out>\n"
        "    </testcase>\n"
        '    <testcase classname="sluicegate.lint" name="c.json" />\n'
        "  </testsuite>\n"
        "</testsuites>\n"
    )


def test_an_item_of_no_case_is_a_case_of_its_own() -> None:
    root = ElementTree.fromstring(render_junit(report(REMARK)))
    assert [case.get("name") for case in root.iter("testcase")] == ["C10 wide"]
    assert root.get("failures") == "0"


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_stays_inside_its_case(name: str) -> None:
    hostile = replace(
        OPEN, rule=name, name=name, message=name, file=name, pointer=name, why=name, group=name
    )
    root = ElementTree.fromstring(render_junit(report(hostile, cases=("]]>\x00", "c"))))
    assert (root.get("tests"), len(list(root.iter("failure")))) == ("3", 1)
