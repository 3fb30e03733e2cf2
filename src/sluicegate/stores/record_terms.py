"""Quotas, reservations and spent evidence: judged and written in the transaction of an intent.

Whether a reserved call is done, open or free is asked of its events: the table only says which
request holds a key. Source: SPEC ACC-3, ACC-4, EVI-1; docs/decisions/0014.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from sluicegate.gates.events import Outcome
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import CallQuery
from sluicegate.gates.terms import Allowance, AlreadyDone, Reservation, TermRefused, Terms
from sluicegate.gates.upshots import Upshot, follow, read_found
from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import (
    Column,
    hmac_of_arguments,
    hmac_of_bytes,
    storable,
    time_text,
)
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.record_open_calls import find_open_row
from sluicegate.values.codes import Code

TERM_TABLES: Final = (
    "CREATE TABLE quota_spent (key TEXT NOT NULL, at TEXT NOT NULL) STRICT",
    "CREATE INDEX quota_spent_key ON quota_spent (key, at)",
    "CREATE INDEX quota_spent_at ON quota_spent (at)",
    """
    CREATE TABLE reservation (
        key TEXT PRIMARY KEY,
        request_id TEXT NOT NULL,
        arguments_hmac TEXT NOT NULL,
        runs_until TEXT NOT NULL,
        kept_until TEXT NOT NULL
    ) STRICT
    """,
    "CREATE INDEX reservation_kept ON reservation (kept_until)",
    # What is asked for evidence: a caller's successes with one tool within a time.
    """
    CREATE INDEX audit_event_success ON audit_event (tool, caller_subject, time)
    WHERE kind = 'outcome' AND outcome = 'success'
    """,
    """
    CREATE TABLE custody_share (
        tool TEXT NOT NULL,
        day TEXT NOT NULL,
        caller TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        PRIMARY KEY (tool, day, caller)
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


_LONGEST: Final = timedelta(days=33)
"""No window is longer than 31 days."""

_OF_THE_CALL: Final = ("tool", "caller_subject", "caller_tenant", "arguments_hmac")

SLACK: Final = timedelta(days=1)
"""What has run out is forgotten so much later: a clock that was wrong for a while frees nothing."""


def key_columns(keys: AuditKeys, call: CallQuery) -> dict[str, Column]:
    """Return what a call is judged by: the columns that its intent would have."""
    tenant = call.caller.tenant
    return {
        "request_id": storable(call.request_id),
        "tool": storable(call.tool),
        "caller_subject": storable(call.caller.subject),
        "caller_tenant": None if tenant is None else storable(tenant),
        "arguments_hmac": hmac_of_arguments(keys, call.arguments),
    }


def hide_key(terms: Terms, keys: AuditKeys) -> Terms:
    """Return ``terms`` with the key as it is kept."""
    if terms.reservation is None:
        return terms
    return replace(terms, reservation=hide_reservation(terms.reservation, keys))


def hide_reservation(reservation: Reservation, keys: AuditKeys) -> Reservation:
    """Return ``reservation`` with its key as it is kept, from which nothing can be guessed."""
    return replace(reservation, key=hmac_of_bytes(keys, "reservation", reservation.key.encode()))


def tell_reservation(reservation: Reservation) -> dict[str, str]:
    """Return what an intent's detail says of its key, so that the table can be held to it."""
    return {
        "key": reservation.key,
        "until": time_text(reservation.kept_until),
        "runs": time_text(reservation.runs_until),
    }


def demand_unresolved(connection: Connection, columns: Mapping[str, Column]) -> None:
    """See that no operator said what became of a request before this, a further attempt of it.

    Raises: TermRefused; sqlite3.Error.
    """
    if columns["attempt"] == 1:
        return
    request_id = str(columns["request_id"])
    acts = connection.execute(
        "SELECT detail FROM audit_event WHERE request_id = ? AND kind = 'operator'", (request_id,)
    )
    if any(read_found(detail, request_id) is not None for (detail,) in acts):
        raise TermRefused(Code.OUTCOME_UNKNOWN, request_id)


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
    for place, event_id in enumerate(terms.evidence):
        if event_id in terms.evidence[:place] or is_spent(connection, event_id):
            raise TermRefused(Code.EVIDENCE_REQUIRED, spent=event_id)
    for allowance in terms.allowances:
        begins = _window_begins(allowance, now)
        # Of the newest that fill it, the oldest: when that leaves the window, there is room.
        count, oldest = connection.execute(
            "SELECT count(*), min(at) FROM (SELECT at FROM quota_spent WHERE key = ? AND at > ?"
            " ORDER BY at DESC LIMIT ?) AS counted",
            (allowance.key, begins, allowance.count),
        ).fetchone()
        if count >= allowance.count:
            frees = datetime.fromisoformat(oldest) + timedelta(seconds=allowance.window_s)
            raise TermRefused(Code.QUOTA_EXCEEDED, allowance=allowance, frees=frees)


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
            "DELETE FROM reservation WHERE kept_until <= ? AND key <> ?",
            (time_text(now - SLACK), reservation.key),
        )
    connection.executemany(
        "INSERT INTO evidence_spent VALUES (?, ?)",
        [(event_id, request_id) for event_id in terms.evidence],
    )
    windows: dict[str, int] = {}
    for allowance in terms.allowances:
        windows[allowance.key] = max(allowance.window_s, windows.get(allowance.key, 0))
    for key, window_s in windows.items():
        begins = now - timedelta(seconds=window_s) - SLACK
        connection.execute(
            "DELETE FROM quota_spent WHERE key = ? AND at <= ?", (key, time_text(begins))
        )
        connection.execute("INSERT INTO quota_spent VALUES (?, ?)", (key, at))
    if windows:
        # And of keys that nobody uses any more.
        connection.execute("DELETE FROM quota_spent WHERE at <= ?", (time_text(now - _LONGEST),))


