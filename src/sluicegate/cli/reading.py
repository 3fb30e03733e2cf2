"""Reading what a command is given: bounded, and with one way to say that it cannot be read."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Final

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import stop

STDIN: Final = "-"
STDIN_NAME: Final = "<stdin>"


def read_input(path: str, max_bytes: int) -> bytes:
    """Return the file, or stdin for ``-``: at most ``max_bytes`` and one byte more.

    The one byte more lets the rung that bounds say TOO_LARGE; nothing beyond it is read. Ends the
    command with exit code 5 where the input cannot be read, or is no plain file.
    """
    try:
        if path == STDIN:
            return _read(sys.stdin.buffer, max_bytes + 1)
        from sluicegate.gates.plain_files import read_plain

        return read_plain(Path(path), max_bytes)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        stop(Exit.UNREADABLE, f"{name_of(path)} cannot be read: {reason}")


def _read(file: BinaryIO, wanted: int) -> bytes:
    pieces = []
    while wanted > 0:
        piece = file.read(min(wanted, 1 << 20))
        if not piece:
            break
        pieces.append(piece)
        wanted -= len(piece)
    return b"".join(pieces)


def name_of(path: str) -> str:
    """Return the name that stands for an input in reports."""
    return STDIN_NAME if path == STDIN else path
