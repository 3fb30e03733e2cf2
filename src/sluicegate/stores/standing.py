"""Whether a record stands where it was begun: one that is lost is never begun anew in silence."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import read_plain
from sluicegate.stores.whole_files import sync_directory

MARKER: Final = "record.begun"
"""Beside the keys: a record was begun under them. Source: docs/decisions/0006."""

_SAYS: Final = (
    "A record was begun under these keys. While this file stands, a record that is gone or empty"
    " is a loss, and no new one is begun in its place.\n"
)
_FILLED: Final = "Events stand in it: a record without one has lost them.\n"
"""Added after the first commit: a crash before it leaves a record that is empty and whole."""


_MARKER_BYTES: Final = 65_536


class RecordMissing(ConfigurationError):  # noqa: N818  (a state of the record)
    """No record stands there. ``is_lost``: one was begun and is gone; else none was ever begun."""

    def __init__(self, text: str, *, is_lost: bool) -> None:
        super().__init__(text)
        self.is_lost = is_lost


class RecordEmpty(ConfigurationError):  # noqa: N818  (a state of the record)
    """The file holds no tables, and whoever opened it may not begin a record there."""


def find_marker(settings: AuditSettings, folder: Path, database: Path) -> Path | None:
    """Return the file that says that a record was begun, None where there is none."""
    for path in _places(settings, folder, database):
        if path.exists():
            return path
    return None


def leave_marker(settings: AuditSettings, folder: Path, database: Path) -> None:
    """Say beside the keys that a record was begun; beside the record where that cannot be.

    Keys in the environment or a keyring have no directory, and one may be mounted to be read only.
    Raises: OSError where neither place can be written.
    """
    *first, last = _places(settings, folder, database)
    for path in first:
        try:
            _leave(path)
        except OSError:
            continue
        return
    _leave(last)


def find_filled_marker(settings: AuditSettings, folder: Path, database: Path) -> Path | None:
    """Return the marker that says that events were committed. Raises: OSError."""
    for path in _places(settings, folder, database):
        if path.exists() and _FILLED.encode("ascii") in read_plain(path, _MARKER_BYTES):
            return path
    return None


def tell_of_events(settings: AuditSettings, folder: Path, database: Path) -> None:
    """Say in the marker that events were committed, where it does not say so yet.

    Raises: OSError where no place of it can be written.
    """
    if find_filled_marker(settings, folder, database) is not None:
        return
    # One that stands comes first: two of them would have to be deleted to begin anew.
    *first, last = sorted(_places(settings, folder, database), key=lambda path: not path.exists())
    for path in first:
        try:
            _fill(path)
        except OSError:
            continue
        return
    _fill(last)


def say_missing(database: Path, marker: Path | None) -> RecordMissing:
    """Return what to tell of a record that is not there or empty, and the way on."""
    if marker is None:
        return RecordMissing(
            f"there is no record at {database}: look at --folder and audit.store, or let a gate"
            " begin one there",
            is_lost=False,
        )
    found = "is empty" if database.exists() else "is gone"
    return RecordMissing(
        f"the record {database} {found}, and {marker} says that one was begun: put it back from"
        f" your backup, or mend audit.store. To begin a new record on purpose, delete {marker}",
        is_lost=True,
    )


def _places(settings: AuditSettings, folder: Path, database: Path) -> Iterator[Path]:
    scheme, _, rest = settings.keys.partition(":")
    if scheme == "file" and rest:
        yield folder / rest / MARKER
    yield database.with_name(f"{database.name}.begun")


def _leave(path: Path) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(_SAYS)
        file.flush()
        os.fsync(descriptor)
    sync_directory(path.parent)


def _fill(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "a", encoding="ascii") as file:
        file.write(_FILLED if os.fstat(descriptor).st_size else _SAYS + _FILLED)
        file.flush()
        os.fsync(descriptor)
    sync_directory(path.parent)
