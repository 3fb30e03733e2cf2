"""The record in memory: the same tables, chain and custody, gone with the process. For tests."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import TypeVar, Unpack

from sluicegate.gates.events import AuditEvent, StoredEvent
from sluicegate.gates.handed_in import demand_account, demand_name
from sluicegate.gates.ports import AuditUnavailable, ChainReport
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery, CallQuery, EventFilters
from sluicegate.gates.terms import NO_TERMS, Accepted, AcceptedPage, Reservation, Terms
from sluicegate.stores.chain import verify_chain
from sluicegate.stores.keyring import Keyring, ReadKeys
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.record_accepted import find_accepted, find_answer
from sluicegate.stores.record_acts import (
    open_blob,
    purge_custody,
    record_reveal,
    rewrap_custody,
)
from sluicegate.stores.record_custody import REWRAPPED_AT_ONCE, find_blob
from sluicegate.stores.record_ledger import Ledger
from sluicegate.stores.record_open_calls import find_open_row
from sluicegate.stores.record_questions import select_events, select_open_intents
from sluicegate.stores.record_terms import demand_terms, hide_reservation, key_columns
from sluicegate.stores.sqlite_schema import demand_sqlite, prepare_tables

T = TypeVar("T")


class MemoryStore:
    """An AuditStore without a file; each record is made at once, in the caller's thread."""

    def __init__(
        self,
        keys: AuditKeys | None = None,
        *,
        daily_bytes: int = 67_108_864,
        read_keys: ReadKeys | None = None,
    ) -> None:
        demand_sqlite()
        self._ring = Keyring(keys or draw_keys(), read_keys)
        self._lock = threading.Lock()
        self._closed = False
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False
        )
        prepare_tables(self._connection, self._ring.keys, "memory:")
        self._ledger = Ledger(self._connection, self._ring, daily_bytes)

    def record_blocking(self, events: Sequence[AuditEvent]) -> tuple[str, ...]:
        """Append the events and return their ids. Raises: AuditUnavailable."""
        return self._change(lambda ledger: ledger.append(events))

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> tuple[str, ...]:
        """Append the events and return their ids.

        Raises: TermRefused, AlreadyDone, AuditUnavailable.
        """
        return self._change(lambda ledger: ledger.append(events, terms=terms))

    def events(self, **wanted: Unpack[EventFilters]) -> Iterator[StoredEvent]:
        """Iterate over stored events that fit every given filter."""
        return iter(self._ask(lambda connection: list(select_events(connection, **wanted))))

    def open_intents(self) -> tuple[StoredEvent, ...]:
        """Return intents whose outcome is not recorded, or is unknown and not yet resolved."""
        return self._ask(select_open_intents)

    async def find_open_call(self, call: CallQuery) -> str | None:
        """Return the request id under which this very call is open."""
        columns = key_columns(self._ring.keys, call)
        return self._ask(lambda connection: find_open_row(connection, columns))

    async def demand_key(self, reservation: Reservation, call: CallQuery, *, now: datetime) -> None:
        """Judge a reservation as the commit of an intent would, and keep nothing."""
        columns = key_columns(self._ring.keys, call)
        terms = Terms(reservation=hide_reservation(reservation, self._ring.keys))
        self._ask(lambda connection: demand_terms(connection, columns, terms, now))

    async def accepted(self, query: AcceptedQuery, *, now: datetime) -> AcceptedPage:
        """Return accepted answers given to this caller and tenant, newest first."""
        return self._change(lambda ledger: find_accepted(ledger, query, now))

    async def answer_of(self, query: AnswerQuery, *, now: datetime) -> Accepted | None:
        """Return the accepted answer of one request while its selected data is kept."""
        return self._change(lambda ledger: find_answer(ledger, query, now))

    def verify(self) -> ChainReport:
        """Recompute the chain over every column from the first event on."""
        return verify_chain(self._ring.keys.chain, self.events())

    async def reveal(self, ref: str, *, who: str, reason: str, now: datetime) -> bytes:
        """Record the act, then return the plain bytes. Raises: KeyError, AuditUnavailable."""
        demand_account(who, reason)
        blob = self._ask(lambda connection: find_blob(connection, ref, now))
        self.record_blocking([record_reveal(blob, who=who, reason=reason, now=now)])
        return open_blob(blob, self._ring)

    async def purge(
        self,
        *,
        now: datetime,
        who: str,
        refs: Sequence[str] | None = None,
        expired_by: datetime | None = None,
    ) -> int:
        """Destroy blobs that expire by ``expired_by`` or ``now`` (or ``refs``); return how many."""
        demand_name(who)
        return self._change(
            lambda ledger: purge_custody(ledger, now=now, who=who, refs=refs, expired_by=expired_by)
        )

    async def rewrap(self, *, now: datetime, who: str) -> int:
        """Wrap every data key under the active custody key and return how many."""
        demand_name(who)
        total, count = 0, REWRAPPED_AT_ONCE
        while count == REWRAPPED_AT_ONCE:
            count = self._change(lambda ledger: rewrap_custody(ledger, now=now, who=who))
            total += count
        return total

    async def close(self) -> None:
        """Release the memory; nothing can be asked or recorded afterwards."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            self._demand_open()
            return question(self._connection)

    def _change(self, work: Callable[[Ledger], T]) -> T:
        with self._lock:
            self._demand_open()
            try:
                self._ledger.begin()
                result = work(self._ledger)
                self._ledger.commit()
            except BaseException as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise AuditUnavailable(f"the record in memory failed: {error}") from error
                raise
            return result

    def _demand_open(self) -> None:
        if self._closed:
            raise AuditUnavailable("the record is closed")
