"""The tutorial's commands run, in their order, in an empty folder."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "docs" / "tutorial" / "first-contract.md"


def test_each_command_of_the_tutorial_ends_well(tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", TUTORIAL.read_text("utf-8"), re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines()]
    assert len(commands) == 5
    seen = {}
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "sluicegate"
        ran = subprocess.run(
            [sys.executable, "-m", "sluicegate", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        seen[command] = (ran.returncode, ran.stderr if ran.returncode else "")
    assert seen == dict.fromkeys(commands, (0, ""))
