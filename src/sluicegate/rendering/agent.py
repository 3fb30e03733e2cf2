"""For the model: the envelope as bytes, and nothing beside it (SPEC section 4)."""

from __future__ import annotations

import json

from sluicegate.gates.envelopes import Envelope, shape_envelope


def render_agent(envelope: Envelope) -> bytes:
    """Return the envelope as UTF-8 JSON text without blanks.

    Shape: one of the three closed shapes of SPEC 4, as ``shape_envelope`` builds it anew.
    Raises: ValueError for NaN, infinities and lone surrogates, which no accepted answer holds:
    the gate closes that as INTERNAL.
    """
    text = json.dumps(
        shape_envelope(envelope), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode("utf-8")
