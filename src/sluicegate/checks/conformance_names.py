"""Names that somebody probably meant: ``ticketId`` for ``ticket_id`` (SPEC ARG-3, MISNAMED)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_MAX_COMPARED: Final = 64
_MAX_CANDIDATES: Final = 256
_SEPARATORS: Final = str.maketrans("", "", "_-. ")


def find_near(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate nearest to ``name``, or None where none is near.

    Near is: equal but for case and separators; else one slip of the keyboard for names of four to
    seven characters and at most two for longer ones. Earlier candidates win.
    """
    if len(name) > _MAX_COMPARED:
        return None
    folded = _fold(name)
    allowed = 0 if len(folded) < 4 else 1 if len(folded) < 8 else 2
    best: str | None = None
    best_distance = allowed + 1
    for _, candidate in zip(range(_MAX_CANDIDATES), candidates, strict=False):
        other = _fold(candidate)
        if other == folded:
            return candidate
        if abs(len(other) - len(folded)) < best_distance and len(other) > 3:
            distance = _distance(folded, other, best_distance)
            if distance < best_distance:
                best, best_distance = candidate, distance
    return best


def _fold(name: str) -> str:
    return name.translate(_SEPARATORS).lower()


def _distance(left: str, right: str, limit: int) -> int:
    """Optimal string alignment distance, or ``limit`` where it is not below that."""
    start = 0
    end_left, end_right = len(left), len(right)
    while start < min(end_left, end_right) and left[start] == right[start]:
        start += 1
    while end_left > start and end_right > start and left[end_left - 1] == right[end_right - 1]:
        end_left -= 1
        end_right -= 1
    left, right = left[start:end_left], right[start:end_right]
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, mine in enumerate(left, 1):
        current = [row]
        for column, theirs in enumerate(right, 1):
            cost = min(
                previous[column] + 1,
                current[column - 1] + 1,
                previous[column - 1] + (mine != theirs),
            )
            if row > 1 and column > 1 and mine == right[column - 2] and left[row - 2] == theirs:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) >= limit:
            return limit
        before, previous = previous, current
    return min(previous[-1], limit)
