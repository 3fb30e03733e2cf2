"""A JSON text that bears members twice, read as most readers do, with the places where it does."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sluicegate.contracts.marks import Mark
from sluicegate.rendering.spans import locate
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import join_segments


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """``value`` keeps the last of each; ``pointers`` lead to those that there are several of."""

    value: JsonValue
    pointers: tuple[str, ...]
    find: Callable[[str], Mark | None]


class _Object(dict[str, JsonValue]):
    """An object that knows which of its members the text bears twice."""

    repeated: tuple[str, ...] = ()


def find_repeated(raw: bytes) -> Repeated | None:
    """Return the value and its repeated members; None where the text is no JSON in other ways."""
    try:
        value = json.loads(raw, object_pairs_hook=_note)
    except (ValueError, RecursionError):
        return None
    pointers = tuple(_walk(value, ()))
    return Repeated(value=value, pointers=pointers, find=lambda pointer: _find(raw, pointer))


def _note(pairs: list[tuple[str, JsonValue]]) -> _Object:
    made = _Object(pairs)
    if len(made) < len(pairs):
        counted = Counter(name for name, _ in pairs)
        made.repeated = tuple(name for name, count in counted.items() if count > 1)
    return made


def _walk(value: JsonValue, at: tuple[str, ...]) -> Iterator[str]:
    if isinstance(value, _Object):
        yield from (join_segments((*at, name)) for name in value.repeated)
        for name, inner in value.items():
            yield from _walk(inner, (*at, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _walk(inner, (*at, str(index)))


def _find(raw: bytes, pointer: str) -> Mark | None:
    while True:
        place = locate(raw, pointer)
        if place is not None:
            span = place.key or place.value
            return span.line, span.column
        if not pointer:
            return None
        pointer = pointer.rpartition("/")[0]
