"""From a pointer to the place in the received bytes: offset, line, column, length.

The bytes are walked, not parsed: what a pointer names in a broken document is found as far as
the document goes. All pointers of one report share one pass; nothing here recurses, and nothing
raises for any bytes. Rendering only: a verdict never depends on it. Source: facts, prototype 5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sluicegate.values.names import show_name

# Possessive quantifiers: no input makes these two go back over what they have read.
_STRING: Final = re.compile(rb'"(?:[^"\\\x00-\x1f]++|\\.)*+"', re.DOTALL)
_TO_BRACKET: Final = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_SCALAR: Final = re.compile(rb"[^\s,\]}\[{:\"]++")
_BLANK: Final = re.compile(rb"[ \t\n\r]*+")
_MAX_LENGTH: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of the received bytes. ``offset`` counts from 0, ``line`` and ``column`` from 1.

    ``column`` and ``length`` count bytes, as a Finding does.
    """

    offset: int
    line: int
    column: int
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a pointer leads: its ``value``, and the member name ``key`` if it has one."""

    value: Span
    key: Span | None = None


@dataclass(slots=True)
class _Wanted:
    """A node of the tree of wanted pointers."""

    texts: list[str] = field(default_factory=list)
    children: dict[str, _Wanted] = field(default_factory=dict)


@dataclass(slots=True)
class _Open:
    """A container that is being walked: ``index`` is None in an object."""

    wanted: _Wanted
    start: int
    index: int | None
    key: tuple[int, int] | None


def locate(raw: bytes, pointer: str) -> Place | None:
    """Return where ``pointer`` leads in ``raw``, or None if nothing stands there."""
    return locate_all(raw, (pointer,)).get(pointer)


def locate_all(raw: bytes, pointers: Iterable[str]) -> dict[str, Place]:
    """Return the place of each pointer that leads somewhere, in one pass over ``raw``.

    Pointers of findings hold names as ``show_name`` cut and escaped them; a member is recognised
    by its real name first and by its shown name otherwise. A name that occurs twice is found at
    its first place. Wild pointers find nothing. Rejects: never; bad bytes end the walk.
    """
    root = _Wanted()
    for text in pointers:
        node = root
        for segment in text.split("/")[1:]:
            node = node.children.setdefault(segment, _Wanted())
        if text == "" or text.startswith("/"):
            node.texts.append(text)
    return _Walk(raw).run(root)


class _Walk:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._found: dict[str, Place] = {}

    def run(self, root: _Wanted) -> dict[str, Place]:
        start = 3 if self._raw.startswith(b"\xef\xbb\xbf") else 0
        opened = self._value(self._skip_blank(start), root, None)
        stack = [opened] if isinstance(opened, _Open) else []
        at = opened.start + 1 if isinstance(opened, _Open) else opened
        while stack:
            at = self._skip_blank(at)
            top = stack[-1]
            head = self._raw[at : at + 1]
            if head == b",":
                at += 1
                if top.index is not None:
                    top.index += 1
                continue
            if head in (b"]", b"}"):
                stack.pop()
                at += 1
                self._note(top.wanted, top.start, at, top.key)
                continue
            stepped = self._member(at, top) if top.index is None else self._item(at, top)
            if stepped is None:
                self._note_unfinished(stack)
                break
            if isinstance(stepped, _Open):
                stack.append(stepped)
                at = stepped.start + 1
            else:
                at = stepped
        return self._found

    def _item(self, at: int, top: _Open) -> int | _Open | None:
        return self._value(at, top.wanted.children.get(str(top.index)), None) or None

    def _member(self, at: int, top: _Open) -> int | _Open | None:
        matched = _STRING.match(self._raw, at)
        if matched is None:
            return None
        colon = self._skip_blank(matched.end())
        if self._raw[colon : colon + 1] != b":":
            return None
        wanted = _child(top.wanted, matched.group())
        key = (matched.start(), matched.end())
        return self._value(self._skip_blank(colon + 1), wanted, key) or None

    def _value(self, at: int, wanted: _Wanted | None, key: tuple[int, int] | None) -> int | _Open:
        """Step into a container that is wanted inside, else over the value; 0: nothing here."""
        head = self._raw[at : at + 1]
        if head in (b"[", b"{"):
            if wanted is not None and wanted.children:
                return _Open(wanted, at, 0 if head == b"[" else None, key)
            end = self._skip_container(at)
        elif head == b'"':
            matched = _STRING.match(self._raw, at)
            end = matched.end() if matched else 0
        else:
            matched = _SCALAR.match(self._raw, at)
            end = matched.end() if matched else 0
        if wanted is not None and end:
            self._note(wanted, at, end, key)
        return end

    def _skip_container(self, at: int) -> int:
        depth = 0
        size = len(self._raw)
        while at < size:
            at = _TO_BRACKET.match(self._raw, at).end()  # type: ignore[union-attr]  # may be empty
            head = self._raw[at : at + 1]
            if head in (b"[", b"{"):
                depth += 1
            elif head in (b"]", b"}"):
                depth -= 1
            else:
                return size
            at += 1
            if depth == 0:
                return at
        return size

    def _skip_blank(self, at: int) -> int:
        return _BLANK.match(self._raw, at).end()  # type: ignore[union-attr]  # may be empty

    def _note(self, wanted: _Wanted, start: int, end: int, key: tuple[int, int] | None) -> None:
        for text in wanted.texts:
            if text not in self._found:
                self._found[text] = Place(
                    value=span_at(self._raw, start, end - start),
                    key=None if key is None else span_at(self._raw, key[0], key[1] - key[0]),
                )

    def _note_unfinished(self, stack: list[_Open]) -> None:
        for opened in stack:
            self._note(opened.wanted, opened.start, len(self._raw), opened.key)


def _child(wanted: _Wanted, quoted: bytes) -> _Wanted | None:
    if not wanted.children:
        return None
    try:
        name = str(json.loads(quoted.decode("utf-8")))
    except ValueError:
        return None
    for candidate in (name, show_name(name)):
        child = wanted.children.get(candidate.replace("~", "~0").replace("/", "~1"))
        if child is not None:
            return child
    return None


def span_at(raw: bytes, offset: int, length: int) -> Span:
    """Return the span of ``length`` bytes at ``offset``, with its line and column.

    Lines end with LF; a column counts bytes from the line's first. An offset outside ``raw`` is
    moved to its nearest end.
    """
    offset = min(max(offset, 0), len(raw))
    return Span(
        offset=offset,
        line=raw.count(b"\n", 0, offset) + 1,
        column=offset - raw.rfind(b"\n", 0, offset),
        length=min(max(length, 0), _MAX_LENGTH, len(raw) - offset),
    )
