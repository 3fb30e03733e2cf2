"""One transaction on a chain in PostgreSQL: the head is locked first, and everything follows it.

READ COMMITTED is enough: the row of the head is the first thing that every writer locks, so the
writing transactions of one chain follow one another, and each statement after the lock sees all
that was committed before it. A stricter level takes its snapshot before it waits for the lock, and
would fail for that alone. Source: SPEC AUD-3; docs/decisions/0015.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sluicegate.gates.events import AuditEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.stores.encoding import Column, EncodedEvent
from sluicegate.stores.keyring import Keyring
from sluicegate.stores.postgres_migrations import PREPARE
from sluicegate.stores.postgres_session import Session, without_nul
from sluicegate.stores.record_ledger import Ledger

_TEXTS: Final = (
    *("request_id", "tool", "contract_version", "contract_digest", "caller_subject"),
    *("caller_tenant", "session", "call_id", "adapter", "adapter_version", "endpoint"),
    *("upstream_status", "stage", "code", "agent_code", "schema_pointer", "decision_id"),
    "trace_id",
)


class PostgresLedger(Ledger):
    """The record inside one open transaction, the head of the chain locked."""

    __slots__ = ("begun_at", "session")

    def __init__(self, session: Session, ring: Keyring, daily_bytes: int) -> None:
        super().__init__(session, ring, daily_bytes)
        self.session = session
        self.begun_at = 0

    def begin(self) -> None:
        """Begin the transaction, lock the head of the chain, and see that its event is there.

        Raises: AuditUnavailable if there is no head, or not what it names; psycopg.Error.
        """
        self.session.connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        head = self.session.connection.execute(
            "SELECT seq, link FROM chain_head FOR UPDATE"
        ).fetchone()
        if head is None:
            raise AuditUnavailable("CHAIN_BROKEN: the chain has no head; verify the record")
        self.seq, self.link = head
        self.begun_at = self.seq
        # A statement of its own: one that waited for the lock would not see the other's events.
        if self.seq and self.link_of(self.seq) != self.link:
            raise AuditUnavailable("CHAIN_BROKEN: the newest event is not there; verify the record")

    def advance(self) -> None:
        """Write the new head, the last statement before the commit. Raises: psycopg.Error."""
        if self.seq != self.begun_at:
            self.session.execute("UPDATE chain_head SET seq = ?, link = ?", (self.seq, self.link))

    def commit(self) -> None:
        """Commit durably. Raises: AuditUnavailable where it was undone; psycopg.Error."""
        ended = self.session.connection.execute("COMMIT")
        # The COMMIT of a transaction that failed is answered ROLLBACK, and raises nothing.
        if ended.statusmessage != "COMMIT":
            raise AuditUnavailable("the transaction was undone")

    def link_of(self, seq: int) -> str | None:
        """Return the link of the event at ``seq``, None where there is none."""
        row = self.session.execute("SELECT link FROM audit_event WHERE seq = ?", (seq,)).fetchone()
        return None if row is None else str(row[0])

    def append(self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS) -> tuple[str, ...]:
        """Append as ``Ledger.append`` does; PostgreSQL's text holds no NUL, so it is escaped."""
        return super().append([_without_nul(event) for event in events], terms=terms)

    def _append(self, event: EncodedEvent) -> str:
        month = str(event.columns["time"])[:7]
        if month not in self.session.months:
            prepare_months(self.session, month)
        return super()._append(event)

    def _insert(self, columns: tuple[Column, ...]) -> None:
        self.session.insert_event(columns)


def tell_head_fault(session: Session, newest: tuple[int, str]) -> str | None:
    """Say what the head of the chain names where that is not its ``newest`` event.

    A tail that was cut shows so, unless the head was set back too. Raises: psycopg.Error.
    """
    head = session.execute("SELECT seq, link FROM chain_head").fetchone()
    if head == newest:
        return None
    says = "nothing" if head is None else f"event {head[0]}"
    return f"CHAIN_SHORTER_THAN_ANCHOR: the head of the chain names {says} as the newest"


def prepare_months(session: Session, month: str) -> None:
    """See that the partitions of ``month`` and the next one stand, made where the role may.

    Raises: AuditUnavailable, naming the command, where that of ``month`` stands not and cannot be
    made; psycopg.Error.
    """
    may_make = bool(
        _ask(session, "SELECT has_function_privilege('prepare_month(text)', 'EXECUTE')", ())
    )
    for wanted in (month, next_month(month)):
        stands = _ask(session, "SELECT to_regclass(%s) IS NOT NULL", (partition_of(wanted),))
        if not stands and may_make:
            session.connection.execute("SELECT prepare_month(%s)", (wanted,))
        elif not stands and wanted == month:
            raise AuditUnavailable(
                f"there is no partition for {month}, and this role may not make it: run `{PREPARE}`"
            )
    session.months.add(month)


def partition_of(month: str) -> str:
    """Return the name of the table of a month."""
    return f"audit_event_{month.replace('-', '_')}"


def next_month(month: str) -> str:
    """Return the month after ``2026-11``; after the last one there is none but itself."""
    year, number = int(month[:4]), int(month[5:])
    if (year, number) == (9999, 12):
        return month
    return f"{year + number // 12:04}-{number % 12 + 1:02}"


def _ask(session: Session, question: str, values: tuple[str, ...]) -> object:
    row = session.connection.execute(question.encode(), values).fetchone()
    return None if row is None else row[0]


def _without_nul(event: AuditEvent) -> AuditEvent:
    found = {
        name: without_nul(value)
        for name in _TEXTS
        if isinstance(value := getattr(event, name), str) and "\0" in value
    }
    return replace(event, **found) if found else event
