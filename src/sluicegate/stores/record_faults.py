"""What a check of the record tells: the event at fault, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import NamedTuple


class Fault(NamedTuple):
    """One disagreement of a table with the events."""

    seq: int
    problem: str


def first_of(faults: Iterable[Fault]) -> Fault | None:
    """Return the fault of the first event; of several at one event the one that was told first."""
    return min(faults, key=attrgetter("seq"), default=None)
