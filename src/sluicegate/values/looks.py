"""What a look at an installation found: the record of everything that ``doctor`` looks at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """``name`` of what was looked at, whether it is ``well``, and what it ``says``: a sentence."""

    name: str
    well: bool
    says: str
