"""Which attempts are open: sent, and nobody knows what became of them."""

from __future__ import annotations

import json
from collections.abc import Iterable

from sluicegate.gates.events import EventKind, Outcome, StoredEvent


def open_attempts(events: Iterable[StoredEvent]) -> tuple[StoredEvent, ...]:
    """Return the intents whose outcome is not known and that no operator has resolved since.

    A later attempt of one request is the same write under the same key, so its outcome counts for
    the earlier ones. An operator's act counts for what stands before it in the record. The stores
    ask the same question in their own language; one table of cases holds both to it. Source: SPEC
    AUD-1, RET-2.
    """
    intents: list[StoredEvent] = []
    known: dict[str, int] = {}
    resolved: dict[str, int] = {}
    for event in events:
        request_id = event.request_id
        if event.kind == EventKind.INTENT:
            intents.append(event)
        elif event.kind == EventKind.OUTCOME and event.outcome != Outcome.UNKNOWN:
            known[request_id] = max(event.attempt, known.get(request_id, event.attempt))
        elif event.kind == EventKind.OPERATOR and _resolves(event) == request_id:
            resolved[request_id] = max(event.seq, resolved.get(request_id, event.seq))
    return tuple(
        intent
        for intent in intents
        if intent.attempt > known.get(intent.request_id, intent.attempt - 1)
        and intent.seq > resolved.get(intent.request_id, intent.seq - 1)
    )


def _resolves(event: StoredEvent) -> object:
    try:
        detail = json.loads(event.detail)
    except ValueError:
        return None  # verify reports it
    return detail.get("resolves") if isinstance(detail, dict) else None
