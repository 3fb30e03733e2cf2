"""Names matched with patterns, each with each, and no more of it than a person would wait for."""

from __future__ import annotations

from typing import Final

from sluicegate.contracts.schemas.compiling import matches
from sluicegate.contracts.schemas.composition import CompositionTooLargeError

MAX_MATCHES: Final = 250_000
"""Matches that one look at a schema may take: 500 names and as many patterns at one place."""

FEWER_PATTERNS: Final = "Use fewer patterns of `patternProperties`, or declare fewer members."


class TooManyMatchesError(CompositionTooLargeError):
    """The names and patterns of a schema multiply beyond ``MAX_MATCHES``."""


class Matching:
    """Judges as the engine does, and counts. Raises, from every method: TooManyMatchesError."""

    __slots__ = ("_spent",)

    def __init__(self) -> None:
        self._spent = 0

    def spend(self, count: int) -> None:
        """Account for ``count`` matches before they are made."""
        self._spent += count
        if self._spent > MAX_MATCHES:
            raise TooManyMatchesError

    def matches(self, pattern: str, name: str) -> bool:
        """Whether ``pattern`` is found in ``name``."""
        self.spend(1)
        return matches(pattern, name)
