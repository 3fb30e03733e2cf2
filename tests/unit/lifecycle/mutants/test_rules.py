"""The lint rules that survivors name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sluicegate.lifecycle import mutants
from sluicegate.lifecycle.lint.table import RULES

SOURCES = sorted(Path(str(mutants.__file__)).parent.glob("*.py"))
NAMED = sorted(
    {rule for path in SOURCES for rule in re.findall(r'"([A-Z]\d\d)"', path.read_text())}
)


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize("rule", NAMED)
def test_a_rule_that_a_mutant_names_is_one_that_lint_has(rule: str) -> None:
    assert rule in RULES


def test_the_safeguards_of_the_specification_are_among_them() -> None:
    assert {"C01", "X01", "B02", "C05", "X04", "B03", "B01", "B04"} <= set(NAMED)
