"""One transaction on the record: events get their place in the chain, blobs their seal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.stores.chain import GENESIS, link_columns
from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import COLUMNS, Column, EncodedEvent, encode_event
from sluicegate.stores.keyring import Keyring
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.record_custody import keep_blobs
from sluicegate.stores.record_terms import (
    demand_terms,
    demand_unresolved,
    goes_on,
    has_open_intent,
    hide_key,
    keep_terms,
    tell_reservation,
)
from sluicegate.stores.sqlite_schema import INSERT_EVENT

_MIDDLE: Final = COLUMNS[1:-2]  # everything but seq, previous and link


class Ledger:
    """The record inside one open transaction, head in hand."""

    __slots__ = ("connection", "daily_bytes", "link", "ring", "seq")

    def __init__(self, connection: Connection, ring: Keyring, daily_bytes: int) -> None:
        self.connection = connection
        self.daily_bytes = daily_bytes
        self.ring = ring
        self.seq = 0
        self.link = GENESIS

    @property
    def keys(self) -> AuditKeys:
        """The keys of this record, as they are held by now."""
        return self.ring.keys

    def begin(self) -> None:
        """Begin the transaction and read the head of the chain inside it.

        Raises: AuditUnavailable if the last row is no event; sqlite3.Error.
        """
        self.connection.execute("BEGIN IMMEDIATE")
        head = self.connection.execute(
            "SELECT seq, link FROM audit_event ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        seq, link = head or (0, GENESIS)
        if seq.__class__ is not int or link.__class__ is not str:
            raise AuditUnavailable("CHAIN_BROKEN: the last event is none; verify the record")
        self.seq, self.link = seq, link

    def commit(self) -> None:
        """Commit durably. Raises: sqlite3.Error."""
        self.connection.execute("COMMIT")

    def append(self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS) -> tuple[str, ...]:
        """Append the events and return their ids; nothing is written unless all can be encoded.

        Raises: AuditUnavailable for an event that cannot be encoded; TermRefused and AlreadyDone,
        before anything is written, as ``AuditStore.record`` says; sqlite3.Error.
        """
        try:
            encoded = [encode_event(event, self.keys) for event in events]
        except (TypeError, ValueError, OverflowError, RecursionError, AttributeError) as error:
            # The text of such an error may quote the value, so only its type is told.
            raise AuditUnavailable(f"the event cannot be encoded: {type(error).__name__}") from None
        if terms is not NO_TERMS:
            if not self._is_as_asked(terms, encoded[0].columns):
                return ()
            terms = hide_key(terms, self.keys)
            for event in encoded:
                if event.columns["kind"] == EventKind.INTENT:
                    demand_unresolved(self.connection, event.columns)
                    demand_terms(self.connection, event.columns, terms, event.time)
                    keep_terms(self.connection, event.columns, terms, event.time)
                    if terms.evidence:
                        event.add_detail("spent", list(terms.evidence))
                    if terms.reservation is not None:
                        event.add_detail("reserved", tell_reservation(terms.reservation))
        return tuple([self._append(event) for event in encoded])

    def _is_as_asked(self, terms: Terms, columns: Mapping[str, Column]) -> bool:
        """Whether the request of ``columns`` stands as ``if_intended`` and ``if_last`` ask."""
        if terms.if_intended and not has_open_intent(self.connection, columns):
            return False
        last = terms.if_last
        return last is None or not goes_on(self.connection, columns, behind=last)

    def _append(self, event: EncodedEvent) -> str:
        columns = event.columns
        if event.kept:
            keep_blobs(self.connection, event, self.keys, self.daily_bytes)
        seq = self.seq + 1
        covered = (seq, *[columns[name] for name in _MIDDLE], self.link)
        link = link_columns(self.keys.chain, covered)
        self._insert((*covered, link))
        self.seq, self.link = seq, link
        return str(columns["event_id"])

    def _insert(self, columns: tuple[Column, ...]) -> None:
        self.connection.execute(INSERT_EVENT, columns)
