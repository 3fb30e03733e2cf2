"""The tables of the SQLite record, and how a connection to them is opened and checked."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Final

from sluicegate.errors import ConfigurationError
from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import COLUMNS
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.record_open_calls import (
    FILL_OPEN_CALLS,
    OPEN_CALL_TABLES,
    OPEN_CALL_TRIGGERS,
)
from sluicegate.stores.record_terms import TERM_TABLES, TERM_TRIGGERS
from sluicegate.stores.standing import RecordEmpty, RecordMissing

APPLICATION_ID: Final = 0x534C4743
SCHEMA_VERSION: Final = 3
WITHOUT_OPEN_CALLS: Final = 1
WITHOUT_TERMS: Final = 2
KNOWN_VERSIONS: Final = (WITHOUT_OPEN_CALLS, WITHOUT_TERMS, SCHEMA_VERSION)
BUSY_TIMEOUT_MS: Final = 2_000
FULL: Final = 2
"""``PRAGMA synchronous`` as it reads back: each commit is on disk before it returns."""

TABLES: Final = (
    """
    CREATE TABLE audit_event (
        seq INTEGER PRIMARY KEY,
        event_id TEXT NOT NULL UNIQUE,
        time TEXT NOT NULL,
        kind TEXT NOT NULL,
        request_id TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        outcome TEXT NOT NULL,
        tool TEXT NOT NULL,
        contract_version TEXT NOT NULL,
        contract_digest TEXT NOT NULL,
        caller_subject TEXT,
        caller_tenant TEXT,
        session TEXT,
        call_id TEXT,
        adapter TEXT,
        adapter_version TEXT,
        endpoint TEXT,
        upstream_status TEXT,
        stage TEXT,
        code TEXT,
        agent_code TEXT,
        schema_pointer TEXT,
        decision_id TEXT,
        trace_id TEXT,
        arguments_hmac TEXT,
        arguments_ref TEXT,
        raw_hmac TEXT,
        raw_bytes INTEGER,
        raw_ref TEXT,
        returned_hmac TEXT,
        findings TEXT NOT NULL,
        masked TEXT NOT NULL,
        detail TEXT NOT NULL,
        previous TEXT NOT NULL,
        link TEXT NOT NULL
    ) STRICT
    """,
    # One index a question: a call's story, a time, a tool, a code, the acts.
    "CREATE INDEX audit_event_request ON audit_event (request_id, attempt, kind, outcome)",
    "CREATE INDEX audit_event_time ON audit_event (time)",
    "CREATE INDEX audit_event_tool ON audit_event (tool)",
    "CREATE INDEX audit_event_code ON audit_event (code) WHERE code IS NOT NULL",
    "CREATE INDEX audit_event_operator ON audit_event (seq) WHERE kind = 'operator'",
    """
    CREATE TABLE custody_blob (
        ref TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        tool TEXT NOT NULL,
        contract_digest TEXT NOT NULL,
        request_id TEXT NOT NULL,
        content_hmac TEXT NOT NULL,
        content_bytes INTEGER NOT NULL,
        algorithm TEXT NOT NULL,
        key_id TEXT,
        wrapped_key BLOB,
        nonce BLOB,
        ciphertext BLOB,
        stored TEXT NOT NULL,
        expires TEXT NOT NULL,
        purged_at TEXT
    ) STRICT
    """,
    "CREATE INDEX custody_blob_content ON custody_blob (content_hmac)",
    "CREATE INDEX custody_blob_expires ON custody_blob (expires) WHERE purged_at IS NULL",
    """
    CREATE TABLE custody_day (
        tool TEXT NOT NULL,
        day TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (tool, day)
    ) STRICT
    """,
    "CREATE TABLE store_fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    *OPEN_CALL_TABLES,
    *TERM_TABLES,
)

TRIGGERS: Final = {
    "audit_event_no_update": """
        BEFORE UPDATE ON audit_event
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: an event is never changed'); END
    """,
    "audit_event_no_delete": """
        BEFORE DELETE ON audit_event
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: an event is never deleted'); END
    """,
    # INSERT OR REPLACE and upserts would pass the two above; this one stops them, and gaps.
    "audit_event_no_gap": """
        BEFORE INSERT ON audit_event
        WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM audit_event)
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: an event takes the next seq'); END
    """,
    "custody_blob_no_delete": """
        BEFORE DELETE ON custody_blob
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: a blob is purged, its row stays'); END
    """,
    "custody_blob_no_replace": """
        BEFORE INSERT ON custody_blob
        WHEN EXISTS (SELECT 1 FROM custody_blob WHERE ref = NEW.ref)
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: a blob is never replaced'); END
    """,
    "custody_blob_no_update": """
        BEFORE UPDATE OF ref, kind, tool, contract_digest, request_id, content_hmac,
            content_bytes, algorithm, stored ON custody_blob
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: what a blob is never changes'); END
    """,
    "custody_blob_no_return": """
        BEFORE UPDATE ON custody_blob WHEN OLD.purged_at IS NOT NULL
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: what is purged stays purged'); END
    """,
    **OPEN_CALL_TRIGGERS,
    **TERM_TRIGGERS,
}

INSERT_EVENT: Final = (
    f"INSERT INTO audit_event ({', '.join(COLUMNS)})"  # noqa: S608  (names from our own record type)
    f" VALUES ({', '.join('?' * len(COLUMNS))})"
)
SELECT_EVENTS: Final = f"SELECT {', '.join('e.' + name for name in COLUMNS)} FROM audit_event AS e"  # noqa: S608


def connect(
    path: Path, *, max_pages: int | None = None, may_create: bool = True
) -> sqlite3.Connection:
    """Open the file for writing, created with mode 0600, in WAL with synchronous FULL.

    The caller holds the lock of the file: the switch to WAL ignores the busy timeout. Both
    settings are read back. Raises: sqlite3.Error, OSError, ConfigurationError.
    """
    demand_sqlite()
    # SQLite gives the -wal and -shm files the mode of the database.
    creation = os.O_CREAT if may_create else 0
    os.close(os.open(path, os.O_RDWR | creation | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=BUSY_TIMEOUT_MS / 1000
    )
    try:
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise ConfigurationError(
                f"{path} cannot use a write-ahead log (journal_mode is {mode}): keep the record"
                " on a local disk, not on a network file system"
            )
        for pragma in (
            "synchronous = FULL",
            "fullfsync = ON",
            "checkpoint_fullfsync = ON",
            "secure_delete = ON",
            "trusted_schema = OFF",
            "recursive_triggers = ON",
        ):
            connection.execute(f"PRAGMA {pragma}")
        if max_pages is not None:
            limit_pages(connection, max_pages)
        if read_pragma(connection, "synchronous") != FULL:
            raise ConfigurationError(f"{path}: SQLite does not take synchronous=FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def limit_pages(connection: Connection, pages: int) -> None:
    """Hold the file to so many pages. Raises: sqlite3.Error."""
    connection.execute(f"PRAGMA max_page_count = {pages:d}")


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open an existing file for reading only. Raises: sqlite3.Error."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=BUSY_TIMEOUT_MS / 1000,
    )
    connection.execute("PRAGMA query_only = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def demand_sqlite() -> None:
    """Raises: ConfigurationError where SQLite is too old for STRICT tables."""
    if sqlite3.sqlite_version_info < (3, 37):
        raise ConfigurationError(
            f"SQLite {sqlite3.sqlite_version} is too old for the record: 3.37 or newer is needed"
        )


def read_pragma(connection: Connection, name: str) -> int | str:
    """Return the value of a pragma as it reads back."""
    value: int | str = connection.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def prepare_tables(
    connection: sqlite3.Connection,
    keys: AuditKeys,
    where: str,
    *,
    may_begin: bool = True,
    may_be_empty: bool = True,
) -> bool:
    """Create the tables in an empty database, or see that they are ours and belong to ``keys``.

    Returns whether no event stands in them. A record of an earlier release is brought up; its
    events stay as they are. One transaction: a crash leaves all of it or nothing. Raises:
    RecordEmpty where there are none and ``may_begin`` is false, or no event and ``may_be_empty``
    is; RecordMissing where they do not say that they are ours; sqlite3.Error, ConfigurationError.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = read_pragma(connection, "user_version")
        if version == 0:
            _demand_no_events(connection, where)
        if version == 0 and not may_begin:
            raise RecordEmpty(f"{where} holds no record any more: put it back from your backup")
        if version == 0:
            _create_tables(connection, keys, where)
        elif (
            version not in KNOWN_VERSIONS
            or read_pragma(connection, "application_id") != APPLICATION_ID
        ):
            raise ConfigurationError(
                f"{where} is a database of another program or release: name a new file in"
                " audit.store"
            )
        else:
            demand_keys(connection, keys, where)
            if version == WITHOUT_OPEN_CALLS:
                _add_open_calls(connection)
            if version != SCHEMA_VERSION:
                _add_terms(connection)
        is_empty = not holds_events(connection)
        if is_empty and not may_be_empty:
            raise RecordEmpty(f"{where} holds no event any more: put it back from your backup")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return is_empty


