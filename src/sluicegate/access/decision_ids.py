"""The ids of decisions that are taken here, and of questions that are put to a service."""

from __future__ import annotations

from uuid import uuid4


def new_decision_id() -> str:
    """Return a fresh id for one decision."""
    return str(uuid4())
