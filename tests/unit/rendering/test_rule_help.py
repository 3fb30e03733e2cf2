"""Each rule of our own has a page, and its head is what the table says."""

import pytest

from sluicegate.rendering.reports import RuleHelp
from sluicegate.rendering.rule_help import list_own_rules

pytestmark = pytest.mark.requirement("LIF-5")


@pytest.mark.parametrize("rule", list_own_rules(), ids=lambda rule: rule.id)
def test_the_page_of_an_own_rule_begins_with_its_table_entry(rule: RuleHelp) -> None:
    lines = rule.page.splitlines()
    assert lines[:4] == [f"# {rule.id} {rule.name}", "", rule.text, ""]
    assert [line for line in lines if line.startswith("## ")] == ["## Why", "## What to do"]