def holds_events(connection: Connection) -> bool:
    """Whether an event stands in the record. Raises: sqlite3.Error."""
    return connection.execute("SELECT 1 FROM audit_event LIMIT 1").fetchone() is not None


def _demand_no_events(connection: sqlite3.Connection, where: str) -> None:
    """Raises: RecordMissing where the tables of a record stand and the file says it is none."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'audit_event'").fetchone()
    if found is not None:
        raise RecordMissing(
            f"{where} holds the tables of a record, and its user_version is 0, which no gate"
            " writes: somebody changed the file; put it back from your backup",
            is_lost=True,
        )


def _create_tables(connection: sqlite3.Connection, keys: AuditKeys, where: str) -> None:
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        raise ConfigurationError(
            f"{where} is a database of another program: name a new file in audit.store"
        )
    for statement in TABLES:
        connection.execute(statement)
    for name in TRIGGERS:
        connection.execute(create_trigger(name))
    connection.execute("INSERT INTO store_fact VALUES ('keys', ?)", (keys.check,))
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")


def _add_open_calls(connection: sqlite3.Connection) -> None:
    for statement in OPEN_CALL_TABLES:
        connection.execute(statement)
    connection.execute(FILL_OPEN_CALLS)
    for name in OPEN_CALL_TRIGGERS:
        connection.execute(create_trigger(name))
    connection.execute("DROP INDEX IF EXISTS audit_event_intent")


def _add_terms(connection: sqlite3.Connection) -> None:
    for statement in TERM_TABLES:
        connection.execute(statement)
    for name in TERM_TRIGGERS:
        connection.execute(create_trigger(name))
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION:d}")


def create_trigger(name: str) -> str:
    """Return the statement that creates one of TRIGGERS, as SQLite keeps it."""
    return f"CREATE TRIGGER {name} {TRIGGERS[name].strip()}"


def demand_keys(connection: Connection, keys: AuditKeys, where: str) -> None:
    """Raises: ConfigurationError where the record was written with other keys; sqlite3.Error."""
    row = connection.execute("SELECT value FROM store_fact WHERE name = 'keys'").fetchone()
    if row is not None and row[0] in keys.later:
        raise ConfigurationError(
            f"the first key of audit.keys is not the one {where} was written with, and one of the"
            " later keys is: put that one first"
        )
    if row is None or row[0] != keys.check:
        raise ConfigurationError(
            f"the keys of audit.keys are not those {where} was written with: put the right keys"
            " back, or let audit.store name another record"
        )
