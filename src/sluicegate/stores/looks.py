"""What ``doctor`` looks at in the events of any record."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sluicegate.stores.chain import GENESIS, verify_chain
from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import time_text
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.record_open_calls import find_disagreement
from sluicegate.stores.record_questions import EventUnreadable, select_events
from sluicegate.values.looks import Look

TAIL: Final = 1_000
_MAX_AHEAD: Final = timedelta(seconds=5)


def look_at_open_calls(connection: Connection) -> Look:
    """Whether the table of open calls says of the newest events what they say."""
    newest = connection.execute("SELECT coalesce(max(seq), 0) FROM audit_event").fetchone()[0]
    fault = find_disagreement(connection, after=newest - TAIL)
    if fault is not None:
        return Look(
            name="open calls",
            well=False,
            says=f"event {fault.seq}: {fault.problem}; sluicegate audit list --open reads the"
            " events",
        )
    return Look(name="open calls", well=True, says="what is open is what the events say")


def count_open_calls(connection: Connection) -> Look:
    """How many calls are open; that is a matter for a person, and no fault of the record."""
    row = connection.execute("SELECT count(DISTINCT request_id) FROM open_call").fetchone()
    says = "no call waits for its outcome to be found out"
    if row[0]:
        calls = "1 call is" if row[0] == 1 else f"{row[0]} calls are"
        says = f"{calls} open: what does not run any more waits for a person; see audit list --open"
    return Look(name="waiting", well=True, says=says)


def look_at_custody(connection: Connection, keys: AuditKeys) -> Look:
    """Whether every data key is wrapped under a custody key that is here."""
    marks = ", ".join("?" * len(keys.custody))
    lacking = connection.execute(
        "SELECT key_id, count(*) FROM custody_blob WHERE purged_at IS NULL"  # noqa: S608  (marks alone)
        f" AND key_id IS NOT NULL AND key_id NOT IN ({marks}) GROUP BY key_id ORDER BY key_id",
        tuple(keys.custody),
    ).fetchall()
    if not lacking:
        return Look(name="custody", well=True, says="every data key opens with a key that is here")
    says = "; ".join(
        f"{count} data {'key is' if count == 1 else 'keys are'} wrapped under custody key {key_id},"
        " which this process does not have"
        for key_id, count in lacking
    )
    return Look(name="custody", well=False, says=f"{says}: {keys.remedy}")


def look_at_clock(connection: Connection, now: datetime) -> Look:
    """Whether no event lies ahead of ``now``."""
    newest = connection.execute("SELECT max(time) FROM audit_event").fetchone()[0]
    if newest is not None and newest > time_text(now + _MAX_AHEAD):
        return Look(
            name="clock",
            well=False,
            says=f"the newest event is of {newest}, this clock says {time_text(now)}",
        )
    return Look(name="clock", well=True, says="no event lies ahead of this clock")


def look_at_tail(connection: Connection, keys: AuditKeys) -> Look:
    """Whether the newest events hold together."""
    try:
        events = list(select_events(connection, limit=TAIL + 1, newest_first=True))[::-1]
    except EventUnreadable as error:
        return Look(name="chain", well=False, says=f"CHAIN_BROKEN: {error}")
    before = (0, GENESIS)
    if len(events) > TAIL:
        first, *events = events
        before = (first.seq, first.link)
    report = verify_chain(keys.chain, events, after=before)
    if report.broken_at is not None:
        return Look(
            name="chain",
            well=False,
            says=f"CHAIN_BROKEN at event {report.broken_at}: {report.problem}",
        )
    return Look(name="chain", well=True, says=f"the last {report.events} events hold together")
