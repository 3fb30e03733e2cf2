"""What became of a request that holds a key, by the events of its record."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sluicegate.gates.events import AuditEvent, EventKind, Outcome, StoredEvent
from sluicegate.gates.keeping import SELECTED
from sluicegate.gates.record_reading import as_written, read_time
from sluicegate.gates.upshots import Upshot, follow, read_found
from sluicegate.values.callers import Caller


class Became(StrEnum):
    """What a key is, by what stands last of the request that holds it."""

    PENDING = "pending"
    DONE = "done"
    FREE = "free"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """``key`` and ``arguments_hmac`` are as the record keeps them.

    ``attempt`` is the newest one that is told of; ``is_operators``: an operator's word stands.
    """

    request_id: str
    became: Became
    attempt: int
    is_operators: bool
    key: str
    kept_until: datetime
    arguments_hmac: str
    tool: str
    caller: Caller


def find_fate(events: Iterable[StoredEvent]) -> Fate | None:
    """Return what became of the request whose events these are, None where it holds no key.

    Raises: AuditUnavailable for events that no gate wrote so. Source: SPEC ACC-4, RET-2.
    """
    told = list(events)
    with as_written(told[0].request_id if told else ""):
        return _judge(told)


def find_selected(event: StoredEvent) -> str | None:
    """Return the reference of the selected data that custody keeps for an outcome, if any.

    Raises: AuditUnavailable for an event that no gate wrote so.
    """
    with as_written(event.request_id):
        ref = json.loads(event.detail).get("custody", {}).get(SELECTED)
        return None if ref is None else str(ref)


def find_end_of_key(intent: StoredEvent) -> datetime | None:
    """Return until when the key of an intent is kept, None where it has none.

    Raises: AuditUnavailable for an event that no gate wrote so.
    """
    with as_written(intent.request_id):
        reserved = json.loads(intent.detail).get("reserved")
        return None if reserved is None else read_time(reserved["until"])


def _judge(events: Iterable[StoredEvent]) -> Fate | None:
    holding: StoredEvent | None = None
    reserved: dict[str, str] = {}
    upshot: Upshot | None = None
    newest = 0
    for event in events:
        if event.kind == EventKind.INTENT and "reserved" in (detail := json.loads(event.detail)):
            holding, reserved = event, detail["reserved"]
        is_act = event.kind == EventKind.OPERATOR
        found = read_found(event.detail, event.request_id) if is_act else None
        upshot = follow(upshot, kind=event.kind, outcome=event.outcome, found=found)
        if event.kind in (EventKind.INTENT, EventKind.OUTCOME):
            newest = max(newest, event.attempt)
    if holding is None or upshot is None:
        return None
    return Fate(
        request_id=holding.request_id,
        became=judge_outcome(upshot.outcome),
        attempt=newest,
        is_operators=upshot.found is not None,
        key=reserved["key"],
        kept_until=read_time(reserved["until"]),
        arguments_hmac=holding.arguments_hmac or "",
        tool=holding.tool,
        caller=Caller(subject=holding.caller_subject or "", tenant=holding.caller_tenant),
    )


def judge_outcome(outcome: str) -> Became:
    """Return what the outcome of a request's last intent or outcome makes of its key."""
    if outcome == Outcome.SUCCESS:
        return Became.DONE
    if outcome == Outcome.PENDING:
        return Became.PENDING
    return Became.UNKNOWN if outcome == Outcome.UNKNOWN else Became.FREE


def last_of(events: Iterable[AuditEvent], request_id: str) -> AuditEvent | None:
    """Return the last of ``events`` that says how far a request came."""
    told = None
    for event in events:
        if event.request_id == request_id and event.kind in (EventKind.INTENT, EventKind.OUTCOME):
            told = event
    return told
