"""Running the command line: here in this process, or apart as a shell does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sluicegate.cli.main import run

EXPECTED = Path(__file__).parent / "expected"


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


class Here:
    """Runs command lines in this process; inputs are files."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Done:
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = self._capsys.readouterr()
        return Done(code, captured.out, captured.err)


def run_apart(
    *arguments: str | Path, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> Done:
    """Run the command line as a process of its own, its output piped."""
    ended = subprocess.run(
        [
            sys.executable,
            "-c",
            "from sluicegate.cli.main import main; main()",
            *map(str, arguments),
        ],
        input=stdin,
        capture_output=True,
        timeout=60,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    return Done(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def expected(name: str) -> str:
    """Return a whole output that stands in the folder ``expected``."""
    return (EXPECTED / name).read_text(encoding="utf-8")
