"""The writer thread of a process on a chain in PostgreSQL.

The head of the chain is locked first and the queue drained second, so that what arrives while other
gates write joins the same commit. A connection that is lost is opened anew for the next batch; what
became of a commit whose answer was lost is asked of the record, and the batch is never written
again. One that an item of it undid, before its commit, is written without that item.
"""

from __future__ import annotations

import threading
import time
from typing import Final

import psycopg

from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.keyring import Keyring
from sluicegate.stores.postgres_ledger import PostgresLedger
from sluicegate.stores.postgres_migrations import demand_chain
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.postgres_session import connect, tell_error
from sluicegate.stores.writing import MAX_QUEUED_BYTES, Item, Writer, attempt

LOOKING_S: Final = 5.0
"""How long a lost server is asked again what became of a commit."""

_BETWEEN_S: Final = 0.1

_OF_ONE: Final = ("22", "23", "42804", "42846", "54", "P0")
"""How a state of the server begins that says something of a value: a bad one, one that breaks a
constraint, has another type, is too long for an index, or is refused by a guard. Source:
PostgreSQL, appendix A."""

_UNSENT: Final = (psycopg.DataError, psycopg.ProgrammingError, psycopg.NotSupportedError)


class PostgresWriter(Writer):
    """Owns the connection and the thread of one chain in one process."""

    failures = (*Writer.failures, psycopg.Error)

    def __init__(
        self,
        place: Place,
        ring: Keyring,
        *,
        daily_bytes: int,
        patience_s: float,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
    ) -> None:
        """Connect and start. Raises: psycopg.Error, ConfigurationError."""
        super().__init__(place.shown, max_queued_bytes=max_queued_bytes)
        self._place = place
        self._ring = ring
        self._daily_bytes = daily_bytes
        self._patience_ms = max(1, int(patience_s * 1000))
        self._ledger: PostgresLedger | None = None
        self._last: tuple[int, str] = (0, "")
        self._pause = threading.Event()
        self._open()
        self._thread.start()

    def _write(self, batch: list[Item], *, joined: bool) -> None:
        try:
            ledger = self._begin()
            if joined:
                self._drain(batch)
            wanted = [item for item in batch if not item.is_idle]
            self._demand_same_chain(ledger)
            with self._undone(), ledger.session.sending_ahead():
                results = [attempt(item.work, ledger) for item in wanted]
                ledger.advance()
        except BaseException:
            self._release()
            raise
        self._commit(ledger)
        self._last = (ledger.seq, ledger.link)
        for item, result in zip(wanted, results, strict=True):
            item.result = result

    def _concerns_one(self, error: Exception) -> bool:
        if not isinstance(error, psycopg.Error):
            return False
        if error.sqlstate is None:  # the library's own: a value that it cannot send
            return isinstance(error, (*_UNSENT, psycopg.errors.PipelineAborted))
        return error.sqlstate.startswith(_OF_ONE)

    def _tell(self, error: Exception) -> str:
        return tell_error(error)

    def _begin(self) -> PostgresLedger:
        """Begin on the connection that stands, or, where the server has closed it, on a new one."""
        ledger = self._open()
        try:
            ledger.begin()
        except psycopg.OperationalError:
            if not ledger.session.is_broken:
                raise
            # Nothing of this batch was sent yet: a server that was restarted costs no call.
            self._release()
            ledger = self._open()
            ledger.begin()
        return ledger

    def _commit(self, ledger: PostgresLedger) -> None:
        try:
            ledger.commit()
        except psycopg.Error as error:
            self._release()
            if not self._is_committed(ledger.seq, ledger.link):
                raise AuditUnavailable(f"no commit: {tell_error(error)}") from None
        except BaseException:
            self._release()
            raise

    def _is_committed(self, seq: int, link: str) -> bool:
        """Whether the event with this link is there, once the other transaction has ended.

        The head is locked before looking: the server may still be committing. Raises:
        AuditUnavailable where nobody can be asked.
        """
        until = time.monotonic() + LOOKING_S
        while True:
            try:
                ledger = self._open()
                ledger.begin()
                found = ledger.link_of(seq) == link
                ledger.commit()
            except psycopg.Error as error:
                self._release()
                if time.monotonic() >= until:
                    raise AuditUnavailable(
                        "the server was lost during a commit, and what became of it is not known:"
                        f" {tell_error(error)}"
                    ) from None
                self._pause.wait(_BETWEEN_S)
            else:
                return found

    def _open(self) -> PostgresLedger:
        if self._ledger is None:
            session = connect(self._place, patience_ms=self._patience_ms)
            try:
                demand_chain(
                    session, self._ring.keys, schema=self._place.schema, shown=self._place.shown
                )
            except BaseException:
                session.close()
                raise
            self._ledger = PostgresLedger(session, self._ring, self._daily_bytes)
        return self._ledger

    def _demand_same_chain(self, ledger: PostgresLedger) -> None:
        """See that what this process wrote last is still there: a backup may have been put back."""
        seq, link = self._last
        if seq and (ledger.seq, ledger.link) != (seq, link) and ledger.link_of(seq) != link:
            raise AuditUnavailable(
                f"CHAIN_SHORTER_THAN_ANCHOR: event {seq}, written by this process, is not in the"
                " record any more; verify it, and start the gate anew"
            )

    def _release(self) -> None:
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            ledger.session.close()
