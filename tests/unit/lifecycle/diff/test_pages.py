"""The table of kinds, their pages and the reference say the same."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import sluicegate.lifecycle.diff as package
from sluicegate.lifecycle.diff.kinds import KINDS, Rule
from sluicegate.rendering.change_pages import list_change_kinds, read_change_page
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("LIF-3")

REFERENCE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "diff.md"
WORDS = {Rule.NONE: "does not arise", Rule.PROOF: "as proven"}


def word(rule: Rule) -> str:
    return WORDS.get(rule, rule.value)


def test_every_kind_has_a_page_and_every_page_a_kind() -> None:
    assert set(list_change_kinds()) == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_a_page_begins_with_what_the_table_says(name: str) -> None:
    page = read_change_page(name)
    assert page is not None
    lines = page.splitlines()
    assert lines[0] == f"# {name}"
    assert lines[4:6] == [
        f"- arguments: {word(KINDS[name].arguments)}",
        f"- result: {word(KINDS[name].result)}",
    ]
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == ["## What it looks like", "## Why it counts", "## What to do"]


def test_the_reference_is_the_table() -> None:
    rows = re.findall(
        r"^\| `([a-z-]+)` \| (.+?) \| (.+?) \| (.+?) \|$", REFERENCE.read_text(), re.MULTILINE
    )
    summaries = list_change_kinds()
    assert rows == [
        (name, word(kind.arguments), word(kind.result), summaries[name])
        for name, kind in KINDS.items()
    ]


def test_no_kind_has_the_name_of_a_code() -> None:
    assert {name.upper() for name in KINDS}.isdisjoint(set(Code))


def test_every_kind_is_named_somewhere_in_the_code() -> None:
    named: set[str] = set()
    for path in Path(package.__path__[0]).glob("*.py"):
        if path.name != "kinds.py":
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    named.add(node.value)
    made = {
        f"{keyword}-{verb}"
        for keyword in ("pattern", "format", "constraint", "condition")
        for verb in ("added", "changed", "removed")
    }
    assert set(KINDS) - named - made == set()


def test_an_unknown_kind_has_no_page() -> None:
    assert read_change_page("../codes/STALE") is None
