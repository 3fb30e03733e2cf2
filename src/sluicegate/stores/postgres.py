"""The store of many gates: one chain in PostgreSQL, append-only, shared by every process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Final, Unpack

import psycopg

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import AuditUnavailable, ChainReport
from sluicegate.gates.record_queries import EventFilters
from sluicegate.stores.chain import GENESIS, verify_chain
from sluicegate.stores.keyring import Keyring, ReadKeys
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.postgres_ledger import tell_head_fault
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.postgres_session import Session, connect, tell_error
from sluicegate.stores.postgres_writer import PostgresWriter
from sluicegate.stores.queued import PATIENCE_S, QueuedStore
from sluicegate.stores.record_answers import KeptAnswer, read_answers
from sluicegate.stores.record_check import find_fault
from sluicegate.stores.record_questions import select_events, select_open_intents
from sluicegate.stores.writing import MAX_QUEUED_BYTES

READING_MS: Final = 600_000
"""How long one statement of a reader may take: a record is verified in many small ones."""


class PostgresStore(QueuedStore):
    """The AuditStore in one schema of a PostgreSQL database (synchronous_commit, group commit).

    The tables are made by ``prepare_chain``, never here: a gate's role may not. Reading opens
    connections of its own, each with one snapshot. Source: SPEC AUD-1 to AUD-4.
    """

    failures = (*QueuedStore.failures, psycopg.Error)

    _writer: PostgresWriter

    def __init__(
        self,
        place: Place,
        keys: AuditKeys,
        *,
        daily_bytes: int = 67_108_864,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        patience_s: float = PATIENCE_S,
        read_keys: ReadKeys | None = None,
    ) -> None:
        """Connect to a record that stands.

        Raises: RecordMissing where there is none; ConfigurationError.
        """
        super().__init__(place.shown, Keyring(keys, read_keys), patience_s=patience_s)
        self._place = place
        self._daily_bytes = daily_bytes
        self._max_queued_bytes = max_queued_bytes
        try:
            self._writer = self._start()
        except (OSError, psycopg.Error) as error:
            # Without its cause: a traceback would show what the server and libpq say in full.
            raise ConfigurationError(
                f"the record ({place.shown}) cannot be opened: {tell_error(error)}; look at"
                " audit.store and at the server"
            ) from None

    def events(self, **wanted: Unpack[EventFilters]) -> Iterator[StoredEvent]:
        """Iterate over stored events that fit every given filter. Raises: AuditUnavailable."""
        with self._reading() as session:
            yield from select_events(session, **wanted)

    def open_intents(self) -> tuple[StoredEvent, ...]:
        """Return intents whose outcome is not recorded, or is unknown and not yet resolved.

        Raises: AuditUnavailable.
        """
        with self._reading() as session:
            return select_open_intents(session)

    def answers(self, tool: str, *, since: datetime | None, now: datetime) -> Iterator[KeptAnswer]:
        """Iterate over the recorded answers of ``tool``, oldest first, one in memory at a time.

        The caller has recorded the act before. Raises: AuditUnavailable.
        """
        with self._reading() as session:
            yield from read_answers(
                session,
                self._ring,
                tool,
                since=since,
                now=now,
            )

    def verify(self) -> ChainReport:
        """Recompute the chain over every column from the first event on, in one snapshot.

        What is derived from the events, the open calls and the head, must agree with them: a tail
        that was cut is told by the head, unless that was changed too.
        """
        seen = (0, GENESIS)

        def watched(session: Session) -> Iterator[StoredEvent]:
            nonlocal seen
            for event in select_events(session):
                yield event
                seen = (event.seq, event.link)

        try:
            with self._reading() as session:
                report = verify_chain(self._ring.keys.chain, watched(session))
                return report if report.broken_at is not None else _compare(session, report, seen)
        except AuditUnavailable as error:
            return _broken(seen, str(error))

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        session: Session | None = None
        try:
            session = connect(self._place, patience_ms=READING_MS)
            session.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            session.is_streaming = True
            yield session
        except (OSError, psycopg.Error, ConfigurationError) as error:
            raise AuditUnavailable(f"{self._shown}: {tell_error(error)}") from None
        finally:
            if session is not None:
                session.close()

    def _start(self) -> PostgresWriter:
        return PostgresWriter(
            self._place,
            self._ring,
            daily_bytes=self._daily_bytes,
            patience_s=self._patience_s,
            max_queued_bytes=self._max_queued_bytes,
        )

    def _tell(self, error: Exception) -> str:
        return tell_error(error)


def _compare(session: Session, report: ChainReport, last: tuple[int, str]) -> ChainReport:
    problem = tell_head_fault(session, last)
    if problem is not None:
        return _broken(last, problem)
    fault = find_fault(session)
    if fault is None:
        return report
    return replace(report, broken_at=fault.seq, problem=fault.problem)


def _broken(seen: tuple[int, str], problem: str) -> ChainReport:
    return ChainReport(events=seen[0], head=seen[1], broken_at=seen[0] + 1, problem=problem)
