"""Each link of the documentation leads to a file, and to a heading of it where it names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
INDEX = (DOCS / "README.md").read_text("utf-8")


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text("utf-8"))
    return {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```", "", page.read_text("utf-8"))
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        goal = page.parent / target if target else page
        assert goal.exists(), target
        if anchor and goal.suffix == ".md":
            assert anchor in anchors(goal), f"{target}#{anchor}"


def test_the_index_leads_to_every_page_of_reference_and_to_every_decision() -> None:
    linked = set(re.findall(r"\]\(([^)#]+)", INDEX))
    pages = [path for room in ("reference", "decisions") for path in (DOCS / room).glob("*.md")]
    assert {str(path.relative_to(DOCS)) for path in pages} - linked == set()
