"""A child process that the kernel and a clock end: for what a hostile schema can make run for ever.

The child reads one JSON array from standard input and writes one line for each entry that it
finished. It has no environment, and is run by the path of its file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sluicegate.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """``lines`` are those that were finished; ``by_itself`` is false where our clock ended it."""

    lines: tuple[bytes, ...]
    succeeded: bool
    by_itself: bool = True


def run_child(script: Path, entries: Sequence[JsonValue], wall_s: float) -> Ended:
    """Hand ``entries`` to a fresh child and wait for it, ``wall_s`` seconds at most.

    Never raises for what the entries hold; where no child can be started, nothing was finished.
    """
    given = json.dumps(list(entries)).encode()
    try:
        ended = subprocess.run(  # noqa: S603  (our own file, by our own interpreter)
            [sys.executable, "-I", str(script)],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            timeout=wall_s,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        return Ended(lines=_lines(expired.stdout), succeeded=False, by_itself=False)
    except OSError:  # no child, no trial: nothing passes untried
        return Ended(lines=(), succeeded=False)
    return Ended(lines=_lines(ended.stdout), succeeded=ended.returncode == 0)


def _lines(output: bytes | None) -> tuple[bytes, ...]:
    """What stands behind the last line feed was not finished."""
    return tuple((output or b"").split(b"\n")[:-1])
