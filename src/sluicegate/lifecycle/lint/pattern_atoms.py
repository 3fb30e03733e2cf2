"""Which odd characters the wild parts of a pattern admit: asked of the engine, part by part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sluicegate.contracts.schemas.compiling import matches

ODD: Final = {
    "a line feed": "\n",
    "NUL": "\0",
    "a direction mark (U+202E)": "\u202e",
    "a zero-width blank (U+200B)": "\u200b",
    "a wide blank (U+00A0)": "\u00a0",
    "a Cyrillic letter that looks Latin": "\u0430",
}
"""Characters that nobody means to admit, by the words for them."""

_CLASS: Final = re.compile(r"\[(?:\\.|[^\]\\])*\]", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\(?:[pP](?:\{[^{}]*\}|[A-Za-z])|[xu]\{[^{}]*\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)", re.DOTALL
)
_CATEGORIES: Final = frozenset("dDsSwWpP")
_LAST_CONTROL: Final = 0x1F
_LAST_ASCII: Final = 0x7F


def odd_characters(pattern: str) -> list[str]:
    """Return the words of ``ODD`` for characters that some wild part of the pattern admits.

    Wild are ``.``, negated classes, categories, properties, and ranges that run out of the control
    characters or out of ASCII; what the author wrote out was meant. Classes are those of
    ECMAScript, as the engine reads them: none stands within another.
    """
    wild = list(dict.fromkeys(_wild(pattern)))
    return [
        words
        for words, character in ODD.items()
        if any(matches(f"^{atom}$", character) for atom in wild)
    ]


def _wild(pattern: str) -> Iterator[str]:
    at = 0
    while at < len(pattern):
        mark = pattern[at]
        found = _CLASS.match(pattern, at) if mark == "[" else None
        if mark == "\\":
            found = _ESCAPE.match(pattern, at)
        if found is None:
            if mark == ".":
                yield mark
            at += 1
            continue
        at = found.end()
        if mark == "[":
            yield from _wild_in_class(found[0])
        elif found[0][1:2] in _CATEGORIES:
            yield found[0]


def _wild_in_class(written: str) -> Iterator[str]:
    if written.startswith("[^"):
        yield written
        return
    inside = list(_members(written[1:-1]))
    for index, member in enumerate(inside):
        if member[:1] == "\\" and member[1:2] in _CATEGORIES:
            yield member
        elif member == "-" and 0 < index < len(inside) - 1:
            first, last = inside[index - 1], inside[index + 1]
            if _runs_out(first, last):
                yield f"[{first}-{last}]"


def _members(inside: str) -> Iterator[str]:
    at = 0
    while at < len(inside):
        found = _ESCAPE.match(inside, at)
        member = inside[at] if found is None else found[0]
        yield member
        at += len(member)


def _runs_out(first: str, last: str) -> bool:
    """Whether a range joins characters of two kinds, so that nobody has looked at all of them."""
    low, high = (_code_point(each) for each in (first, last))
    if low is None or high is None:
        return True
    return low <= _LAST_CONTROL < high or low <= _LAST_ASCII < high


def _code_point(member: str) -> int | None:
    if len(member) == 1:
        return ord(member)
    digits = re.fullmatch(r"\\[xu]\{?([0-9A-Fa-f]+)\}?", member)
    if digits is not None:
        return int(digits[1], 16)
    plain = {"n": 10, "r": 13, "t": 9, "v": 11, "f": 12, "0": 0}
    return plain.get(member[1:], ord(member[1]) if len(member) == 2 else None)
