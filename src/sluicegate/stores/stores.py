"""From the settings to the store they name."""

from __future__ import annotations

from pathlib import Path

from sluicegate.contracts.settings import AuditSettings, RetentionSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.keys import open_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore


def open_store(
    settings: AuditSettings, retention: RetentionSettings, folder: Path
) -> SqliteStore | MemoryStore:
    """Open the store and the keys that ``settings`` name; paths are relative to ``folder``.

    ``memory:`` draws keys of its own and writes nothing. Raises: ConfigurationError, which says
    how to mend it. Source: SPEC AUD-3.
    """
    scheme, separator, rest = settings.store.partition(":")
    if scheme == "memory" and separator and not rest:
        return MemoryStore(daily_bytes=retention.daily_bytes)
    path = database_path(settings, folder)
    keys = open_keys(settings.keys, folder, database=path, may_create=not path.exists())
    return SqliteStore(path, keys, daily_bytes=retention.daily_bytes)


def database_path(settings: AuditSettings, folder: Path) -> Path:
    """Return the file that ``sqlite:PATH`` names. Raises: ConfigurationError for another form."""
    scheme, _, rest = settings.store.partition(":")
    if scheme != "sqlite" or not rest:
        raise ConfigurationError(f"audit.store is {settings.store!r}: write sqlite:PATH or memory:")
    return folder / rest
