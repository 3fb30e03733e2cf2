"""JSON Pointer (RFC 6901), with one addition: a segment ``*`` means every item of an array."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

EVERY: Final = "*"
"""The wildcard segment. An object member named ``*`` cannot be addressed; that is the price."""


class Nothing:
    """The answer of a pointer that finds nothing; never confused with JSON null."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()


def escape_segment(name: str) -> str:
    """Return one decoded segment in pointer text: ``~`` as ``~0``, ``/`` as ``~1``."""
    return name.replace("~", "~0").replace("/", "~1")


def join_segments(segments: Sequence[str | int]) -> str:
    """Return the pointer text of decoded segments; the empty sequence is the whole document."""
    return "".join("/" + escape_segment(str(segment)) for segment in segments)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A parsed pointer; ``text`` is its canonical form, ``segments`` are decoded."""

    segments: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Pointer:
        """Parse pointer text.

        Raises: ValueError naming the fault: no leading ``/``, or ``~`` not followed by 0 or 1.
        Source: RFC 6901 sections 3 and 4.
        """
        if text == "":
            return cls(())
        if not text.startswith("/"):
            raise ValueError(
                f"a JSON Pointer begins with '/' or is empty; write '/{text}' for that member"
            )
        segments = []
        for segment in text[1:].split("/"):
            if "~" in segment.replace("~0", "").replace("~1", ""):
                raise ValueError("in a JSON Pointer '~' is written '~0' and '/' inside a name '~1'")
            segments.append(segment.replace("~1", "/").replace("~0", "~"))
        return cls(tuple(segments))

    @property
    def text(self) -> str:
        """The pointer as RFC 6901 text."""
        return join_segments(self.segments)

    @property
    def is_wild(self) -> bool:
        """Whether a segment is the wildcard."""
        return EVERY in self.segments

    def child(self, segment: str) -> Pointer:
        """Return the pointer one segment deeper."""
        return Pointer((*self.segments, segment))

    def covers(self, other: Pointer) -> bool:
        """Whether ``other`` is this place or lies below it."""
        return other.segments[: len(self.segments)] == self.segments

    def find(self, document: object) -> object:
        """Return the value here, or NOTHING. Raises: ValueError if the pointer is wild."""
        if self.is_wild:
            raise ValueError(f"pointer {self.text} has a wildcard: use every()")
        for segment in self.segments:
            document = step(document, segment)
            if document is NOTHING:
                return NOTHING
        return document

    def every(self, document: object) -> Iterator[tuple[str, object]]:
        """Yield (concrete pointer text, value or NOTHING) for every place the pointer names.

        An empty array under a wildcard yields no place; a wildcard over anything but an array
        yields one place with NOTHING.
        """
        yield from _every(document, self.segments, ())

    def __str__(self) -> str:
        return self.text


def step(document: object, segment: str) -> object:
    """Return the member or item ``segment`` of ``document``, or NOTHING."""
    if isinstance(document, Mapping):
        return document.get(segment, NOTHING)
    if isinstance(document, list | tuple):
        if not (segment.isascii() and segment.isdigit()) or (segment[0] == "0" and segment != "0"):
            return NOTHING
        if len(segment) > 9:
            return NOTHING
        index = int(segment)
        return document[index] if index < len(document) else NOTHING
    return NOTHING


def _every(
    document: object, segments: tuple[str, ...], at: tuple[str, ...]
) -> Iterator[tuple[str, object]]:
    for position, segment in enumerate(segments):
        if segment == EVERY:
            if not isinstance(document, list | tuple):
                yield join_segments((*at, *segments[position:])), NOTHING
                return
            for index, item in enumerate(document):
                yield from _every(item, segments[position + 1 :], (*at, str(index)))
            return
        document = step(document, segment)
        at = (*at, segment)
        if document is NOTHING:
            yield join_segments((*at, *segments[position + 1 :])), NOTHING
            return
    yield join_segments(at), document
