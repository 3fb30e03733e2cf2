"""One thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One thing that was looked at: whether it is well, and one sentence for the operator."""

    name: str
    well: bool
    says: str