def has_open_intent(connection: Connection, columns: Mapping[str, Column]) -> bool:
    """Whether the request of an event with ``columns`` has an intent, and its attempt no outcome.

    Raises: sqlite3.Error.
    """
    named = {"request_id": columns["request_id"], "attempt": columns["attempt"]}
    intent = connection.execute(
        "SELECT 1 FROM audit_event WHERE request_id = :request_id AND kind = 'intent' LIMIT 1",
        named,
    ).fetchone()
    ended = connection.execute(
        "SELECT 1 FROM audit_event WHERE request_id = :request_id AND kind = 'outcome'"
        " AND attempt >= :attempt LIMIT 1",
        named,
    ).fetchone()
    return intent is not None and ended is None


def goes_on(connection: Connection, columns: Mapping[str, Column], *, behind: int) -> bool:
    """Whether an event of the request of ``columns`` stands ``behind`` a sequence number.

    Raises: sqlite3.Error.
    """
    found = connection.execute(
        "SELECT 1 FROM audit_event WHERE request_id = ? AND seq > ? LIMIT 1",
        (columns["request_id"], behind),
    )
    return found.fetchone() is not None


def is_spent(connection: Connection, event_id: str) -> bool:
    """Whether an intent spent this answer as its evidence. Raises: sqlite3.Error."""
    found = connection.execute("SELECT 1 FROM evidence_spent WHERE event_id = ?", (event_id,))
    return found.fetchone() is not None


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
    held = connection.execute(
        "SELECT 1 FROM audit_event WHERE request_id = :holder AND kind = 'intent'"
        " AND tool || '' = :tool"
        " AND caller_subject IS :caller_subject AND caller_tenant IS :caller_tenant"
        " AND arguments_hmac = :arguments_hmac LIMIT 1",
        {
            "holder": holder,
            **{name: columns[name] for name in _OF_THE_CALL},
        },
    ).fetchone()
    if held is None:
        raise AuditUnavailable(
            f"CHAIN_BROKEN: a key is held by {holder}, whose call was another; verify the record"
        )
    outcome = _outcome_of(connection, holder)
    if outcome == Outcome.SUCCESS:
        raise AlreadyDone(holder)
    if outcome in (Outcome.PENDING, Outcome.UNKNOWN):
        runs = outcome == Outcome.PENDING and runs_until > now
        raise TermRefused(Code.IN_PROGRESS if runs else Code.OUTCOME_UNKNOWN, holder)


def _outcome_of(connection: Connection, request_id: str) -> str:
    """Return what a request came to.

    A request without an event is one whose events are gone: nobody knows.
    """
    upshot: Upshot | None = None
    for kind, outcome, detail in connection.execute(
        "SELECT kind, outcome, CASE WHEN kind = 'operator' THEN detail ELSE '' END FROM audit_event"
        " WHERE request_id = ? AND kind IN ('intent', 'outcome', 'operator') ORDER BY seq",
        (request_id,),
    ):
        found = read_found(detail, request_id)
        upshot = follow(upshot, kind=kind, outcome=outcome, found=found)
    return Outcome.UNKNOWN if upshot is None else upshot.outcome


def _window_begins(allowance: Allowance, now: datetime) -> str:
    return time_text(now - timedelta(seconds=allowance.window_s))
