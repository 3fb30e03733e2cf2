"""From the settings to the store they name."""

from __future__ import annotations

from pathlib import Path

from sluicegate.contracts.settings import AuditSettings, RetentionSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.keys import open_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.stores.standing import RecordEmpty, find_marker, leave_marker, say_missing


def open_store(
    settings: AuditSettings,
    retention: RetentionSettings,
    folder: Path,
    *,
    may_begin: bool = True,
) -> SqliteStore | MemoryStore:
    """Open the store and the keys that ``settings`` name; paths are relative to ``folder``.

    A record is begun only where none was begun before, and by whoever ``may_begin`` one; keys are
    made with it. ``memory:`` draws keys of its own and writes nothing. Raises: RecordMissing where
    a record was begun and is gone or empty, or where none stands and none may be begun;
    ConfigurationError, which says how to mend it. Source: SPEC AUD-3.
    """
    scheme, separator, rest = settings.store.partition(":")
    if scheme == "memory" and separator and not rest:
        return MemoryStore(daily_bytes=retention.daily_bytes)
    path = database_path(settings, folder)
    # The marker first: it is left after the record is begun, so another process's start is whole.
    marker = find_marker(settings, folder, path)
    may_begin = may_begin and marker is None
    if not may_begin and not (path.exists() and path.stat().st_size):
        raise say_missing(path, marker)
    keys = open_keys(settings.keys, folder, database=path, may_create=not path.exists())
    try:
        store = SqliteStore(path, keys, daily_bytes=retention.daily_bytes, may_begin=may_begin)
    except RecordEmpty:
        raise say_missing(path, marker) from None
    if marker is None:
        leave_marker(settings, folder, path)
    return store


def database_path(settings: AuditSettings, folder: Path) -> Path:
    """Return the file that ``sqlite:PATH`` names. Raises: ConfigurationError for another form."""
    scheme, _, rest = settings.store.partition(":")
    if scheme != "sqlite" or not rest:
        raise ConfigurationError(f"audit.store is {settings.store!r}: write sqlite:PATH or memory:")
    return folder / rest
