"""The page of the audit verbs names those that exist."""

from __future__ import annotations

import re
from pathlib import Path

from sluicegate.cli.audit import audit
from sluicegate.contracts.settings import RetentionSettings
from sluicegate.opening.folder import read_settings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "audit.md"


def test_the_page_lists_every_verb_and_no_other() -> None:
    listed = re.findall(r"^\| `([a-z]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(audit.commands)


def test_what_the_page_says_is_kept_is_what_holds_where_nothing_is_said(tmp_path: Path) -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## What is kept")[2]
    said = section.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "sluicegate.yaml").write_text(f"sluicegate: 1\n{said}", encoding="utf-8")
    assert read_settings(tmp_path).retention == RetentionSettings()
