"""Accepted answers whose selected data is kept: what evidence and replays are made of (AUD-4)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from sluicegate.gates.events import StoredEvent
from sluicegate.gates.keeping import SELECTED
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery, RecordPlace
from sluicegate.gates.terms import Accepted, AcceptedPage
from sluicegate.stores.chain import holds_own_link
from sluicegate.stores.custody import KeyNotHeld, SealBroken
from sluicegate.stores.encoding import Column, hmac_of_arguments, storable, time_text
from sluicegate.stores.record_acts import unseal_blob
from sluicegate.stores.record_custody import find_blob
from sluicegate.stores.record_ledger import Ledger
from sluicegate.stores.record_questions import read_event
from sluicegate.stores.record_terms import is_spent
from sluicegate.stores.sqlite_schema import SELECT_EVENTS
from sluicegate.values.callers import Caller

PAGE: Final = 50
"""Each of a page is opened: a caller who asks seldom is served by the first one."""

_SUCCESS: Final = "e.kind = 'outcome' AND e.outcome = 'success'"
_LAST: Final = RecordPlace(datetime.max.replace(tzinfo=UTC), (1 << 63) - 1)


def find_accepted(ledger: Ledger, query: AcceptedQuery, now: datetime) -> AcceptedPage:
    """Answer ``AuditStore.accepted``. Raises: AuditUnavailable, sqlite3.Error."""
    before = query.before or _LAST
    until = time_text(before.time)
    events = _select(
        ledger,
        f"{_SUCCESS} AND e.tool = ? AND e.caller_subject IS ? AND e.caller_tenant IS ?"
        # By the index over successes: those of a time, whatever the history of the tool.
        " AND e.contract_digest = ? AND e.time >= ? AND e.time <= ?"
        " AND (e.time < ? OR e.seq + 0 < ?) ORDER BY e.time DESC, e.seq DESC LIMIT ?",
        (
            *(storable(query.tool), *_columns_of(query.caller), query.contract_digest),
            *(time_text(query.since), until, until, before.seq, PAGE),
        ),
    )
    observed = [
        event for event in _asked_after(ledger, events, query.after) if _is_observation(event)
    ]
    answers = tuple(_open(ledger, observed, now))
    read = {answer.seq for answer in answers}
    hidden = [event.time for event in observed if event.seq not in read]
    last = events[-1] if len(events) == PAGE else None
    return AcceptedPage(
        answers=answers,
        next_before=None
        if last is None
        else RecordPlace(datetime.fromisoformat(last.time), last.seq),
        hidden=datetime.fromisoformat(max(hidden)) if hidden else None,
    )


def find_answer(ledger: Ledger, query: AnswerQuery, now: datetime) -> Accepted | None:
    """Answer ``AuditStore.answer_of``. Raises: AuditUnavailable, sqlite3.Error."""
    events = _select(
        ledger,
        # Not by the index over tools: one call has a few events, its tool may have millions.
        f"{_SUCCESS} AND e.request_id = ? AND e.tool || '' = ? AND e.caller_subject IS ?"
        " AND e.caller_tenant IS ? ORDER BY e.seq DESC LIMIT 1",
        (query.request_id, storable(query.tool), *_columns_of(query.caller)),
    )
    if query.arguments is not None:
        wanted = hmac_of_arguments(ledger.keys, query.arguments)
        events = [event for event in events if event.arguments_hmac == wanted]
    return next(_open(ledger, events, now), None)


def _columns_of(caller: Caller) -> tuple[str, str | None]:
    return storable(caller.subject), None if caller.tenant is None else storable(caller.tenant)


def _asked_after(
    ledger: Ledger, events: Sequence[StoredEvent], after: str | None
) -> Sequence[StoredEvent]:
    """Those whose intent stands behind the event ``after``; none where that is not there."""
    if after is None:
        return events
    last = _select(ledger, "e.event_id = ?", (after,))
    if not last:
        return ()
    return [event for event in events if _seq_of_intent(ledger, event) > last[0].seq]


def _seq_of_intent(ledger: Ledger, event: StoredEvent) -> int:
    intents = _select(
        ledger,
        "e.request_id = ? AND e.kind = 'intent' AND e.seq < ? ORDER BY e.seq DESC LIMIT 1",
        (event.request_id, event.seq),
    )
    return intents[0].seq if intents else 0


def _select(ledger: Ledger, wanted: str, values: tuple[Column, ...]) -> list[StoredEvent]:
    """Return the events that fit, each held to its own link before anything of it is read.

    What was changed so that it does not fit any more is not seen here: the chain alone tells of it.
    """
    rows = ledger.connection.execute(f"{SELECT_EVENTS} WHERE {wanted}", values)
    events = [read_event(row) for row in rows.fetchall()]
    for event in events:
        if not holds_own_link(ledger.keys.chain, event):
            # An action would rest on what somebody else wrote.
            raise AuditUnavailable(
                f"CHAIN_BROKEN: event {event.seq} was changed; verify the record"
            )
    return events


def _is_observation(event: StoredEvent) -> bool:
    """Whether the upstream was asked: no cache gave the answer, and no earlier call."""
    detail = json.loads(event.detail)
    return not detail.get("from_cache") and "replays" not in detail


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
    detail = json.loads(event.detail)
    ref = detail.get("custody", {}).get(SELECTED)
    if ref is None or detail.get("from_cache"):
        return None
    try:
        blob = find_blob(ledger.connection, ref, now)
    except KeyError:
        return None
    try:
        return unseal_blob(blob, ledger.ring)
    except KeyNotHeld as error:
        # It may be whole: "there is no answer" would let a write be made twice.
        raise AuditUnavailable(str(error)) from None
    except SealBroken:
        return None  # what does not open proves nothing; of others nothing is said
