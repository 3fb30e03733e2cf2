"""One place of a schema as a reader meets it: references followed, ``allOf`` folded together.

Two schemas that say the same in another layout have the same facets here, so a moved ``$ref`` or
an ``allOf`` around it names no change. Where folding is not exact, the proof decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from sluicegate.contracts.schemas.keywords import (
    ALL_TYPES,
    Schema,
    is_false,
    names_at,
    schema_at,
    schema_list,
    schema_map,
)
from sluicegate.lifecycle.diff.spelling import Placed, Speller, follow
from sluicegate.values.json import JsonObject, JsonValue, canonical_text, json_type
from sluicegate.values.pointers import join_segments

Bound: TypeAlias = "tuple[float, bool]"
"""A limit, and whether the limit itself is excluded."""

TYPES: Final = ALL_TYPES | {"integer"}
LOWER: Final = ("minimum", "minLength", "minItems", "minProperties")
UPPER: Final = ("maximum", "maxLength", "maxItems", "maxProperties")
CONSTRAINTS: Final = ("multipleOf", "uniqueItems", "contains", "propertyNames")
CONDITIONS: Final = ("not", "if", "dependentRequired", "dependentSchemas")
TEXTS: Final = (
    *("title", "description", "examples", "readOnly", "writeOnly"),
    *("contentMediaType", "contentEncoding", "contentSchema"),
)
_EXCLUSIVE: Final = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_TOGETHER: Final = {
    "contains": ("contains", "minContains", "maxContains"),
    "if": ("if", "then", "else"),
}
_MAX_CONJUNCTS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Facets:
    """What a place asks for. ``types`` holds ``integer`` wherever it holds ``number``.

    ``values`` None: no closed list. ``rest`` is what is asked of members without a name here;
    ``texts``, ``comments``, ``default`` and ``deprecated`` are canonical texts of annotations.
    """

    at: str
    types: frozenset[str]
    values: frozenset[str] | None
    bounds: Mapping[str, Bound]
    patterns: frozenset[str]
    formats: frozenset[str]
    constraints: Mapping[str, frozenset[str]]
    properties: Mapping[str, Placed]
    required: frozenset[str]
    closed: bool
    rest: frozenset[str]
    prefix: tuple[Placed, ...]
    items: Placed | None
    branches: Mapping[str, tuple[Placed, ...]]
    conditions: Mapping[str, frozenset[str]]
    annotations: Mapping[str, frozenset[str]]


def read_facets(placed: Placed, speller: Speller) -> Facets:
    """Return the facets of a place in the document of ``speller``."""
    at, schema = placed
    root = speller.root
    parts = list(_conjuncts(at, schema, root, set()))
    bounds: dict[str, Bound] = {}
    sets: dict[str, set[str]] = defaultdict(set)
    properties: dict[str, list[Placed]] = defaultdict(list)
    prefix: list[Placed] = []
    items: list[Placed] = []
    branches: dict[str, tuple[Placed, ...]] = {}
    types, values, required = TYPES, None, frozenset[str]()
    for place, part in parts:
        if is_false(part):
            types = frozenset()
        if isinstance(part, bool):
            continue
        types &= _types(part)
        listed = _values(part)
        if listed is not None:
            values = listed if values is None else values & listed
        _tighten(bounds, part)
        _collect(sets, part, speller)
        required |= names_at(part, "required")
        for name, inner in schema_map(part, "properties").items():
            properties[name].append((f"{place}{join_segments(('properties', name))}", inner))
        prefix = prefix or _listed(place, part, "prefixItems")
        for keyword in ("items", "unevaluatedItems"):
            inner_items = schema_at(part, keyword)
            if inner_items is not None:
                items.append((f"{place}/{keyword}", inner_items))
        for keyword in ("oneOf", "anyOf"):
            if keyword in part:
                found = tuple(_listed(place, part, keyword))
                branches[keyword] = (*branches.get(keyword, ()), *found)
    if values is not None:
        types &= frozenset(text.partition(":")[0] for text in values)
    return Facets(
        at=at,
        types=types & _types_of_branches(branches, root),
        values=values,
        bounds=_whole_numbers(bounds, types),
        patterns=frozenset(sets["pattern"]),
        formats=frozenset(sets["format"]),
        constraints={name: frozenset(sets[name]) for name in CONSTRAINTS if sets[name]},
        properties={name: _join(found) for name, found in properties.items()},
        required=required,
        closed=bool(sets["closed"]),
        rest=frozenset(sets["rest"]),
        prefix=tuple(prefix),
        items=_join(items) if items else None,
        branches=branches,
        conditions={name: frozenset(sets[name]) for name in CONDITIONS if sets[name]},
        annotations={
            name: frozenset(sets[name])
            for name in ("texts", "comments", "default", "deprecated")
            if sets[name]
        },
    )


def _conjuncts(at: str, schema: Schema, root: JsonObject, seen: set[int]) -> Iterator[Placed]:
    """Yield the schema, what it refers to and its ``allOf``: all that a value must satisfy."""
    if isinstance(schema, bool):
        yield at, schema
        return
    if id(schema) in seen or len(seen) > _MAX_CONJUNCTS:
        return
    seen.add(id(schema))
    yield at, schema
    target = follow(schema, root)
    if target is not None:
        yield from _conjuncts(*target, root, seen)
    for index, inner in enumerate(schema_list(schema, "allOf")):
        yield from _conjuncts(f"{at}/allOf/{index}", inner, root, seen)


def _types(part: JsonObject) -> frozenset[str]:
    told = part.get("type")
    if isinstance(told, str):
        names = frozenset({told})
    elif isinstance(told, list | tuple):
        names = frozenset(name for name in told if isinstance(name, str))
    else:
        return TYPES
    return names | {"integer"} if "number" in names else names


def _types_of_branches(
    branches: Mapping[str, tuple[Placed, ...]], root: JsonObject
) -> frozenset[str]:
    types = TYPES
    for listed in branches.values():
        admitted: frozenset[str] = frozenset()
        for at, schema in listed:
            one = TYPES
            for _, part in _conjuncts(at, schema, root, set()):
                if isinstance(part, Mapping):
                    one &= _types(part)
                    values = _values(part)
                    if values is not None:
                        one &= frozenset(text.partition(":")[0] for text in values)
                elif part is False:
                    one = frozenset()
            admitted |= one
        types &= admitted
    return types


def _values(part: JsonObject) -> frozenset[str] | None:
    """Each value as ``TYPE:canonical text``; an integral float is the integer it equals."""
    listed = part.get("enum")
    values = [*listed] if isinstance(listed, list | tuple) else None
    if "const" in part:
        values = [part["const"]]
    return None if values is None else frozenset(map(_value, values))


def _value(value: JsonValue) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{json_type(value)}:{canonical_text(value)}"


def _tighten(bounds: dict[str, Bound], part: JsonObject) -> None:
    for keyword in (*LOWER, *UPPER, *_EXCLUSIVE):
        limit = part.get(keyword)
        if not isinstance(limit, int | float) or isinstance(limit, bool):
            continue
        name = _EXCLUSIVE.get(keyword, keyword)
        if limit == 0 and name in LOWER[1:]:
            continue  # at least nothing is no limit
        given = (limit, keyword in _EXCLUSIVE)
        held = bounds.get(name)
        bounds[name] = given if held is None or is_tighter(name, given, held) else held


def is_tighter(name: str, one: Bound, other: Bound) -> bool:
    """Whether the limit ``one`` admits less than ``other``."""
    if one[0] == other[0]:
        return one[1] and not other[1]
    return one[0] > other[0] if name in LOWER else one[0] < other[0]


def _whole_numbers(bounds: dict[str, Bound], types: frozenset[str]) -> dict[str, Bound]:
    """Write an excluded limit of integers as the next integer: the same limit, one spelling."""
    if "number" in types:
        return bounds
    return {
        name: (limit + (1 if name in LOWER else -1), False)
        if excluded and float(limit).is_integer()
        else (limit, excluded)
        for name, (limit, excluded) in bounds.items()
    }


def _collect(sets: dict[str, set[str]], part: JsonObject, speller: Speller) -> None:
    for keyword in ("pattern", "format"):
        told = part.get(keyword)
        if isinstance(told, str):
            sets[keyword].add(told)
    for keyword in (*CONSTRAINTS, *CONDITIONS):
        if keyword in part and part[keyword] is not False:
            together = _TOGETHER.get(keyword, (keyword,))
            told = {name: part[name] for name in together if name in part}
            sets[keyword].add(speller.spell(told))
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        inner = schema_at(part, keyword)
        if is_false(inner):
            sets["closed"].add(keyword)
        elif inner is not None and inner is not True and inner != {}:
            sets["rest"].add(speller.spell(inner))
    if "patternProperties" in part:
        told = {"patternProperties": part["patternProperties"]}
        sets["rest"].add(speller.spell(told))
    for keyword, told in part.items():
        if keyword in TEXTS:
            sets["texts"].add(f"{keyword}:{canonical_text(told)}")
        elif keyword in ("default", "deprecated"):
            sets[keyword].add(canonical_text(told))
        elif keyword == "$comment" or keyword.startswith("x-"):
            sets["comments"].add(f"{keyword}:{canonical_text(told)}")


def _listed(place: str, part: JsonObject, keyword: str) -> list[Placed]:
    return [
        (f"{place}/{keyword}/{index}", inner)
        for index, inner in enumerate(schema_list(part, keyword))
    ]


def _join(found: list[Placed]) -> Placed:
    if len(found) == 1:
        return found[0]
    return found[0][0], {"allOf": [schema for _, schema in found]}
