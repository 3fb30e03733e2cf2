"""Each rule finds its own bad example, and nothing in its good one."""

from __future__ import annotations

import pytest
from tests.unit.lifecycle.lint.deciding import TODAY, decide_here

from sluicegate.lifecycle.lint.findings import Example, Rule
from sluicegate.lifecycle.lint.linting import lint
from sluicegate.lifecycle.lint.table import CODES, RULES, find_rule
from sluicegate.values.codes import CODES as CODE_TABLE
from sluicegate.values.codes import Stage

pytestmark = pytest.mark.requirement("LIF-1")

OF_SCHEMAS = [rule for rule in RULES.values() if rule.id != "L04"]
"""L04 is about a baseline file; ``test_lint.py`` of the acceptance tests shows it."""


def fired(example: Example) -> set[str]:
    (findings,) = lint([example.subject], decide=decide_here, today=TODAY)
    return {finding.rule for finding in findings}


@pytest.mark.parametrize("rule", OF_SCHEMAS, ids=lambda rule: rule.id)
def test_the_bad_example_of_a_rule_breaks_it(rule: Rule) -> None:
    assert rule.id in fired(rule.bad)


@pytest.mark.parametrize("rule", OF_SCHEMAS, ids=lambda rule: rule.id)
def test_the_good_example_of_a_rule_keeps_it(rule: Rule) -> None:
    assert rule.id not in fired(rule.good)


def test_no_two_rules_have_one_name() -> None:
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


def test_a_rule_is_found_by_id_and_by_name_whatever_the_case() -> None:
    assert find_rule("c01") is find_rule("Open-Object") is RULES["C01"]
    assert find_rule("C99") is None


def test_the_map_of_rules_names_codes_of_registration() -> None:
    assert CODES["C01"] == "SCHEMA_OPEN_OBJECT"
    assert all(Stage.REGISTER in CODE_TABLE[code].stages for code in CODES.values())
