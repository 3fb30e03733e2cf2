"""The benchmarks run and write their page; their figures are no test."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_quick_run_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), "--quick", "--out", str(page)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    text = page.read_text("utf-8")
    assert text.startswith("# Benchmarks\n")
    for row in (
        "| ladder, proven, few fields | ",
        "| whole call, record in SQLite | ",
        "| json + jsonschema, prebuilt, with formats | ",
        "| an endless body under a limit of 1 MB | ",
        "## Record in PostgreSQL\n\nGates on one chain",
    ):
        assert row in text
    assert "TOO_LARGE" in text
    (diffs,) = re.findall(r"^## Diffs\n(.*?)\Z", text, re.MULTILINE | re.DOTALL)
    if "SLUICEGATE_SUITES" in os.environ:
        assert re.search(r"^\| v0.33.1 to v1.0.0 \| 102 \| 1 \| [0-9.]+ s \|$", diffs, re.MULTILINE)
    else:
        assert "Not run: SLUICEGATE_SUITES" in diffs


def test_a_section_measured_anew_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text(
        "# Benchmarks\n\n## Record\n\nr\n\n## Diffs\n\nbefore\n\n## Last\n\nl\n", "utf-8"
    )
    options = ("--quick", "--only", "diffs", "--out", str(page))
    environment = {name: each for name, each in os.environ.items() if name != "SLUICEGATE_SUITES"}
    subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "run.py"), *options],
        capture_output=True,
        env=environment,
        check=True,
    )
    text = page.read_text("utf-8")
    assert text.startswith("# Benchmarks\n\n## Record\n\nr\n\n## Diffs\n\n`sluicegate diff")
    assert text.endswith("Not run: SLUICEGATE_SUITES names no folder of suites.\n\n## Last\n\nl\n")
    assert "before" not in text
