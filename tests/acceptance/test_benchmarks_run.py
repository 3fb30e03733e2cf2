"""The benchmarks run and write their page; their figures are no test."""

from __future__ import annotations

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
    ):
        assert row in text
    assert "TOO_LARGE" in text
