"""Accepted answers whose selected data is kept: what evidence and replays are made of (AUD-4)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from sluicegate.gates.events import StoredEvent
from sluicegate.gates.keeping import SELECTED
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.terms import Accepted, AcceptedPage
from sluicegate.stores.chain import holds_own_link
from sluicegate.stores.encoding import Column, storable, time_text
from sluicegate.stores.sqlite_acts import open_blob
from sluicegate.stores.sqlite_custody import find_blob
from sluicegate.stores.sqlite_ledger import Ledger
from sluicegate.stores.sqlite_questions import read_event
from sluicegate.stores.sqlite_schema import SELECT_EVENTS
from sluicegate.stores.sqlite_terms import is_spent
from sluicegate.values.callers import Caller

PAGE: Final = 100
_LAST_SEQ: Final = (1 << 63) - 1


def find_accepted(
    ledger: Ledger,
    *,
    tool: str,
    caller: Caller,
    contract_digest: str,
    since: datetime,
    now: datetime,
    before: int | None,
) -> AcceptedPage:
    """Answer ``AuditStore.accepted``. Raises: AuditUnavailable, sqlite3.Error."""
    tenant = None if caller.tenant is None else storable(caller.tenant)
    events = _select(
        ledger,
        "e.tool = ? AND e.caller_subject IS ? AND e.caller_tenant IS ?"
        " AND e.contract_digest = ? AND e.time >= ? AND e.seq < ? ORDER BY e.seq DESC LIMIT ?",
        (
            *(storable(tool), storable(caller.subject), tenant, contract_digest),
            *(time_text(since), _LAST_SEQ if before is None else before, PAGE),
        ),
    )
    return AcceptedPage(
        answers=tuple(_open(ledger, events, now)),
        next_before=events[-1].seq if len(events) == PAGE else None,
    )


def find_answer(ledger: Ledger, request_id: str, *, now: datetime) -> Accepted | None:
    """Answer ``AuditStore.answer_of``. Raises: AuditUnavailable, sqlite3.Error."""
    events = _select(ledger, "e.request_id = ? ORDER BY e.seq DESC LIMIT 1", (request_id,))
    return next(_open(ledger, events, now), None)


def _select(ledger: Ledger, wanted: str, values: tuple[Column, ...]) -> list[StoredEvent]:
    rows = ledger.connection.execute(
        f"{SELECT_EVENTS} WHERE e.kind = 'outcome' AND e.outcome = 'success' AND {wanted}", values
    )
    return [read_event(row) for row in rows.fetchall()]


def _open(ledger: Ledger, events: Sequence[StoredEvent], now: datetime) -> Iterator[Accepted]:
    for event in events:
        content = _open_selected(ledger, event, now)
        if content is not None:
            yield Accepted(
                event_id=event.event_id,
                seq=event.seq,
                request_id=event.request_id,
                time=datetime.fromisoformat(event.time),
                contract_digest=event.contract_digest,
                data=json.loads(content),
                spent=is_spent(ledger.connection, event.event_id),
            )


def _open_selected(ledger: Ledger, event: StoredEvent, now: datetime) -> bytes | None:
    """Return the kept data of an answer; None where none is kept (any more) or a cache gave it."""
    if not holds_own_link(ledger.keys.chain, event):
        # An action would rest on what somebody else wrote.
        raise AuditUnavailable(f"CHAIN_BROKEN: event {event.seq} was changed; verify the record")
    detail = json.loads(event.detail)
    ref = detail.get("custody", {}).get(SELECTED)
    if ref is None or detail.get("from_cache"):
        return None
    try:
        blob = find_blob(ledger.connection, ref, now)
    except KeyError:
        return None
    return open_blob(blob, ledger.keys)
