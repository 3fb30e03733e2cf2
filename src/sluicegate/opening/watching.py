"""Whether something in a folder has changed, by time and size of its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeAlias

PAUSE_S: Final = 0.5
_LEFT_OUT: Final = frozenset({"state", "keys", "__pycache__"})

Stamps: TypeAlias = Mapping[str, tuple[int, int]]


def stamp_files(folder: Path) -> Stamps:
    """Return time of change and size of every file below ``folder``; a record changes by itself.

    Names that begin with a dot, ``state``, ``keys`` and compiled Python are left out.
    """
    stamps: dict[str, tuple[int, int]] = {}
    for here, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if name not in _LEFT_OUT and not name.startswith(".")
        ]
        for name in files:
            path = Path(here, name)
            try:
                stat = path.stat()
            except OSError:  # gone since it was listed
                continue
            stamps[str(path)] = (stat.st_mtime_ns, stat.st_size)
    return stamps


def wait_for_change(folder: Path, seen: Stamps, sleep: Callable[[float], None]) -> Stamps:
    """Return the new stamps as soon as they differ from ``seen``, looking twice a second."""
    while True:
        stamps = stamp_files(folder)
        if stamps != seen:
            return stamps
        sleep(PAUSE_S)
