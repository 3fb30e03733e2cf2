"""A child process that the kernel and a clock end: for what a hostile schema can make run for ever.

The child reads one JSON array from standard input and writes one line for each entry that it
finished. It has no environment, and is run by the path of its file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from sluicegate.values.json import JsonValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """``lines`` are those that were finished; ``by_itself`` is false where our clock ended it."""

    lines: tuple[bytes, ...]
    succeeded: bool
    by_itself: bool = True


def run_through(
    script: Path,
    entries: Sequence[T],
    wall_s: float,
    *,
    most: int | None = None,
    pack: Callable[[Sequence[T]], Sequence[JsonValue]],
) -> list[bytes | None]:
    """Return the line that a child wrote for each entry; None for one that it did not finish.

    One child does for all, unless an entry ends it: the next goes on behind that one. Where our
    clock ended it, others may have used up its time, so that entry is tried again unless it was the
    first. ``most`` children are started, as many as it takes by default; ``pack`` writes what is
    left for one of them. Never raises for what the entries hold.
    """
    done: list[bytes | None] = []
    children = 0
    while len(done) < len(entries) and children != most:
        left = entries[len(done) :]
        ended = run_child(script, pack(left), wall_s)
        children += 1
        # A child that ends badly has not finished the last one, whatever it wrote.
        lines = ended.lines[: len(left) if ended.succeeded else len(left) - 1]
        done.extend(lines)
        if len(lines) < len(left) and (ended.by_itself or not lines):
            done.append(None)
    return [*done, *[None] * (len(entries) - len(done))]


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
