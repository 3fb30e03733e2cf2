"""Places of several examples that differ in nothing a schema sees: mutants of a few say enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from sluicegate.lifecycle.mutants.places import Spot
from sluicegate.values.json import json_type
from sluicegate.values.pointers import EVERY

ENOUGH: Final = 3
"""Examples that mutants are made of at one place, as of one array's items."""


class Alike:
    """Counts the examples of one schema that had a place, in their order.

    Alike are places with the same pointer (items aside), held to the same subschemas, of the same
    type, and of objects with the same members.
    """

    __slots__ = ("_counts", "_here", "left_out")

    def __init__(self) -> None:
        self._counts: Counter[object] = Counter()
        self._here: set[object] = set()
        self.left_out = 0

    def begin(self) -> None:
        """Turn to the next example: within one, every place counts once."""
        self._counts.update(self._here)
        self._here = set()

    def is_known(self, spot: Spot) -> bool:
        """Whether enough earlier examples had such a place."""
        key = _key(spot)
        if self._counts[key] >= ENOUGH:
            self.left_out += 1
            return True
        self._here.add(key)
        return False


def _key(spot: Spot) -> object:
    inside: object = None
    if isinstance(spot.value, Mapping):
        inside = frozenset(spot.value)
    elif isinstance(spot.value, list | tuple):
        inside = bool(spot.value)
    return (
        tuple(EVERY if isinstance(each, int) else each for each in spot.segments),
        frozenset(map(id, spot.view.parts)),
        json_type(spot.value),
        inside,
    )
