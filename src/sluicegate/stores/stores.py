"""From the settings to the store they name."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from sluicegate.contracts.settings import AuditSettings, RetentionSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.keys import open_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.stores.standing import (
    RecordEmpty,
    find_filled_marker,
    find_marker,
    leave_marker,
    say_missing,
    tell_of_events,
)

if TYPE_CHECKING:
    from sluicegate.stores.postgres import PostgresStore

Store: TypeAlias = "SqliteStore | MemoryStore | PostgresStore"

_FORMS: Final = "sqlite:PATH, postgresql:env:NAME or memory:"


def open_store(
    settings: AuditSettings,
    retention: RetentionSettings,
    folder: Path,
    *,
    may_begin: bool = True,
) -> Store:
    """Open the store and the keys that ``settings`` name; paths are relative to ``folder``.

    A record is begun only where none was begun before, and by whoever ``may_begin`` one; keys are
    made with it. ``memory:`` draws keys of its own and writes nothing; a record in PostgreSQL is
    begun by ``audit prepare`` alone. Raises: RecordMissing where a record was begun and is gone or
    empty, or where none stands and none may be begun; ConfigurationError, which says how to mend
    it. Source: SPEC AUD-3.
    """
    scheme, separator, rest = settings.store.partition(":")
    if scheme == "memory" and separator and not rest:
        return MemoryStore(daily_bytes=retention.daily_bytes)
    if is_postgres(settings):
        demand_store(settings)
        from sluicegate.stores.postgres_opening import open_postgres

        return open_postgres(settings, retention, folder)
    path = database_path(settings, folder)
    # The marker first: it is left after the record is begun, so another process's start is whole.
    marker = find_marker(settings, folder, path)
    may_begin = may_begin and marker is None
    if not may_begin and not (path.exists() and path.stat().st_size):
        raise say_missing(path, marker)
    keys = open_keys(settings.keys, folder, database=path, may_create=not path.exists())
    read_keys = partial(open_keys, settings.keys, folder, database=path, may_create=False)
    try:
        store = SqliteStore(
            path,
            keys,
            daily_bytes=retention.daily_bytes,
            may_begin=may_begin,
            may_be_empty=find_filled_marker(settings, folder, path) is None,
            on_events=partial(tell_of_events, settings, folder, path),
            read_keys=read_keys,
        )
    except RecordEmpty:
        raise say_missing(path, marker) from None
    if marker is None:
        leave_marker(settings, folder, path)
    return store


def is_postgres(settings: AuditSettings) -> bool:
    """Whether the record stands in PostgreSQL."""
    return settings.store.startswith("postgresql:")


def demand_store(settings: AuditSettings) -> None:
    """See that ``store`` can be opened, as far as that can be told without any other machine.

    Raises: ConfigurationError where a library is not installed or the address can be none.
    """
    if is_postgres(settings):
        demand_postgres()
        from sluicegate.stores.postgres_terms import demand_terms

        demand_terms(settings.store)


def demand_postgres() -> None:
    """Raises: ConfigurationError where the library for PostgreSQL is not installed."""
    try:
        import_module("psycopg")
    except ImportError:
        raise ConfigurationError(
            "audit.store names PostgreSQL, which needs the extra: install sluicegate[postgres]"
        ) from None


def rotation_lock(settings: AuditSettings, folder: Path) -> Path | None:
    """Return the file whose lock lets one rotation run at a time.

    None where no key is drawn here and the record is no file: to wrap twice harms nothing.
    """
    scheme, _, rest = settings.keys.partition(":")
    if not is_postgres(settings):
        path = database_path(settings, folder)
        return path.with_name(f"{path.name}.rotation.lock")
    if scheme == "file" and rest:
        return folder / rest / "rotation.lock"
    return None


def database_path(settings: AuditSettings, folder: Path) -> Path:
    """Return the file that ``sqlite:PATH`` names. Raises: ConfigurationError for another form."""
    scheme, _, rest = settings.store.partition(":")
    if scheme != "sqlite" or not rest:
        raise ConfigurationError(f"audit.store is not understood: write {_FORMS}")
    return folder / rest
