"""Running an example of the documents as a reader would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run_example(name: str) -> str:
    """Run ``docs_src/NAME`` and return what it prints; it ends well and says nothing aside."""
    ran = subprocess.run(
        [sys.executable, f"docs_src/{name}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout
