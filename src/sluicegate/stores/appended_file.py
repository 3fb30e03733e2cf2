"""Whole lines appended to a file that stands outside of the record, one writer at a time."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import open_descriptor, open_plain
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.stores import database_path
from sluicegate.stores.whole_files import sync_directory

SCHEME: Final = "file:"
MOUNT_IT: Final = (
    "mount the disk, make the folder, or name another one; only the file itself is made"
)
_MODE: Final = 0o600
_WINDOW_BYTES: Final = 8_192


class FolderMissing(OSError):  # noqa: N818  (a state of the disk)
    """The folder of the file is not there; ``strerror`` says so, and what to do."""


class AppendedFile:
    """Append-only lines in one file, under a lock beside it. Every method raises OSError.

    The folder is never made: one that is gone may be a disk that is not mounted, and what were made
    in its place would be taken for what stood there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def __str__(self) -> str:
        return str(self.folder / self.path.name)

    @property
    def folder(self) -> Path:
        """The folder as it is told: without links and ``..``."""
        return Path(os.path.realpath(self.path.parent))

    def lock(self) -> FileLock:
        """Return a lock of the caller's own; who holds it alone reads the end and appends."""
        self._demand_folder()
        return FileLock(self.path.with_name(f"{self.path.name}.lock"))

    def read_last(self) -> bytes | None:
        """Return the last whole line without its break, None where the folder holds none."""
        try:
            descriptor = open_descriptor(self.path, os.O_RDONLY)
        except FileNotFoundError:
            self._demand_folder()
            return None
        try:
            end = _find_break(descriptor, os.lseek(descriptor, 0, os.SEEK_END))
            if end == 0:
                return None
            start = _find_break(descriptor, end - 1)
            return os.pread(descriptor, end - 1 - start, start)
        finally:
            os.close(descriptor)

    def append(self, lines: bytes) -> None:
        """Append whole ``lines``, on disk, or leave the file as it was. The lock is held.

        What stands behind the last break was never finished, by a crash or a full disk, and goes.
        """
        created = not self.path.exists()
        descriptor = open_descriptor(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, _MODE)
        try:
            end = os.lseek(descriptor, 0, os.SEEK_END)
            whole = _find_break(descriptor, end)
            if whole != end:  # a file that may only be appended to refuses any truncation
                os.ftruncate(descriptor, whole)
            try:
                left = memoryview(lines)
                while left:
                    left = left[os.write(descriptor, left) :]
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, whole)
                raise
        finally:
            os.close(descriptor)
        if created:
            sync_directory(self.path.parent)

    def lines(self, *, max_bytes: int) -> Iterator[bytes]:
        """Yield the lines with their breaks; one that is too long comes as one empty line."""
        self._demand_folder()
        with open_plain(self.path) as file:
            while line := file.readline(max_bytes + 1):
                is_whole = line.endswith(b"\n") or len(line) <= max_bytes
                yield line if is_whole else b"\n"
                while line and not is_whole:  # its rest is no line of its own
                    line = file.readline(max_bytes + 1)
                    is_whole = line.endswith(b"\n")

    def _demand_folder(self) -> None:
        if not self.path.parent.exists():
            says = f"the folder {self.folder} does not exist: {MOUNT_IT}"
            raise FolderMissing(errno.ENOENT, says, str(self.folder))


def find_outside_file(to: str, key: str, settings: AuditSettings, folder: Path) -> AppendedFile:
    """Return the file that ``key`` of sluicegate.yaml names as ``file:PATH``.

    Rejects: the folder of the database, since who puts a copy of that folder back puts back both;
    a record in memory. Raises: ConfigurationError.
    """
    file = AppendedFile(folder / to.removeprefix(SCHEME))
    if settings.store == "memory:":
        raise ConfigurationError(f"{key} needs a record that stays: audit.store is memory:")
    is_file = settings.store.startswith("sqlite:")
    if is_file and _home(file.path) == _home(database_path(settings, folder)):
        raise ConfigurationError(
            f"{file} ({key}) stands beside the record that it vouches for: whoever puts an old"
            " copy back puts back both. Name another folder, best on another disk"
        )
    return file


def _home(path: Path) -> str:
    """Return the folder of what a link leads to; one in a circle stays as it is."""
    return os.path.dirname(os.path.realpath(path))  # noqa: PTH120  (of what realpath returns)


def _find_break(descriptor: int, end: int) -> int:
    """Return where the line begins that ends at ``end``: behind the last break before it, or 0."""
    while end > 0:
        start = max(end - _WINDOW_BYTES, 0)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
