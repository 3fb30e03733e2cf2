"""What ``doctor`` looks at: whether the record can be trusted and will take the next event."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.keys import AuditKeys, open_keys
from sluicegate.stores.looks import (
    count_open_calls,
    look_at_clock,
    look_at_custody,
    look_at_open_calls,
    look_at_tail,
)
from sluicegate.stores.sqlite_schema import (
    FULL,
    KNOWN_VERSIONS,
    TRIGGERS,
    WITHOUT_OPEN_CALLS,
    connect_to_read,
    create_trigger,
    demand_keys,
    holds_events,
    read_pragma,
)
from sluicegate.stores.standing import find_filled_marker, find_marker, say_missing
from sluicegate.stores.stores import database_path, demand_postgres, is_postgres
from sluicegate.values.looks import Look

_LEAST_FREE: Final = 67_108_864


def inspect_store(settings: AuditSettings, folder: Path, *, now: datetime) -> list[Look]:
    """Look at keys, file modes, pragmas, triggers, clock, free space and the tail of the chain.

    Creates and changes nothing; a thing that cannot be looked at is not well. Raises nothing for
    what it finds. Source: SPEC AUD-3.
    """
    if settings.store == "memory:":
        return [
            Look(name="store", well=True, says="the record is in memory and ends with the process")
        ]
    if is_postgres(settings):
        try:
            demand_postgres()
        except ConfigurationError as error:
            return [Look(name="store", well=False, says=str(error))]
        from sluicegate.stores.postgres_inspection import inspect_postgres

        return inspect_postgres(settings, folder, now=now)
    try:
        path = database_path(settings, folder)
        if not path.exists() or not path.stat().st_size:
            marker = find_marker(settings, folder, path)
            if marker is not None:
                return [Look(name="store", well=False, says=str(say_missing(path, marker)))]
            return [
                Look(
                    name="store",
                    well=True,
                    says=f"{path} (audit.store) does not exist yet: the first gate creates it",
                )
            ]
        filled = find_filled_marker(settings, folder, path)
        keys = open_keys(settings.keys, folder, database=path, may_create=False)
    except (ConfigurationError, OSError) as error:
        return [Look(name="keys", well=False, says=str(error))]
    looks: list[Look] = [
        Look(name="keys", well=True, says=f"custody key {keys.active} is active"),
        _modes(path),
    ]
    try:
        with closing(connect_to_read(path)) as connection:
            if filled is not None and not holds_events(connection):
                looks.append(Look(name="store", well=False, says=str(say_missing(path, filled))))
            looks.extend(_database(connection, keys, path, now))
    except (sqlite3.Error, ConfigurationError) as error:
        looks.append(
            Look(name="database", well=False, says=f"{path} (audit.store) cannot be read: {error}")
        )
    looks.append(_space(path))
    return looks


def _database(
    connection: sqlite3.Connection, keys: AuditKeys, path: Path, now: datetime
) -> Iterator[Look]:
    demand_keys(connection, keys, str(path))
    mode = read_pragma(connection, "journal_mode")
    yield Look(name="journal", well=mode == "wal", says=f"journal_mode is {mode}")
    connection.execute("PRAGMA synchronous = FULL")
    taken = read_pragma(connection, "synchronous")
    yield Look(
        name="synchronous",
        well=taken == FULL,
        says=f"synchronous reads back as {taken}, FULL is {FULL}",
    )
    version = read_pragma(connection, "user_version")
    if version not in KNOWN_VERSIONS:
        says = f"user_version is {version}, which no gate writes: somebody changed the file"
        yield Look(name="tables", well=False, says=says)
    if version == WITHOUT_OPEN_CALLS:
        yield Look(
            name="tables", well=True, says="of an earlier release: the next gate brings them up"
        )
    else:
        yield _triggers(connection)
        yield look_at_open_calls(connection)
        yield count_open_calls(connection)
    yield look_at_custody(connection, keys)
    yield look_at_clock(connection, now)
    yield look_at_tail(connection, keys)


def _modes(path: Path) -> Look:
    files = [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", ".lock")]
    open_to_others = [
        file.name for file in files if file.exists() and stat.S_IMODE(file.stat().st_mode) & 0o077
    ]
    if open_to_others:
        names = " ".join(open_to_others)
        return Look(name="modes", well=False, says=f"others may read the record: chmod 600 {names}")
    return Look(name="modes", well=True, says="only this account may read the record")


def _triggers(connection: sqlite3.Connection) -> Look:
    found = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
    wrong = [name for name in TRIGGERS if found.get(name) != create_trigger(name)]
    if wrong:
        return Look(
            name="triggers",
            well=False,
            says=f"not as they were created: {', '.join(wrong)}; verify the chain",
        )
    return Look(name="triggers", well=True, says="events can only be appended")


def _space(path: Path) -> Look:
    free = shutil.disk_usage(path.parent).free
    return Look(
        name="space",
        well=free >= _LEAST_FREE,
        says=f"{free // 1_048_576} MiB are free beside the record",
    )
