"""The memory of signed answers in a file that several processes share (SPEC RES-6).

A file of its own beside the record: an id is on disk before its answer is believed, and a crash
at any point forgets none. Ids are digests; nothing of an answer can be read here.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from datetime import datetime
from pathlib import Path
from typing import Final

from sluicegate.errors import ConfigurationError
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.replays_memory import KEPT_LONGER
from sluicegate.values.instants import instant_of

APPLICATION_ID: Final = 0x534C4752
SCHEMA_VERSION: Final = 1
_BUSY_TIMEOUT_S: Final = 1.0
_TABLES: Final = (
    """
    CREATE TABLE seen_answer (
        scope TEXT NOT NULL,
        replay_id TEXT NOT NULL,
        until INTEGER NOT NULL,
        PRIMARY KEY (scope, replay_id)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX seen_answer_until ON seen_answer (until)",
)


class SqliteReplays:
    """Remembers in ``path``, for every process that opens it.

    The lock beside the file makes writers wait in turn; SQLite's own wait can starve one.
    """

    def __init__(self, path: Path) -> None:
        """Raises: ConfigurationError where the file is another program's or cannot be used."""
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._threads = threading.Lock()
        try:
            with self._lock:
                self._connection = _open(path)
        except (OSError, sqlite3.Error) as error:
            self._lock.close()
            raise ConfigurationError(
                f"the memory of signed answers {path} cannot be opened: {error}; mend its folder, "
                "or remove the file: answers still inside their window could then be replayed"
            ) from error
        except BaseException:
            self._lock.close()
            raise

    async def is_new(self, *, scope: str, replay_id: str, until: datetime, now: datetime) -> bool:
        """Record the id and say whether it was not there. Raises: sqlite3.Error, OSError."""
        return await asyncio.to_thread(
            self._record, scope, replay_id, instant_of(until + KEPT_LONGER), instant_of(now)
        )

    async def close(self) -> None:
        """Close the file."""
        await asyncio.to_thread(self._close)

    def _record(self, scope: str, replay_id: str, until: int, now: int) -> bool:
        with self._threads, self._lock:
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                added = connection.execute(
                    "INSERT OR IGNORE INTO seen_answer VALUES (?, ?, ?)", (scope, replay_id, until)
                ).rowcount
                connection.execute("DELETE FROM seen_answer WHERE until < ?", (now,))
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
        return added == 1

    def _close(self) -> None:
        with self._threads:
            self._connection.close()
            self._lock.close()


def _open(path: Path) -> sqlite3.Connection:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=_BUSY_TIMEOUT_S
    )
    try:
        # A rollback journal: the write-ahead log gains nothing for one small row a commit.
        for pragma in ("synchronous = FULL", "fullfsync = ON", "trusted_schema = OFF"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("BEGIN IMMEDIATE")
        _prepare(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    owner = connection.execute("PRAGMA application_id").fetchone()[0]
    if (version, owner) == (SCHEMA_VERSION, APPLICATION_ID):
        return
    if version or owner or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise ConfigurationError(
            f"{path} is a database of another program or release: move it away"
        )
    for statement in _TABLES:
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")
