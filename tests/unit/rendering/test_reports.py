"""One report, told to a person, a program and GitHub's workflow log."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.reported import OPEN, RAW, REMARK, WIDE, report

from sluicegate.rendering.json_v1 import render_object
from sluicegate.rendering.reports import (
    column_in_characters,
    fingerprint_item,
    render_report_github,
    render_report_human,
    shape_report,
)
from sluicegate.rendering.spans import locate

pytestmark = pytest.mark.requirement("LIF-5")


def test_a_person_reads_place_line_caret_reason_and_way_on() -> None:
    assert render_report_human(report(OPEN, WIDE), sources={OPEN.file: RAW}) == (
        "contracts/a b.json:2:12: error C01 open-object\n"
        "  The object takes any member.\n"
        '  2 |  "ü": "é", "b": {}\n'
        "    |            ^\n"
        "  at /b\n"
        "  why: What nobody declared reaches the agent.\n"
        "  hint: Write additionalProperties: false.\n"
        "\n"
        "contracts/a b.json: warning C09 wide\n"
        "  The object takes any member.\n"
        "  at /b\n"
        "  3 places in all\n"
        "  hint: Write additionalProperties: false.\n"
        "\n"
        "FINDINGS: 1 error, 1 warning in 2 checked\n"
    )


def test_a_clean_report_is_one_line() -> None:
    assert render_report_human(report()) == "CLEAN: nothing found in 2 checked\n"


def test_a_place_beyond_the_file_shows_no_line() -> None:
    lost = replace(OPEN, line=9)
    assert "^" not in render_report_human(report(lost), sources={OPEN.file: RAW})


def test_columns_count_characters_and_not_bytes() -> None:
    place = locate(RAW, "/b")
    assert place is not None
    assert place.key is not None
    assert column_in_characters(RAW, place.key) == OPEN.column


def test_github_gets_one_command_an_item_and_the_counts() -> None:
    assert render_report_github(report(OPEN, REMARK)) == (
        "::error file=contracts/a b.json,line=2,col=12,title=C01 open-object::The object takes any"
        " member.%0AWhat nobody declared reaches the agent.%0AWrite additionalProperties: false.\n"
        "::notice title=C10 wide::The object takes any member.%0AWrite additionalProperties: false."
        "\n::notice title=lint::findings: 1 error, 1 remark in 2 checked\n"
    )


def test_the_object_for_programs_keeps_its_published_schema() -> None:
    schema = json.loads(
        files("sluicegate.rendering").joinpath("schemas/report.schema.json").read_bytes()
    )
    shown = json.loads(render_object("lint", shape_report(report(OPEN, WIDE, REMARK))))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(shown, schema, cls=jsonschema.Draft202012Validator)
    assert set(shown["items"][0]) == set(schema["$defs"]["item"]["required"])
    counted = {name: shown[name] for name in ("errors", "warnings", "infos", "profile")}
    assert counted == {"errors": 1, "warnings": 1, "infos": 1, "profile": "strict"}


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
def test_a_hostile_name_acts_on_no_reader(name: str) -> None:
    hostile = replace(OPEN, name=name, message=name, file=name, pointer="/" + name, hint=name)
    lines = render_report_human(report(hostile)).splitlines()
    assert all(line.isprintable() for line in lines)
    assert not any(line.startswith("::") for line in lines)
    assert len(render_report_github(report(hostile)).splitlines()) == 2
