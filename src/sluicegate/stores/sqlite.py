"""The default store: one SQLite file, append-only, shared by several processes without a gap."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Unpack, cast

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import AuditUnavailable, ChainReport
from sluicegate.gates.record_queries import EventFilters
from sluicegate.stores.chain import GENESIS, verify_chain
from sluicegate.stores.keyring import Keyring, ReadKeys
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.queued import PATIENCE_S, QueuedStore
from sluicegate.stores.record_check import find_fault
from sluicegate.stores.record_questions import select_events, select_open_intents
from sluicegate.stores.sqlite_schema import connect_to_read, limit_pages
from sluicegate.stores.sqlite_writer import SqliteWriter
from sluicegate.stores.writing import MAX_QUEUED_BYTES, Item


class SqliteStore(QueuedStore):
    """The AuditStore in one SQLite file (WAL, synchronous FULL, group commit).

    Reading opens connections of its own. Source: SPEC AUD-1 to AUD-4.
    """

    failures = (*QueuedStore.failures, sqlite3.Error)

    _writer: SqliteWriter

    def __init__(
        self,
        path: Path,
        keys: AuditKeys,
        *,
        daily_bytes: int = 67_108_864,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        patience_s: float = PATIENCE_S,
        may_begin: bool = True,
        may_be_empty: bool = True,
        on_events: Callable[[], None] | None = None,
        read_keys: ReadKeys | None = None,
    ) -> None:
        """Open the file, or create it with mode 0600.

        ``on_events`` is called where the record holds events, and once the first is committed.
        Raises: RecordEmpty where it holds no record and ``may_begin`` is false, or no event and
        ``may_be_empty`` is false; ConfigurationError.
        """
        super().__init__(path.name, Keyring(keys, read_keys), patience_s=patience_s)
        self._path = path.absolute()
        self._daily_bytes = daily_bytes
        self._max_queued_bytes = max_queued_bytes
        self._may_begin = may_begin
        self._may_be_empty = may_be_empty
        self._on_events = on_events
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._writer = self._start()
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"the record {path} cannot be opened ({error}): name a place in audit.store where"
                " this account may write"
            ) from error
        self._may_begin = False  # a record that stood once is not begun again by a child

    @property
    def path(self) -> Path:
        """Where the file stands."""
        return self._path

    def events(self, **wanted: Unpack[EventFilters]) -> Iterator[StoredEvent]:
        """Iterate over stored events that fit every given filter. Raises: AuditUnavailable."""
        try:
            with closing(connect_to_read(self._path)) as connection:
                yield from select_events(connection, **wanted)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise AuditUnavailable(f"{self._path.name} cannot be read: {error}") from error

    def open_intents(self) -> tuple[StoredEvent, ...]:
        """Return intents whose outcome is not recorded, or is unknown and not yet resolved.

        Raises: AuditUnavailable.
        """
        try:
            with closing(connect_to_read(self._path)) as connection:
                return select_open_intents(connection)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise AuditUnavailable(f"{self._path.name} cannot be read: {error}") from error

    def verify(self) -> ChainReport:
        """Recompute the chain over every column from the first event on.

        A file that cannot be read to its end is broken at the first event that is not readable,
        and so is one whose row is no event. What is derived from the events must agree with them.
        """
        seen = (0, GENESIS)

        def watched() -> Iterator[StoredEvent]:
            nonlocal seen
            for event in self.events():
                yield event
                seen = (event.seq, event.link)

        try:
            report = verify_chain(self._ring.keys.chain, watched())
            return report if report.broken_at is not None else self._verify_derived(report)
        except AuditUnavailable as error:
            return ChainReport(
                events=seen[0], head=seen[1], broken_at=seen[0] + 1, problem=str(error)
            )

    def _verify_derived(self, report: ChainReport) -> ChainReport:
        try:
            with closing(connect_to_read(self._path)) as connection:
                connection.execute("BEGIN")  # one snapshot: a gate may write meanwhile
                fault = find_fault(connection)
        except sqlite3.Error as error:
            raise AuditUnavailable(
                f"open calls, terms and custody cannot be read: {error}"
            ) from error
        if fault is None:
            return report
        return replace(report, broken_at=fault.seq, problem=fault.problem)

    def limit_pages(self, pages: int) -> None:
        """Hold the file to so many pages of 4 KiB; past it the record is unavailable (SQLITE_FULL).

        Raises: AuditUnavailable.
        """
        writer = cast("SqliteWriter", self._live())
        writer.max_pages = pages
        item = Item(lambda ledger: limit_pages(ledger.connection, pages), 0)
        writer.put(item)
        cast("Future[object]", item.future).result(self._patience_s)

    def _start(self) -> SqliteWriter:
        return SqliteWriter(
            self._path,
            self._ring,
            daily_bytes=self._daily_bytes,
            max_queued_bytes=self._max_queued_bytes,
            may_begin=self._may_begin,
            may_be_empty=self._may_be_empty,
            on_events=self._hear_of_events,
        )

    def _hear_of_events(self) -> None:
        """Of a record that holds events: a writer that begins later takes no empty one for it."""
        self._may_be_empty = False
        if self._on_events is not None:
            self._on_events()
