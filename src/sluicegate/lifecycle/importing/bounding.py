"""Bounds for what a schema leaves unbounded: the declared defaults of an import (LIF-6).

A bound is added where the type of a value is named and nothing bounds it yet. A pattern stays as it
is: what it means is the author's, and how long it lets a text be is bounded beside it. Below
``not`` and ``if``, and in definitions used there, nothing is added: a bound would admit more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sluicegate.contracts.schemas.keywords import Schema, rebuild_member
from sluicegate.lifecycle.importing.reversals import (
    REVERSED,
    is_reversed,
    list_untouchable,
    part_reversed,
)
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import join_segments

MAX_SHORT_TEXT: Final = 256
MAX_LONG_TEXT: Final = 4_096
MAX_LONGEST_TEXT: Final = 65_536
MAX_ITEMS: Final = 100
MAX_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader holds exactly (RFC 7493)."""

_FORMATS: Final[Mapping[str, int]] = {
    "date": 10,
    "date-time": 40,
    "time": 30,
    "uuid": 36,
    "ipv4": 15,
    "ipv6": 45,
    "email": 320,
    "hostname": 253,
    "uri": 2_048,
    "uri-reference": 2_048,
    "uri-template": 2_048,
}
_LAST_WORD: Final = re.compile(r"(?:[A-Z]?[a-z]+|[A-Z]+)$")
_LONG_NAMES: Final = frozenset(
    {
        *("body", "comment", "content", "description", "details", "html", "log", "manifest"),
        *("markdown", "message", "note", "notes", "notice", "output", "prose", "readme", "reason"),
        *("script", "summary", "text"),
    }
)
_ADDRESS_NAMES: Final = frozenset({"href", "link", "uri", "url"})
_BOUNDS_TEXT: Final = frozenset({"maxLength", "enum", "const"})
_KEPT: Final = REVERSED | {"propertyNames"}


@dataclass(slots=True)
class Bounded:
    """What was added where: pointers into the schema, by the kind of the bound."""

    texts: list[str] = field(default_factory=list)
    arrays: list[str] = field(default_factory=list)
    integers: list[str] = field(default_factory=list)


def bound(schema: JsonObject) -> tuple[dict[str, JsonValue], Bounded]:
    """Return ``schema`` with a bound on every text, array and integer, and what was added."""
    added = Bounded()
    parted = part_reversed(schema)
    return dict(_Bounding(added, list_untouchable(parted)).members(parted, (), "")), added


class _Bounding:
    __slots__ = ("_added", "_untouchable")

    def __init__(self, added: Bounded, untouchable: frozenset[str]) -> None:
        self._added = added
        self._untouchable = untouchable

    def members(self, schema: JsonObject, at: tuple[str, ...], name: str) -> dict[str, JsonValue]:
        built: dict[str, JsonValue] = {}
        for keyword, member in schema.items():
            if keyword in ("properties", "patternProperties", "$defs") and isinstance(
                member, Mapping
            ):
                built[keyword] = {
                    each: self._below(inner, (*at, keyword, each), each)
                    for each, inner in member.items()
                }
            elif keyword in _KEPT:
                built[keyword] = member
            else:
                built[keyword] = rebuild_member(
                    keyword,
                    member,
                    lambda inner, k=keyword: self._below(inner, (*at, k), name),  # type: ignore[misc]
                )
        self._bound(built, join_segments(at), name)
        return built

    def _below(self, inner: JsonValue, at: tuple[str, ...], name: str) -> Schema:
        if isinstance(inner, Mapping) and is_reversed(at, self._untouchable):
            return inner
        if isinstance(inner, Mapping):
            return self.members(inner, at, name)
        return bool(inner)

    def _bound(self, schema: dict[str, JsonValue], at: str, name: str) -> None:
        types = schema.get("type")
        admitted = {types} if isinstance(types, str) else set(types or ())  # type: ignore[arg-type]
        if "string" in admitted and not schema.keys() & _BOUNDS_TEXT:
            schema["maxLength"] = _longest(schema, name)
            self._added.texts.append(at)
        if "array" in admitted and not schema.keys() & {"maxItems", "enum", "const"}:
            schema["maxItems"] = MAX_ITEMS
            self._added.arrays.append(at)
        if "integer" in admitted and not schema.keys() & {"enum", "const"}:
            self._bound_integer(schema, at)

    def _bound_integer(self, schema: dict[str, JsonValue], at: str) -> None:
        low = schema.keys() & {"minimum", "exclusiveMinimum"}
        high = schema.keys() & {"maximum", "exclusiveMaximum"}
        if not low:
            schema["minimum"] = -MAX_INTEGER
        if not high:
            schema["maximum"] = MAX_INTEGER
        if not (low and high):
            self._added.integers.append(at)


def _longest(schema: JsonObject, name: str) -> int:
    """Return the bound of a text: by its format, else by the last word of its name.

    A schema that itself asks for a long text gets the longest bound.
    """
    named = schema.get("format")
    last = _LAST_WORD.search(name)
    word = last[0].lower() if last is not None else ""
    if isinstance(named, str) and named in _FORMATS:
        most = _FORMATS[named]
    elif word in _ADDRESS_NAMES:
        most = _FORMATS["uri"]
    else:
        most = MAX_LONG_TEXT if word in _LONG_NAMES else MAX_SHORT_TEXT
    least = schema.get("minLength")
    if isinstance(least, int) and least > most:
        return max(least, MAX_LONGEST_TEXT)
    return most
