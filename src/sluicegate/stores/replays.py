"""From the settings to the memory of signed answers that stands beside their record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.replays_memory import MemoryReplays
from sluicegate.stores.replays_sqlite import SqliteReplays
from sluicegate.stores.stores import demand_store, is_postgres

if TYPE_CHECKING:
    from sluicegate.stores.replays_postgres import PostgresReplays

Memory: TypeAlias = "SqliteReplays | MemoryReplays | PostgresReplays"

FILE_NAME: Final = "replays.db"


def open_replays(settings: AuditSettings, folder: Path) -> Memory:
    """Open ``replays.db`` beside the SQLite record, or the table beside that in PostgreSQL.

    A record in memory has a memory beside it. Paths are relative to ``folder``. Raises:
    ConfigurationError for a record of another kind and for what cannot be used.
    """
    scheme, _, rest = settings.store.partition(":")
    if scheme == "memory" and not rest:
        return MemoryReplays()
    if is_postgres(settings):
        demand_store(settings)
        from sluicegate.stores.replays_postgres import open_postgres_replays

        return open_postgres_replays(settings.store)
    if scheme != "sqlite" or not rest:
        raise ConfigurationError(
            "signed answers need `audit.store: sqlite:PATH`, `postgresql:…` or `memory:`: what was "
            "received is remembered beside the record"
        )
    path = (folder / rest).parent / FILE_NAME
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"{path.parent} cannot be made: {error}") from error
    return SqliteReplays(path)
