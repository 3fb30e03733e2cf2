"""What a call lacked to rest on: the proofs that the gate asked for in vain (EVI-1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluicegate.gates.events import StoredEvent
from sluicegate.gates.keeping import SELECTED
from sluicegate.gates.ports import AuditStore
from sluicegate.rendering.tables import read_detail


def find_crowded_out(store: AuditStore, events: Sequence[StoredEvent]) -> frozenset[str]:
    """Return the requests by which the gate asked for a proof, and whose answer found no room.

    Custody had its share of that day full, so that what was accepted is no evidence (AUD-4).
    Raises: AuditUnavailable.
    """
    asked = {name for event in events if (name := _asked(event)) is not None}
    return frozenset(
        name
        for name in asked
        if any(SELECTED in _list_left_out(event) for event in store.events(request_id=name))
    )


def find_absent_holders(store: AuditStore, events: Sequence[StoredEvent]) -> frozenset[str]:
    """Return the calls that hold a key of ``events`` and do not stand in this record.

    Where gates share keys that of another gate holds them (ACC-4). Raises: AuditUnavailable.
    """
    named = {read_detail(event).get("held_by") for event in events}
    return frozenset(
        name
        for name in named
        if isinstance(name, str) and not any(store.events(request_id=name, limit=1))
    )


def _asked(event: StoredEvent) -> str | None:
    proof = read_detail(event).get("proof")
    asked = proof.get("asked") if isinstance(proof, Mapping) else None
    return asked if isinstance(asked, str) else None


def _list_left_out(event: StoredEvent) -> Sequence[object]:
    listed = read_detail(event).get("not_kept")
    return listed if isinstance(listed, list) else ()
