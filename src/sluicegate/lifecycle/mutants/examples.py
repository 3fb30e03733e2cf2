"""Values that a schema admits, made from its words alone and validated by the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.contracts.schemas.keywords import Schema, schema_at, schema_map
from sluicegate.lifecycle.mutants.texts import admitted_texts
from sluicegate.lifecycle.mutants.views import View, Viewer
from sluicegate.values.json import JsonObject, JsonValue, canonical_text
from sluicegate.values.pointers import NOTHING, Nothing

_DEEPEST: Final = 12
_OPTIONAL_DEPTH: Final = 6
_SPREAD_DEPTH: Final = 3
"""Levels below which two values are made to differ: a schema may recur without end."""
_CANDIDATES: Final = 64
_ITEMS: Final = 1_000


def build_example(schema: JsonObject) -> JsonValue | Nothing:
    """Return one value that ``schema`` admits, NOTHING where none was found.

    ``schema`` is an effective document: bundled, references local. The fullest candidate wins.
    The value is validated by the engine, so NOTHING never means that none exists.
    """
    return next(build_examples(schema, count=1), NOTHING)


def build_examples(schema: JsonObject, *, count: int) -> Iterator[JsonValue]:
    """Yield up to ``count`` different values that ``schema`` admits."""
    is_valid = compile_validator(schema).is_valid
    maker = Maker(Viewer(schema))
    yield from islice(
        (each for each in islice(maker.values([schema]), _CANDIDATES) if is_valid(each)), count
    )


class Maker:
    """Makes candidates for the subschemas of one document; the caller validates them."""

    __slots__ = ("viewer",)

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer

    def values(self, schemas: Sequence[Schema], depth: int = 0) -> Iterator[JsonValue]:
        """Yield different candidates for a value that all of ``schemas`` apply to."""
        seen: set[str] = set()
        for view in self.viewer.ways(schemas):
            for value in self.by_view(view, depth):
                key = canonical_text(value)
                if key not in seen:
                    seen.add(key)
                    yield value

    def distinct(self, schemas: Sequence[Schema], count: int, depth: int = 0) -> list[JsonValue]:
        """Return up to ``count`` different values, each valid by all of ``schemas``."""
        found: list[JsonValue] = []
        for value in islice(self._spread(schemas, count, depth), count * 4):
            if all(self.viewer.admits(schema, value) for schema in schemas):
                found.append(value)
            if len(found) == count:
                break
        return found

    def _spread(self, schemas: Sequence[Schema], count: int, depth: int) -> Iterator[JsonValue]:
        seen: set[str] = set()
        for view in self.viewer.ways(schemas):
            for value in self._many(view, count, depth):
                key = canonical_text(value)
                if key not in seen:
                    seen.add(key)
                    yield value

    def _many(self, view: View, count: int, depth: int) -> Iterator[JsonValue]:
        """Candidates that differ as often as the view allows, in what stands a few levels down."""
        if view.is_listed:
            yield from view.values
            return
        types = view.types or ("string",)
        if "string" in types:
            yield from admitted_texts(view, count)
        if "integer" in types or "number" in types:
            low, high = _range(view)
            step = _step(view, "integer" in types and "number" not in types)
            first = math.ceil(low / step) if low is not None else 0
            for turn in range(count):
                number = (first + turn) * step
                if high is not None and number > high:
                    break
                yield int(number) if float(number).is_integer() else number
        if depth > _SPREAD_DEPTH:
            return
        if "array" in types and view.item(0):
            for item in self.distinct(view.item(0), count, depth + 1):
                yield [item]
        if "object" in types:
            base = next(self._objects(view, depth), None)
            if base is None:
                return
            yield base
            for name in base:
                for value in self.distinct(view.member(name), count, depth + 1):
                    yield {**base, name: value}

    def by_view(self, view: View, depth: int) -> Iterator[JsonValue]:
        """Yield candidates for one way through the branches."""
        if view.is_listed:
            yield from view.values
            return
        for values in view.all("examples"):
            if isinstance(values, list | tuple):
                yield from values
        makers: dict[str, Callable[[View, int], Iterator[JsonValue]]] = {
            "object": self._objects,
            "array": self._arrays,
            "string": lambda each, _: admitted_texts(each, 4),
            "integer": lambda each, _: _numbers(each, whole=True),
            "number": lambda each, _: _numbers(each, whole=False),
            "boolean": lambda _, __: iter((False, True)),
            "null": lambda _, __: iter((None,)),
        }
        for kind in view.types or _guess_types(view):
            if depth <= _DEEPEST or kind not in ("object", "array"):
                yield from makers[kind](view, depth)

    def _objects(self, view: View, depth: int) -> Iterator[dict[str, JsonValue]]:
        required = view.required
        names = list(dict.fromkeys([*required, *view.declared]))
        full = self._object(view, names, required, depth) if depth < _OPTIONAL_DEPTH else None
        if full is not None:
            yield full
        least = self._object(view, required, required, depth)
        if least is not None:
            yield least
        if full is not None and least is not None:
            for name in names:
                if name not in required and name in full:
                    yield {**least, name: full[name]}
            for name, value in full.items():
                for other in islice(self.values(view.member(name), depth + 1), 4):
                    if other != value:
                        yield {**full, name: other}

    def _object(
        self, view: View, names: Sequence[str], required: Sequence[str], depth: int
    ) -> dict[str, JsonValue] | None:
        made: dict[str, JsonValue] = {}
        for name in names:
            value = next(self._valid(view.member(name), depth + 1), NOTHING)
            if not isinstance(value, Nothing):
                made[name] = value
            elif name in required:
                return None
        lacking = view.least("minProperties") - len(made)
        if lacking > 0:
            for name in self.names(view, lacking + len(made)):
                value = next(self._valid(view.member(name), depth + 1), NOTHING)
                if name not in made and not isinstance(value, Nothing):
                    made[name] = value
        return made

    def names(self, view: View, count: int) -> Iterator[str]:
        """Yield member names that the shape of a map admits; they must be validated."""
        shapes: list[Schema] = [
            each for part in view.parts if (each := schema_at(part, "propertyNames")) is not None
        ]
        patterns = [name for part in view.parts for name in schema_map(part, "patternProperties")]
        if patterns:
            shapes.append({"type": "string", "pattern": patterns[0]})
        if not shapes:
            yield from (f"name{turn}" for turn in range(count))
            return
        for way in self.viewer.ways(shapes):
            listed = [each for each in way.values if isinstance(each, str)]
            yield from listed if way.is_listed else admitted_texts(way, count)

    def _valid(self, schemas: Sequence[Schema], depth: int) -> Iterator[JsonValue]:
        for value in islice(self.values(schemas, depth), _CANDIDATES):
            if all(self.viewer.admits(schema, value) for schema in schemas):
                yield value

    def _arrays(self, view: View, depth: int) -> Iterator[JsonValue]:
        least = max(view.least("minItems"), view.least("minContains"))
        most = view.most("maxItems")
        first = max((len(_list(each)) for each in view.all("prefixItems")), default=0)
        wanted = min(max(least, first, 1), _ITEMS if most is None else most)
        items: list[JsonValue] = []
        contained = [
            each for part in view.parts if (each := schema_at(part, "contains")) is not None
        ]
        for index in range(wanted):
            schemas = view.item(index)
            if contained and first <= index < first + max(view.least("minContains"), 1):
                schemas = [*schemas, *contained]
            value = next(self._valid(schemas, depth + 1), NOTHING)
            if isinstance(value, Nothing):
                break
            items.append(value)
        if True in view.all("uniqueItems") and wanted > first + 1:
            items = [*items[:first], *self.distinct(view.item(first), wanted - first)]
        if len(items) >= least:
            yield items
        if least == 0:
            yield []


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list | tuple) else ()


def _guess_types(view: View) -> tuple[str, ...]:
    """What a schema without ``type`` is about, by its other words."""
    if view.has("properties", "required", "patternProperties"):
        return ("object",)
    if view.has("items", "prefixItems", "contains"):
        return ("array",)
    if view.has("minimum", "maximum", "multipleOf"):
        return ("number",)
    return ("string", "object", "array", "integer", "boolean", "null")


def _range(view: View) -> tuple[float | None, float | None]:
    lows = [*view.numbers("minimum"), *(each + 1 for each in view.numbers("exclusiveMinimum"))]
    highs = [*view.numbers("maximum"), *(each - 1 for each in view.numbers("exclusiveMaximum"))]
    return max(lows, default=None), min(highs, default=None)


def _step(view: View, whole: bool) -> int | float:
    steps = view.numbers("multipleOf")
    return steps[0] if steps else (1 if whole else 0.5)


def _numbers(view: View, *, whole: bool) -> Iterator[JsonValue]:
    """Both edges, and something between them."""
    low, high = _range(view)
    step = _step(view, whole)
    for bound in (low, high, 0 if low is None and high is None else None):
        if bound is not None:
            nearest = (math.ceil if bound is low else math.floor)(bound / step) * step
            yield int(nearest) if float(nearest).is_integer() else nearest
            if not whole:
                yield bound
    for exclusive, sign in (("exclusiveMinimum", 1), ("exclusiveMaximum", -1)):
        for bound in view.numbers(exclusive):
            yield bound + sign * (step if whole else 1e-3)
