"""A connection to PostgreSQL whose commits are durable, and that waits for nothing for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.pq import TransactionStatus

from sluicegate.errors import ConfigurationError
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.postgres_spelling import spell
from sluicegate.stores.sqlite_schema import INSERT_EVENT
from sluicegate.values.names import show_sentence

Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]

LEAST_VERSION: Final = 130_000
DURABLE: Final = ("on", "remote_apply")
"""What ``synchronous_commit`` may be: each commit is on disk before it returns."""

_PATIENCE_MS: Final = 10_000
_IDLE_MS: Final = 30_000
_CONNECTED: Final[Mapping[str, str]] = {
    "application_name": "sluicegate",
    "client_encoding": "utf8",
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}


class Answered:
    """The rows of one statement; ``rowcount`` waits for it where statements are sent ahead."""

    __slots__ = ("_cursor", "_session")

    def __init__(self, cursor: psycopg.Cursor[Row], session: Session) -> None:
        self._cursor = cursor
        self._session = session

    def fetchone(self) -> Row | None:
        """Return the next row."""
        return self._cursor.fetchone()

    def fetchall(self) -> list[Row]:
        """Return the rows that are left."""
        return self._cursor.fetchall()

    def __iter__(self) -> Iterator[Row]:
        return iter(self._cursor)

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed."""
        self._session.wait()
        return self._cursor.rowcount


class Session:
    """One connection, for one thread. ``total_changes`` counts statements that may have written."""

    __slots__ = (
        "_cursors",
        "_events",
        "_pipeline",
        "connection",
        "is_streaming",
        "months",
        "total_changes",
    )

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self.connection = connection
        self.months: set[str] = set()
        self.total_changes = 0
        self.is_streaming = False
        self._cursors: list[psycopg.ServerCursor[Row]] = []
        self._events: list[Values] = []
        self._pipeline: psycopg.Pipeline | None = None

    def execute(self, statement: str, values: Values = ()) -> Answered:
        """Do one statement of the shared text. Raises: psycopg.Error."""
        self._send_events()
        if not statement.lstrip().startswith("SELECT"):
            self.total_changes += 1
        elif self.is_streaming and " ORDER BY " in statement:  # what has an order may be long
            cursor = self.connection.cursor(name=f"rows_{len(self._cursors)}")
            self._cursors.append(cursor)
            cursor.itersize = 1_000
            cursor.execute(spell(statement), _plain(values))
            return Answered(cursor, self)
        return Answered(self.connection.execute(spell(statement), _plain(values)), self)

    def executemany(self, statement: str, rows: Sequence[Values]) -> None:
        """Do one statement with each of ``rows``. Raises: psycopg.Error."""
        for values in rows:
            self.execute(statement, values)

    def insert_event(self, columns: Values) -> None:
        """Insert an event before whatever is done next: many at once cost half as much."""
        self.total_changes += 1
        self._events.append(columns)

    def _send_events(self) -> None:
        if self._events:
            events, self._events = self._events, []
            self.connection.cursor().executemany(spell(INSERT_EVENT), events)

    @contextmanager
    def sending_ahead(self) -> Iterator[None]:
        """Send statements without waiting for each: one that fails fails the whole, at the latest
        at the end. Raises: psycopg.Error.
        """
        if not psycopg.Pipeline.is_supported():
            yield
            return
        with self.connection.pipeline() as pipeline:
            self._pipeline = pipeline
            try:
                yield
            except BaseException:
                # The library logs what else fails at its end, with rows in it: let it be this.
                self.connection.close()
                raise
            finally:
                self._pipeline = None

    def wait(self) -> None:
        """Wait for what was sent ahead. Raises: psycopg.Error."""
        self._send_events()
        if self._pipeline is not None:
            self._pipeline.sync()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self.connection.info.transaction_status != TransactionStatus.IDLE

    @property
    def is_broken(self) -> bool:
        """Whether the server is known to be gone."""
        return bool(self.connection.closed)

    def close(self) -> None:
        """Let go of the connection; an open transaction is undone by the server."""
        with suppress(psycopg.Error):
            for cursor in self._cursors:
                cursor.close()
        self.connection.close()


def connect(place: Place, *, patience_ms: int = _PATIENCE_MS) -> Session:
    """Open a connection whose commits are durable, that waits for nothing longer than patience.

    The search path holds the chain's schema alone, temporary tables last, so that no other table
    can stand in for one of ours. A transaction whose process hangs is ended by the server: it would
    hold the head of the chain against every other gate. Raises: psycopg.Error, ConfigurationError.
    """
    session = Session(
        psycopg.connect("", autocommit=True, **{**_CONNECTED, **place.options})  # type: ignore[arg-type]
    )
    try:
        found = session.connection.info.server_version
        if found < LEAST_VERSION:
            raise ConfigurationError(
                f"{place.shown} has version {found // 10_000}: 13 or newer is needed"
            )
        for name, value in (
            ("search_path", f'"{place.schema}", pg_temp'),
            ("statement_timeout", str(patience_ms)),
            ("lock_timeout", str(patience_ms)),
            ("idle_in_transaction_session_timeout", str(_IDLE_MS)),
            ("default_transaction_isolation", "read committed"),
        ):
            session.connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        if read_setting(session, "synchronous_commit") not in DURABLE:
            session.connection.execute("SET synchronous_commit = on")
        _demand_durable(session, place)
    except BaseException:
        session.close()
        raise
    return session


def read_setting(session: Session, name: str) -> str:
    """Return a setting as it reads back. Raises: psycopg.Error."""
    row = session.connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    return "" if row is None else str(row[0])


def _demand_durable(session: Session, place: Place) -> None:
    for name, wanted in (
        ("synchronous_commit", DURABLE),
        ("fsync", ("on",)),
        ("server_encoding", ("UTF8",)),
    ):
        found = read_setting(session, name)
        if found not in wanted:
            raise ConfigurationError(
                f"{place.shown} has {name} = {found}: the record needs {wanted[0]}"
            )


def tell_error(error: Exception) -> str:
    """Return what may be told of an error of the server: its first sentence, and no row of ours."""
    if isinstance(error, psycopg.Error):
        said = error.diag.message_primary
        if said is None and isinstance(error, psycopg.OperationalError):
            said = str(error).partition("\n")[0]
        code = f" {error.sqlstate}" if error.sqlstate else ""
        return show_sentence(f"{type(error).__name__}{code}: {said or 'no more is known'}")
    return str(error) or type(error).__name__


def _plain(values: Values) -> Values:
    """Return the values as PostgreSQL's text can hold them: NUL is written as ``\\x00``."""
    if isinstance(values, Mapping):
        return {name: without_nul(value) for name, value in values.items()}
    return [without_nul(value) for value in values]


def without_nul(value: Any) -> Any:
    """Return a text with its NUL characters escaped, anything else as it is."""
    if value.__class__ is str and "\0" in value:
        return value.replace("\0", "\\x00")
    return value
