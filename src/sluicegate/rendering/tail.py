"""Events one after the other, as they come: a line each, for a person who watches."""

from __future__ import annotations

from typing import Final

from sluicegate.gates.events import EventKind, Outcome, StoredEvent
from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.tables import tell_event

_KIND_WIDTH: Final = max(len(kind) for kind in EventKind)
_TOOL_WIDTH: Final = 20
_CALLER_WIDTH: Final = 16


def render_tail(event: StoredEvent, *, paint: Paint = PLAIN) -> str:
    """Return one line: time, kind, tool, caller, what happened, request id.

    Everything that others chose is escaped, and painted afterwards.
    """
    tool = escape_terminal(event.tool).ljust(_TOOL_WIDTH)
    caller = escape_terminal(event.caller_subject or "").ljust(_CALLER_WIDTH)
    kind = escape_terminal(event.kind).ljust(_KIND_WIDTH)
    told = _paint(event.outcome, escape_terminal(tell_event(event)), paint)
    time = paint.dim(escape_terminal(event.time[:19].replace("T", " ")))
    request_id = paint.dim(escape_terminal(event.request_id))
    return f"{time}  {kind}  {tool}  {caller}  {told}  {request_id}\n"


def _paint(outcome: str, told: str, paint: Paint) -> str:
    if outcome in (Outcome.SUCCESS, Outcome.DONE):
        return paint.good(told)
    if outcome in (Outcome.FAILURE, Outcome.REFUSED):
        return paint.bad(told)
    return paint.warn(told)
