"""The field cases of lint: on each row the named rule fires."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.lifecycle.lint.deciding import lint_here

from sluicegate.lifecycle.lint.findings import LintFinding

pytestmark = pytest.mark.requirement("LIF-1")

ROWS: list[dict[str, Any]] = [
    json.loads(line)
    for line in Path(__file__).with_name("lint-schemas.jsonl").read_text("utf-8").splitlines()
]


def names(findings: tuple[LintFinding, ...]) -> set[str]:
    return {name for finding in findings for name in (finding.rule, finding.name)}


@pytest.mark.parametrize("side", ["arguments", "result"])
@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["rule"] is not None], ids=lambda row: row["id"]
)
def test_the_rule_of_the_row_fires(row: dict[str, Any], side: Any) -> None:
    assert row["rule"] in names(lint_here(row["schema"], side))


@pytest.mark.parametrize(
    "row", [row for row in ROWS if row["rule"] is None], ids=lambda row: row["id"]
)
def test_a_row_without_rule_has_no_error(row: dict[str, Any]) -> None:
    found = {each.rule for each in lint_here(row["schema"]) if each.severity == "error"}
    assert found == set()
