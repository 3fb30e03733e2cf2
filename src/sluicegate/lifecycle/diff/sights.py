"""What a reader sees of a value: a tree of selected places, and what must be seen beside them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from sluicegate.contracts.contract import ResultPart

Way: TypeAlias = "tuple[str, ...]"
"""The segments that lead to a place of a value; ``*`` for the items of an array."""


@dataclass(slots=True)
class Sight:
    """What is seen at one place: the ``whole`` of it, or what stands ``below`` it.

    ``present`` are members of which only their presence is seen.
    """

    whole: bool = False
    below: dict[str, Sight] = field(default_factory=dict)
    present: set[str] = field(default_factory=set)

    def add(self, way: Iterable[str]) -> Sight:
        """Show the place that ``way`` leads to; return ``self``."""
        self.reach(way).whole = True
        return self

    def reach(self, way: Iterable[str]) -> Sight:
        """Return what is seen at the place that ``way`` leads to, made where it was nothing."""
        at = self
        for segment in way:
            at = at.below.setdefault(segment, Sight())
        return at

    def join(self, other: Sight) -> None:
        """Show what ``other`` shows as well."""
        self.whole = self.whole or other.whole
        self.present |= other.present
        for segment, inner in other.below.items():
            self.below.setdefault(segment, Sight()).join(inner)

    def copy(self) -> Sight:
        """Return a tree of its own that shows the same."""
        copied = Sight()
        copied.join(self)
        return copied

    def step(self, segment: str) -> Sight | None:
        """Return what is seen one step below; None: nothing, presence apart."""
        return self if self.whole else self.below.get(segment)

    def shows(self, name: str) -> bool:
        """Whether it is seen that a member is there."""
        return self.whole or name in self.below or name in self.present

    def facts(self) -> object:
        """Return what two trees are equal by."""
        if self.whole:
            return True
        below = {segment: inner.facts() for segment, inner in self.below.items()}
        return below, self.present - self.below.keys()


WHOLE = Sight(whole=True)


def sight_of(part: ResultPart) -> Sight:
    """Return what reaches the agent: the selected fields, and the texts that it may not trust."""
    sight = Sight()
    for pointer in (*part.agent, *part.untrusted_text.values()):
        sight.add(pointer.segments)
    return sight
