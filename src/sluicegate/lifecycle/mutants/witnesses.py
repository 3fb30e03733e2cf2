"""Values that tell two schemas apart: candidates on both sides of every border of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from sluicegate.lifecycle.mutants.examples import Maker, build_examples
from sluicegate.lifecycle.mutants.mutant import replace_at
from sluicegate.lifecycle.mutants.patterns import make_edge_texts
from sluicegate.lifecycle.mutants.places import Spot, walk_spots
from sluicegate.lifecycle.mutants.structure import MAX_SPOTS, list_changes
from sluicegate.lifecycle.mutants.views import Viewer
from sluicegate.values.json import JsonObject, JsonValue, canonical_text
from sluicegate.values.pointers import NOTHING

_MADE: Final = 24
_EACH: Final = 16
_EDGED: Final = 3


def build_witnesses(schema: JsonObject, examples: Sequence[JsonValue]) -> Iterator[JsonValue]:
    """Yield candidate values around ``schema``, valid or not, each once, the same each time.

    First ``examples`` and values made from the schema alone; then, for each of them, every other
    value that a place admits (listed ones, edges, branches, optional members gone or there), and
    every change that the schema should refuse. Source: SPEC LIF-3.
    """
    viewer = Viewer(schema)
    maker = Maker(viewer)
    seen: set[str] = set()
    bases: list[JsonValue] = []
    for base in (*examples, *islice(maker.values([schema]), _MADE)):
        key = canonical_text(base)
        if key not in seen:
            seen.add(key)
            bases.append(base)
            yield base
    for candidates in (_alternatives, _changed):
        for base in bases:
            for value in candidates(base, viewer, maker):
                key = canonical_text(value)
                if key not in seen:
                    seen.add(key)
                    yield value


def build_edges(schema: JsonObject) -> Iterator[JsonValue]:
    """Yield admitted values with a text at a bound of a repetition of its pattern, one at a time.

    The texts must be validated.
    """
    viewer = Viewer(schema)
    for base in build_examples(schema, count=_EDGED):
        for spot in islice(walk_spots(base, viewer, [viewer.document]), MAX_SPOTS):
            if isinstance(spot.value, str):
                for pattern in spot.view.texts("pattern"):
                    for text in make_edge_texts(pattern):
                        yield replace_at(base, spot.segments, text)


def _changed(base: JsonValue, viewer: Viewer, _: Maker) -> Iterator[JsonValue]:
    for change in list_changes(base, viewer):
        yield replace_at(base, change.segments, change.value)


def _alternatives(base: JsonValue, viewer: Viewer, maker: Maker) -> Iterator[JsonValue]:
    for spot in islice(walk_spots(base, viewer, [viewer.document]), MAX_SPOTS):
        for value in islice(maker.values(spot.schemas), _EACH):
            yield replace_at(base, spot.segments, value)
        for value in _edges(spot):
            yield replace_at(base, spot.segments, value)
        if isinstance(spot.value, Mapping):
            for name in spot.value:
                yield replace_at(base, (*spot.segments, name), NOTHING)
            for name in spot.view.declared:
                if name not in spot.value:
                    for value in maker.distinct(spot.view.member(name), 1):
                        yield replace_at(base, (*spot.segments, name), value)


def _edges(spot: Spot) -> Iterator[JsonValue]:
    """Values at the bounds themselves."""
    value, view = spot.value, spot.view
    if isinstance(value, str):
        most, least = view.most("maxLength"), view.least("minLength")
        fill = value[-1:] or "x"
        if most is not None and most <= 10_000:
            yield value[:most].ljust(most, fill)
            if most > 0:
                yield value[: most - 1].ljust(most - 1, fill)
        yield value[:least].ljust(least, fill)
        yield f"{value}{fill}"
    elif isinstance(value, list | tuple) and value:
        yield list(value[:-1])
        yield [*value, value[-1]]
    elif isinstance(value, int | float) and not isinstance(value, bool):
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            yield from view.numbers(keyword)
        yield value + 1
        yield value - 1
