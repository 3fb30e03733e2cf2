"""What a request came to, by its events in their order: one rule for whoever asks.

The terms of another call, the key store, ``verify`` and ``why`` ask it. Pure; no store is known.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from sluicegate.gates.events import EventKind, Outcome

TOLD_BY: Final = (EventKind.INTENT, EventKind.OUTCOME, EventKind.OPERATOR)
"""The kinds of events that say how far a request came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upshot:
    """``outcome`` as an event spells it; ``found`` where it is an operator's word that stands."""

    outcome: str
    found: str | None = None


def follow(before: Upshot | None, *, kind: str, outcome: str, found: str | None) -> Upshot | None:
    """Return what a request came to with one event more; None before the first that says so.

    ``found`` is what an operator found out, where the event is such an act. An operator's word
    stands: who looked knows more than a gate that does not know, or that was told of a failure,
    which may have met what was done before. Only a success behind it counts, for that was seen;
    and an intent, for then the write goes out anew. Source: SPEC ACC-4, RET-2; decision 0014.
    """
    if kind == EventKind.OPERATOR:
        if found is None:
            return before
        return Upshot(outcome=Outcome.SUCCESS if found == "done" else Outcome.FAILURE, found=found)
    if kind not in TOLD_BY:
        return before
    is_settled = before is not None and before.found is not None
    if is_settled and kind == EventKind.OUTCOME and outcome != Outcome.SUCCESS:
        return before
    return Upshot(outcome=outcome)


def read_found(detail: str, request_id: str) -> str | None:
    """Return what an operator's act says of the request, None where it says nothing of it.

    Raises: ValueError, AttributeError for a detail that no gate wrote so.
    """
    if '"resolves":' not in detail:
        return None
    act = json.loads(detail)
    return str(act.get("as")) if act.get("resolves") == request_id else None
