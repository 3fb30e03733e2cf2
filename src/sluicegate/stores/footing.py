"""The files a connection stands on: seen once a batch, so that no answer rests on lost ones."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_SUFFIXES: Final = ("", "-wal", "-shm")


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    device: int
    inode: int
    size: int


class Footing:
    """What stood at the names of a database, its log and its index when it was last seen.

    SQLite looks at its open descriptors only: it goes on writing into a log that was unlinked or
    cut, and every event since would be nowhere. While a connection is open nothing of ours
    replaces or shortens these files; a sound act of another program that does (VACUUM, a
    truncating checkpoint) costs one batch, and the connection is opened anew.
    """

    __slots__ = ("_path", "_seen")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = self._look()

    def tell_loss(self) -> str | None:
        """Return what was replaced, removed or shortened since, None if nothing was."""
        found = self._look()
        for suffix, before, now in zip(_SUFFIXES, self._seen, found, strict=True):
            name = f"{self._path.name}{suffix}"
            if before is None:
                continue
            if now is None:
                return f"{name} was removed under the writer"
            if (now.device, now.inode) != (before.device, before.inode):
                return f"{name} was replaced under the writer"
            if now.size < before.size:
                return f"{name} was cut from {before.size} to {now.size} bytes"
        self._seen = found
        return None

    def _look(self) -> tuple[_File | None, ...]:
        return tuple([_look_at(f"{self._path}{suffix}") for suffix in _SUFFIXES])


def _look_at(name: str) -> _File | None:
    try:
        found = os.stat(name)  # noqa: PTH116  (six times a batch)
    except FileNotFoundError:
        return None
    return _File(device=found.st_dev, inode=found.st_ino, size=found.st_size)
