"""Whether the record and its keys can stand where the settings put them, by the files alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import PATH_FAULTS, read_plain, say_path_fault
from sluicegate.opening.settings_problems import SettingFault
from sluicegate.stores.keys import (
    AUDIT_FILE,
    CHAIN_FILE,
    CUSTODY_FILE,
    SIGNING_FILE,
    demand_apart,
)
from sluicegate.stores.sqlite_schema import APPLICATION_ID
from sluicegate.stores.stores import database_path

_KEY_FILES: Final = (AUDIT_FILE, CHAIN_FILE, CUSTODY_FILE, SIGNING_FILE)
_HEADER_BYTES: Final = 100
_MAGIC: Final = b"SQLite format 3\0"
_APPLICATION_ID: Final = slice(68, 72)
"""Where the header has the application id (SQLite, Database File Format, section 1.3)."""


def find_record_faults(settings: AuditSettings, folder: Path) -> Iterator[SettingFault]:
    """Yield what keeps a gate from opening; no database is opened and nothing is made.

    Rejects: a database that is none or another program's, keys beside it, a key directory that is
    none. What lies on another machine, in the environment or a keyring is not asked.
    """
    if settings.store.startswith("sqlite:"):
        database = database_path(settings, folder)
        says = _say_no_record(database)
        if says is not None:
            yield SettingFault("/audit/store", f"{database} (audit.store) {says}")
        scheme, _, rest = settings.keys.partition(":")
        if scheme == "file":
            try:
                demand_apart(folder / rest, database)
            except ConfigurationError as error:
                yield SettingFault("/audit/keys", str(error))
            except PATH_FAULTS as error:
                if says is None:  # else it is the path of the record that cannot be followed
                    yield SettingFault("/audit/keys", _say_lost(folder / rest, error))
                return
    try:
        demand_key_files(settings, folder)
    except ConfigurationError as error:
        yield SettingFault("/audit/keys", str(error))


def demand_key_files(settings: AuditSettings, folder: Path) -> None:
    """See that no key stands in what is no regular file, for who opens one might wait for ever.

    No key is read, and a missing one is told by who needs it. Raises: ConfigurationError.
    """
    scheme, _, rest = settings.keys.partition(":")
    if scheme != "file" or settings.store == "memory:":
        return
    for name in _KEY_FILES:
        path = folder / rest / name
        try:
            is_other = path.exists() and not path.is_file()
        except PATH_FAULTS as error:
            raise ConfigurationError(_say_lost(folder / rest, error)) from error
        if is_other:
            raise ConfigurationError(
                f"{path} is no regular file: put the key back from your backup, or name another"
                " directory in audit.keys"
            )


def _say_lost(directory: Path, error: Exception) -> str:
    return f"{directory} (audit.keys) cannot be looked at ({say_path_fault(error)})"


def _say_no_record(path: Path) -> str | None:
    try:
        header = read_plain(path, _HEADER_BYTES)[:_HEADER_BYTES]
    except FileNotFoundError:
        return None
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not header:
        return None  # as a process leaves it that was killed while it made the tables
    ours = APPLICATION_ID.to_bytes(4, "big")
    if not header.startswith(_MAGIC) or header[_APPLICATION_ID] not in (ours, bytes(4)):
        return "is no record of this program: name a new file"
    return None
