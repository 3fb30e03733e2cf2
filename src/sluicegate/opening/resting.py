"""The events that a call rests on: the answers that were its evidence (EVI-1)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from sluicegate.gates.events import EventKind, StoredEvent
from sluicegate.gates.ports import AuditStore


def find_evidence(store: AuditStore, events: Sequence[StoredEvent]) -> Mapping[str, StoredEvent]:
    """Return by event id the outcomes that the intents among ``events`` rest on.

    Not the whole record is read: an event id holds its time, and evidence stands before its intent.
    What is not there, or no id of an event, is left out. Raises: AuditUnavailable.
    """
    wanted = {each for event in events for each in _named(event)}
    times = {name: time for name in wanted if (time := _time_of(name)) is not None}
    found: dict[str, StoredEvent] = {}
    if not times:
        return found
    last = max(event.seq for event in events)
    for event in store.events(since=min(times.values())):
        if event.seq > last or len(found) == len(times):
            break
        if event.event_id in times:
            found[event.event_id] = event
    return found


def _named(event: StoredEvent) -> Iterator[str]:
    if event.kind != EventKind.INTENT:
        return
    detail = json.loads(event.detail)
    listed = detail.get("evidence") if isinstance(detail, dict) else None
    if isinstance(listed, list):
        yield from (name for name in listed if isinstance(name, str))


def _time_of(event_id: str) -> datetime | None:
    """Return the time in a UUID of version 7 (RFC 9562, section 5.7), to the millisecond."""
    try:
        milliseconds = UUID(event_id).int >> 80
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
