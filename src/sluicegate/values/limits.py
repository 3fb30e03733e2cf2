"""Limits on one document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ENGINE_MAX_DEPTH: Final = 200
"""jiter's own limit on nesting; a contract cannot ask for more (facts: engines 1)."""

ENGINE_MAX_DIGITS: Final = 4_300
"""jiter reads no longer integer; none of that length is finite as binary64 (facts: engines 1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """``max_bytes`` of the received text; ``max_depth`` nested arrays and objects, root = 1."""

    max_bytes: int
    max_depth: int
