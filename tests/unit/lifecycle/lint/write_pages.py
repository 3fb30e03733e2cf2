"""Write the pages of the rules anew: ``python tests/unit/lifecycle/lint/write_pages.py``."""

from __future__ import annotations

from pathlib import Path

from sluicegate.lifecycle.lint.pages import page_of, reference
from sluicegate.lifecycle.lint.table import RULES

ROOT = Path(__file__).resolve().parents[4]
PAGES = ROOT / "src" / "sluicegate" / "rendering" / "rules"
REFERENCE = ROOT / "docs" / "reference" / "lint.md"

if __name__ == "__main__":
    for rule in RULES.values():
        (PAGES / f"{rule.id}.md").write_text(page_of(rule), encoding="utf-8")
    REFERENCE.write_text(reference(), encoding="utf-8")
