"""The page of the audit verbs names those that exist."""

from __future__ import annotations

import re
from pathlib import Path

from sluicegate.cli.audit import audit

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "audit.md"


def test_the_page_lists_every_verb_and_no_other() -> None:
    listed = re.findall(r"^\| `([a-z]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(audit.commands)
