"""From the settings to the memory of signed answers that stands beside their record."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.replays_memory import MemoryReplays
from sluicegate.stores.replays_sqlite import SqliteReplays

FILE_NAME: Final = "replays.db"


def open_replays(settings: AuditSettings, folder: Path) -> SqliteReplays | MemoryReplays:
    """Open ``replays.db`` beside the SQLite record; a record in memory has a memory beside it.

    Paths are relative to ``folder``. Raises: ConfigurationError for a record of another kind and
    for a file that cannot be used.
    """
    scheme, _, rest = settings.store.partition(":")
    if scheme == "memory" and not rest:
        return MemoryReplays()
    if scheme != "sqlite" or not rest:
        raise ConfigurationError(
            "signed answers need `audit.store: sqlite:PATH` or `memory:`: what was received is "
            "remembered beside the record"
        )
    path = (folder / rest).parent / FILE_NAME
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{path.parent} cannot be made: {error}") from error
    return SqliteReplays(path)
