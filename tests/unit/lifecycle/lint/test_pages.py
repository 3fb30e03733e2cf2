"""Table, pages and reference say the same."""

from __future__ import annotations

import pytest
from tests.unit.lifecycle.lint.write_pages import PAGES, REFERENCE

from sluicegate.lifecycle.lint.findings import Rule
from sluicegate.lifecycle.lint.pages import page_of, reference
from sluicegate.lifecycle.lint.table import RULES
from sluicegate.rendering.rule_pages import list_rules, read_rule_page

pytestmark = pytest.mark.requirement("LIF-1")


def test_the_pages_are_exactly_the_rules() -> None:
    assert {page.stem for page in PAGES.iterdir()} == set(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_page_is_what_the_table_says(rule: Rule) -> None:
    assert (PAGES / f"{rule.id}.md").read_text("utf-8") == page_of(rule)


def test_the_reference_is_what_the_table_says() -> None:
    assert REFERENCE.read_text("utf-8") == reference()


def test_a_page_is_found_by_id_and_by_name() -> None:
    assert read_rule_page("c01") == read_rule_page("open-object") == page_of(RULES["C01"])
    assert read_rule_page("no-such-rule") is None


def test_the_list_of_rules_is_that_of_the_table() -> None:
    assert list_rules() == {
        rule.id: rule.name for rule in sorted(RULES.values(), key=lambda r: r.id)
    }
