"""The file that heads are appended to: outside the record's own folder, one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.heads import MAX_LINE_BYTES
from sluicegate.stores.stores import database_path
from sluicegate.stores.whole_files import sync_directory

_SCHEME: Final = "file:"
_MODE: Final = 0o600


class HeadsFile:
    """Append-only lines in one file, under a lock beside it. Every method raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def lock(self) -> FileLock:
        """Return a lock of the caller's own; who holds it alone reads the end and appends."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(self.path.with_name(f"{self.path.name}.lock"))

    def read_last(self) -> bytes | None:
        """Return the last whole line without its break, None where there is none."""
        try:
            with self.path.open("rb") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(end - 2 * MAX_LINE_BYTES, 0))
                whole, ended, _ = file.read().rpartition(b"\n")
        except FileNotFoundError:
            return None
        return whole.rpartition(b"\n")[2] if ended else None

    def append(self, line: bytes) -> None:
        """Append ``line`` and its break, on disk, or leave the file as it was. The lock is held.

        What stands behind the last break was never finished, by a crash or a full disk, and goes.
        """
        created = not self.path.exists()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, _MODE)
        try:
            whole = _end_of_lines(descriptor)
            os.ftruncate(descriptor, whole)
            try:
                content = line + b"\n"
                if os.write(descriptor, content) != len(content):
                    raise OSError(f"{self.path.name} took a part of a line only")
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, whole)
                raise
        finally:
            os.close(descriptor)
        if created:
            sync_directory(self.path.parent)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines with their breaks; a line that is too long ends early, so it is none."""
        with self.path.open("rb") as file:
            while line := file.readline(MAX_LINE_BYTES + 1):
                yield line if line.endswith(b"\n") or len(line) <= MAX_LINE_BYTES else b"\n"


def find_heads_file(settings: AuditSettings, folder: Path) -> HeadsFile:
    """Return the file of ``audit.heads``.

    Rejects: the database's own folder, since who puts a copy of that folder back puts back both.
    Raises: ConfigurationError where no heads are written.
    """
    if settings.heads is None:
        raise ConfigurationError(
            'no heads are written for this record: add heads: {to: "file:PATH"} to audit in'
            " sluicegate.yaml, or name a file of heads"
        )
    path = folder / settings.heads.to.removeprefix(_SCHEME)
    if settings.store == "memory:":
        raise ConfigurationError("audit.heads needs a record that stays: audit.store is memory:")
    is_file = settings.store.startswith("sqlite:")
    database = database_path(settings, folder).resolve() if is_file else None
    if database is not None and path.resolve().parent == database.parent:
        raise ConfigurationError(
            f"the heads {path} stand beside the record that they vouch for: whoever puts an old"
            " copy back puts back both. Name another folder in audit.heads, best on another disk"
        )
    return HeadsFile(path)


def _end_of_lines(descriptor: int) -> int:
    end = os.lseek(descriptor, 0, os.SEEK_END)
    start = max(end - 2 * MAX_LINE_BYTES, 0)
    tail = os.pread(descriptor, end - start, start)
    return start + tail.rfind(b"\n") + 1
