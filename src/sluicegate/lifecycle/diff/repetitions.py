"""Patterns that differ in how often something is repeated, and in nothing else.

Whether one pattern admits all that another does is not decided in general. But a pattern has no
negation beyond its character classes, so where every repetition of one lies within that of the
other, and all the rest is the same text, it admits no more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from sluicegate.contracts.schemas.keywords import Schema, rebuild_member, walk
from sluicegate.values.json import JsonObject

_REPETITION: Final = re.compile(r"\{(\d+)(,(\d*))?\}|[*+?]")
_BRACED: Final = re.compile(r"\\[pPxuU]\{[^{}]*\}")
_MAX_DIGITS: Final = 9
_MAX_PATTERNS: Final = 300
_SIGNS: Final = {"*": (0, math.inf), "+": (1, math.inf), "?": (0, 1)}

Range = tuple[float, float]


def is_within(inner: str, outer: str) -> bool:
    """Whether ``outer`` is known to match every text that ``inner`` matches."""
    one, other = _take_apart(inner), _take_apart(outer)
    if one is None or other is None or one[0] != other[0]:
        return False
    return all(
        most[0] <= least[0] and least[1] <= most[1]
        for least, most in zip(one[1], other[1], strict=True)
    )


def say_wider(schema: JsonObject, other: JsonObject) -> JsonObject:
    """Return ``schema`` with each pattern that lies within one of ``other`` naming that one too.

    It admits what it did. Where two schemas name the same patterns, they can be compared.
    """
    theirs = sorted(_patterns(other))
    wider = {
        mine: [each for each in theirs if each != mine and is_within(mine, each)]
        for mine in sorted(_patterns(schema))
        if len(theirs) <= _MAX_PATTERNS
    }
    if not any(wider.values()):
        return schema
    said = _say(schema, wider)
    return said if isinstance(said, Mapping) else schema


def _patterns(schema: JsonObject) -> set[str]:
    return {
        told
        for _, inner in walk(schema)
        if isinstance(inner, Mapping) and isinstance(told := inner.get("pattern"), str)
    }


def _say(schema: Schema, wider: Mapping[str, Sequence[str]]) -> Schema:
    if isinstance(schema, bool):
        return schema
    said = {
        keyword: rebuild_member(keyword, member, lambda inner: _say(inner, wider))
        for keyword, member in schema.items()
    }
    told = schema.get("pattern")
    more = wider.get(told, ()) if isinstance(told, str) else ()
    if not more:
        return said
    held = said.get("allOf")
    beside = list(held) if isinstance(held, list | tuple) else []
    return {**said, "allOf": [*beside, *({"pattern": each} for each in more)]}


@lru_cache(maxsize=1024)
def _take_apart(pattern: str) -> tuple[tuple[str, ...], tuple[Range, ...]] | None:
    """Return the texts between the repetitions, and these; None for what is not read here.

    That is a group that changes what others mean: a flag such as ``x``, or one that looks around.
    """
    texts: list[str] = [""]
    ranges: list[Range] = []
    after_repetition = False
    try:
        for piece, found in _pieces(pattern):
            if found is None or (after_repetition and piece == "?"):
                texts[-1] += piece
                after_repetition = False
            else:
                texts.append("")
                ranges.append(found)
                after_repetition = True
    except ValueError:
        return None
    return tuple(texts), tuple(ranges)


def _pieces(pattern: str) -> Iterator[tuple[str, Range | None]]:
    """Yield each piece of it, with its range if it is a repetition. Raises: ValueError."""
    at = 0
    while at < len(pattern):
        piece, found = pattern[at], None
        if piece == "\\":
            braced = _BRACED.match(pattern, at)
            piece = braced[0] if braced else pattern[at : at + 2]
        elif piece == "[":
            piece = _class(pattern, at)
        elif pattern.startswith("(?", at) and not pattern.startswith("(?:", at):
            raise ValueError
        elif pattern.startswith("(?:", at):
            piece = "(?:"
        else:
            repetition = _REPETITION.match(pattern, at)
            if repetition is not None:
                piece, found = repetition[0], _range(repetition)
            elif piece in "{}":
                raise ValueError
        yield piece, found
        at += len(piece)


def _range(found: re.Match[str]) -> Range:
    if found[0] in _SIGNS:
        return _SIGNS[found[0]]
    if len(found[1]) > _MAX_DIGITS or len(found[3] or "") > _MAX_DIGITS:
        raise ValueError
    least = int(found[1])
    if found[2] is None:
        return least, least
    return least, int(found[3]) if found[3] else math.inf


def _class(pattern: str, start: int) -> str:
    """Return a character class, those inside it included. Raises: ValueError where it is odd."""
    depth, at = 0, start
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[":
            depth += 1
            at += pattern[at + 1 : at + 2] == "^"
            # The first of a class is literal, even where it would end it.
            at += pattern[at + 1 : at + 2] == "]"
        elif pattern[at] == "]":
            depth -= 1
            if depth == 0:
                return pattern[start : at + 1]
        at += 1
    raise ValueError
