"""SARIF 2.1.0: valid by its schema, and what code scanning needs to show a result.

``sarif-2.1.0-rtm.5.schema.json`` is OASIS's schema as the npm package @microsoft/jest-sarif (MIT)
ships it, without its descriptions.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from tests.unit.rendering.hostile import HOSTILE
from tests.unit.rendering.reported import OPEN, REMARK, WIDE, report

from sluicegate.rendering.escaping import escape_json
from sluicegate.rendering.reports import Item, RuleHelp
from sluicegate.rendering.sarif import render_sarif

pytestmark = pytest.mark.requirement("LIF-5")

_SCHEMA = json.loads((Path(__file__).parent / "sarif-2.1.0-rtm.5.schema.json").read_bytes())
_RULE = RuleHelp(id="C01", name="open-object", text="An object is open.", page="# C01\n\nWhy.")


def run_of(*items: Item) -> dict[str, object]:
    log = json.loads(escape_json(render_sarif(report(*items), [_RULE])))
    jsonschema.validate(log, _SCHEMA, cls=jsonschema.Draft4Validator)
    (run,) = log["runs"]
    return run  # type: ignore[no-any-return]


def test_a_result_names_rule_level_place_and_fingerprint() -> None:
    (result,) = run_of(OPEN)["results"]  # type: ignore[misc, attr-defined]
    assert result.pop("partialFingerprints").keys() == {"sluicegate/v1"}
    assert result == {
        "ruleId": "C01",
        "ruleIndex": 0,
        "level": "error",
        "message": {"text": f"{OPEN.message}\n{OPEN.why}\n{OPEN.hint}"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": "contracts/a%20b.json",
                        "uriBaseId": "%SRCROOT%",
                    },
                    "region": {"startLine": 2, "startColumn": 12},
                },
                "logicalLocations": [{"fullyQualifiedName": "/b"}],
            }
        ],
    }


def test_rules_carry_their_help_and_an_unknown_rule_is_added() -> None:
    rules = run_of(WIDE, OPEN, REMARK)["tool"]["driver"]["rules"]  # type: ignore[index]
    assert [rule["id"] for rule in rules] == ["C01", "C09", "C10"]
    assert rules[0]["help"] == {"text": "# C01\n\nWhy.", "markdown": "# C01\n\nWhy."}


def test_levels_counts_and_missing_places_are_told() -> None:
    wide, remark = run_of(WIDE, REMARK)["results"]  # type: ignore[misc, attr-defined]
    assert (wide["level"], wide["occurrenceCount"]) == ("warning", 3)
    assert wide["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert (remark["level"], "locations" in remark) == ("note", False)


def test_a_clean_report_is_a_run_without_results() -> None:
    assert run_of()["results"] == []


def test_an_absolute_path_is_a_whole_uri() -> None:
    (result,) = run_of(replace(OPEN, file="/a/b.json"))["results"]  # type: ignore[misc, attr-defined]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "file:///a/b.json"}


def test_a_name_cannot_make_a_link() -> None:
    (result,) = run_of(replace(OPEN, message="[press](http://evil.example)", why="", hint=""))[  # type: ignore[misc, attr-defined]
        "results"
    ]
    assert result["message"]["text"] == "\\[press\\](http://evil.example)"


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_name_stays_a_valid_log(name: str) -> None:
    hostile = replace(OPEN, name=name, message=name, file="f/" + name, pointer="/" + name)
    (result,) = run_of(hostile)["results"]  # type: ignore[misc, attr-defined]
    assert all(line.isprintable() for line in result["message"]["text"].split("\n"))
