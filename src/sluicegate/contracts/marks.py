"""One read document: its JSON value, and where in the text each of its places stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sluicegate.contracts.problems import Problem
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue

Mark: TypeAlias = tuple[int, int]
"""Line and column, both from 1; the column counts characters."""


class MarksByPointer(Protocol):
    """Marks by pointer text, as a mapping has them."""

    def get(self, pointer: str, /) -> Mark | None:
        """Return the mark of exactly this place, or None."""
        ...


@dataclass(frozen=True, slots=True)
class Marks:
    """``values`` and ``keys`` tell by pointer text where a value, or its member name, begins."""

    values: MarksByPointer
    keys: MarksByPointer

    def of_value(self, pointer: str) -> Mark | None:
        """Return where the value at ``pointer`` begins, or that of the nearest place around it."""
        return _nearest(self.values, pointer)

    def of_key(self, pointer: str) -> Mark | None:
        """Return where the member name of ``pointer`` begins; for an item, the item itself."""
        found = self.keys.get(pointer)
        return _nearest(self.values, pointer) if found is None else found


def _nearest(marks: MarksByPointer, pointer: str) -> Mark | None:
    found = marks.get(pointer)
    while found is None and pointer:
        pointer = pointer[: pointer.rindex("/")]
        found = marks.get(pointer)
    return found


class Document:
    """A document as it was read. Marks are looked up only when something is to be said."""

    __slots__ = ("_find_marks", "_marks", "name", "value")

    def __init__(self, name: str, value: JsonValue, find_marks: Callable[[], Marks]) -> None:
        self.name = name
        self.value = value
        self._find_marks = find_marks
        self._marks: Marks | None = None

    @property
    def marks(self) -> Marks:
        """Line and column of each place, by pointer text."""
        if self._marks is None:
            self._marks = self._find_marks()
        return self._marks

    def problem(
        self,
        pointer: str,
        message: str,
        mend: str,
        *,
        code: Code = Code.CONTRACT_INVALID,
        at_key: bool = False,
        discreet: bool = False,
    ) -> Problem:
        """Return a Problem at ``pointer``, with its line and column."""
        mark = self.marks.of_key(pointer) if at_key else self.marks.of_value(pointer)
        line, column = mark if mark is not None else (None, None)
        return Problem(
            code=code,
            document=self.name,
            message=message,
            mend=mend,
            pointer=pointer,
            line=line,
            column=column,
            discreet=discreet,
        )
