"""Quotas, reservations and spent evidence: judged and written in the transaction of an intent.

Whether a reserved call is done, open or free is asked of its events: the table only says which
request holds a key. Source: SPEC ACC-3, ACC-4, EVI-1; docs/decisions/0014.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sluicegate.gates.events import EventKind, Outcome
from sluicegate.gates.terms import Allowance, AlreadyDone, Reservation, TermRefused, Terms
from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import Column, hmac_of_arguments, time_text
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.sqlite_open_calls import find_open_row
from sluicegate.values.codes import Code

TERM_TABLES: Final = (
    "CREATE TABLE quota_spent (key TEXT NOT NULL, at TEXT NOT NULL) STRICT",
    "CREATE INDEX quota_spent_key ON quota_spent (key, at)",
    """
    CREATE TABLE reservation (
        key TEXT PRIMARY KEY,
        request_id TEXT NOT NULL,
        arguments_hmac TEXT NOT NULL,
        runs_until TEXT NOT NULL,
        kept_until TEXT NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE evidence_spent (
        event_id TEXT PRIMARY KEY,
        request_id TEXT NOT NULL
    ) STRICT
    """,
)

TERM_TRIGGERS: Final = {
    "evidence_spent_no_update": """
        BEFORE UPDATE ON evidence_spent
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: spent evidence stays spent'); END
    """,
    "evidence_spent_no_delete": """
        BEFORE DELETE ON evidence_spent
        BEGIN SELECT RAISE(ABORT, 'APPEND_ONLY: spent evidence stays spent'); END
    """,
}


def key_columns(
    keys: AuditKeys, request_id: str, arguments: Mapping[str, object]
) -> dict[str, Column]:
    """Return what a reservation is judged by: the columns that an intent would have."""
    return {"request_id": request_id, "arguments_hmac": hmac_of_arguments(keys, arguments)}


def demand_terms(
    connection: Connection, columns: Mapping[str, Column], terms: Terms, now: datetime
) -> None:
    """See that every term of the intent with ``columns`` holds at ``now``; nothing is written.

    Raises: TermRefused, AlreadyDone; sqlite3.Error.
    """
    if terms.reservation is not None:
        _demand_reservation(connection, columns, terms.reservation, time_text(now))
    if terms.unless_open:
        request_id = find_open_row(connection, columns)
        if request_id is not None:
            raise TermRefused(Code.OUTCOME_UNKNOWN, request_id)
    for event_id in terms.evidence:
        if is_spent(connection, event_id):
            raise TermRefused(Code.EVIDENCE_REQUIRED)
    for allowance in terms.allowances:
        begins = _window_begins(allowance, now)
        (count,) = connection.execute(
            "SELECT count(*) FROM quota_spent WHERE key = ? AND at > ?", (allowance.key, begins)
        ).fetchone()
        if count >= allowance.count:
            raise TermRefused(Code.QUOTA_EXCEEDED)


def keep_terms(
    connection: Connection, columns: Mapping[str, Column], terms: Terms, now: datetime
) -> None:
    """Count, reserve and spend what ``demand_terms`` found to hold. Raises: sqlite3.Error."""
    request_id, at = columns["request_id"], time_text(now)
    reservation = terms.reservation
    if reservation is not None:
        # A later attempt of the same request lengthens its own lease.
        connection.execute(
            "INSERT INTO reservation VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
            " request_id = excluded.request_id, arguments_hmac = excluded.arguments_hmac,"
            " runs_until = excluded.runs_until, kept_until = excluded.kept_until",
            (
                reservation.key,
                request_id,
                columns["arguments_hmac"],
                time_text(reservation.runs_until),
                time_text(reservation.kept_until),
            ),
        )
        connection.execute(
            "DELETE FROM reservation WHERE kept_until <= ? AND key <> ?", (at, reservation.key)
        )
    connection.executemany(
        "INSERT INTO evidence_spent VALUES (?, ?)",
        [(event_id, request_id) for event_id in terms.evidence],
    )
    for allowance in terms.allowances:
        connection.execute(
            "DELETE FROM quota_spent WHERE key = ? AND at <= ?",
            (allowance.key, _window_begins(allowance, now)),
        )
        connection.execute("INSERT INTO quota_spent VALUES (?, ?)", (allowance.key, at))


def is_spent(connection: Connection, event_id: str) -> bool:
    """Whether an intent spent this answer as its evidence. Raises: sqlite3.Error."""
    found = connection.execute("SELECT 1 FROM evidence_spent WHERE event_id = ?", (event_id,))
    return found.fetchone() is not None


def find_unmarked(connection: Connection) -> int | None:
    """Return the first intent that spent evidence which is not marked as spent (any more).

    Raises: sqlite3.Error.
    """
    rows = connection.execute(
        "SELECT e.seq, e.detail FROM audit_event AS e"
        " WHERE e.kind = 'intent' AND instr(e.detail, '\"spent\":') ORDER BY e.seq"
    )
    # Read here, since PostgreSQL's JSON takes no text with \u0000 in it.
    for seq, detail in rows:
        for event_id in json.loads(detail).get("spent", ()):
            if not is_spent(connection, event_id):
                return int(seq)
    return None


def _demand_reservation(
    connection: Connection,
    columns: Mapping[str, Column],
    reservation: Reservation,
    now: str,
) -> None:
    row = connection.execute(
        "SELECT request_id, arguments_hmac, runs_until, kept_until FROM reservation WHERE key = ?",
        (reservation.key,),
    ).fetchone()
    if row is None or row[0] == columns["request_id"] or row[3] <= now:
        return
    holder, arguments_hmac, runs_until, _ = row
    if arguments_hmac != columns["arguments_hmac"]:
        raise TermRefused(Code.KEY_REUSED, holder)
    outcome = _outcome_of(connection, holder)
    if outcome == Outcome.SUCCESS:
        raise AlreadyDone(holder)
    if outcome in (Outcome.PENDING, Outcome.UNKNOWN):
        runs = outcome == Outcome.PENDING and runs_until > now
        raise TermRefused(Code.IN_PROGRESS if runs else Code.OUTCOME_UNKNOWN, holder)


def _outcome_of(connection: Connection, request_id: str) -> str:
    """Return what stands of a request: of its last attempt, or what an operator said of it since.

    A request without an event is one whose events are gone: nobody knows.
    """
    for kind, outcome, detail in connection.execute(
        "SELECT kind, outcome, detail FROM audit_event WHERE request_id = ?"
        " AND kind IN ('intent', 'outcome', 'operator') ORDER BY seq DESC",
        (request_id,),
    ):
        if kind != EventKind.OPERATOR:
            return str(outcome)
        act = json.loads(detail)
        if act.get("resolves") == request_id:
            return Outcome.SUCCESS if act.get("as") == "done" else Outcome.FAILURE
    return Outcome.UNKNOWN


def _window_begins(allowance: Allowance, now: datetime) -> str:
    return time_text(now - timedelta(seconds=allowance.window_s))
