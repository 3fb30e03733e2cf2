"""The page of keys names every key that the reader takes, in its section, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from sluicegate.contracts.keys import KEYS
from sluicegate.opening.sidecars import SIDECAR_KEYS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "contract.md"


def test_the_page_of_keys_is_the_table_of_keys() -> None:
    told: dict[str, set[str]] = {}
    for line in PAGE.read_text("utf-8").splitlines():
        if line.startswith("| ") and "`" in line:
            section, names, *_ = [cell.strip() for cell in line.strip("|").split("|")]
            told.setdefault(section, set()).update(re.findall(r"`([^`]+)`", names))
    assert told == {section: set(names) for section, names in KEYS.items()}


def test_the_page_names_every_key_of_a_sidecar_and_no_other() -> None:
    fixtures = PAGE.read_text("utf-8").partition("## Fixtures")[2]
    told: set[str] = set()
    for line in fixtures.splitlines():
        if line.startswith("- `"):
            told.update(re.findall(r"`([^`]+)`", line.partition(":")[0]))
    assert told == set(SIDECAR_KEYS)
