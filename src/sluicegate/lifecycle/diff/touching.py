"""What a keyword rests on: the members of an object that can change whether it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from sluicegate.contracts.schemas.formulas import is_extension
from sluicegate.contracts.schemas.keywords import (
    Schema,
    names_at,
    schema_at,
    schema_list,
    schema_map,
)
from sluicegate.lifecycle.diff.spelling import follow
from sluicegate.values.json import JsonObject

_MAX_PARTS: Final = 200
_MAX_TRIED: Final = 2_000
"""Schemas that are looked at for one object; what asks for more is taken as a whole."""

COUNTING: Final = ("minProperties", "maxProperties", "propertyNames")
"""They rest on which members are there, whatever those hold."""

_OF_THE_WHOLE: Final = ("const", "enum", "patternProperties", "$dynamicRef")
_CORRELATIONS: Final = ("not", "if", "then", "else")


@dataclass(slots=True)
class Touched:
    """``values`` and ``presence`` name members; ``counted``: the presence of each member counts.

    ``everything``: it cannot be told, so the value as a whole counts.
    """

    values: set[str] = field(default_factory=set)
    presence: set[str] = field(default_factory=set)
    counted: bool = False
    everything: bool = False
    left: int = _MAX_TRIED


def conjuncts(schema: Schema, root: JsonObject) -> list[JsonObject] | None:
    """Return the schema, what it refers to and its ``allOf``; None where that cannot be told."""
    found: list[JsonObject] = []
    return found if _collect(schema, root, found) else None


def _collect(schema: Schema, root: JsonObject, found: list[JsonObject]) -> bool:
    if isinstance(schema, bool):
        return schema
    if any(part is schema for part in found) or len(found) > _MAX_PARTS:
        return False
    found.append(schema)
    if "$ref" in schema:
        target = follow(schema, root)
        if target is None or not _collect(target[1], root, found):
            return False
    return all(_collect(inner, root, found) for inner in schema_list(schema, "allOf"))


def touch_correlations(part: JsonObject, root: JsonObject, touched: Touched) -> None:
    """Note what the keywords of ``part`` rest on that join several members of the object.

    ``properties``, ``required`` and what closes the object speak of one member each; ``oneOf`` and
    ``anyOf`` are left to the caller.
    """
    if any(keyword in part for keyword in _OF_THE_WHOLE) or is_extension(part):
        touched.everything = True
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if isinstance(part.get(keyword), Mapping):
            touched.everything = True
    if any(keyword in part for keyword in COUNTING):
        touched.counted = True
    _touch_names(part, touched)
    for inner in _in_place(part, _CORRELATIONS):
        touch_test(inner, root, touched)


def touch_test(schema: Schema, root: JsonObject, touched: Touched) -> None:
    """Note what rests on the value of the object when ``schema`` is tried on it."""
    touched.left -= 1
    parts = conjuncts(schema, root) if schema is not False else []
    if parts is None or touched.left < 0:
        touched.everything = True
        return
    for part in parts:
        touch_correlations(part, root, touched)
        touched.values |= schema_map(part, "properties").keys()
        touched.presence |= names_at(part, "required")
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if schema_at(part, keyword) is False:
                touched.counted = True
        for inner in _in_place(part, ("oneOf", "anyOf")):
            touch_test(inner, root, touched)


def _touch_names(part: JsonObject, touched: Touched) -> None:
    dependent = part.get("dependentRequired")
    if isinstance(dependent, Mapping):
        touched.presence |= dependent.keys()
        for name in dependent:
            touched.presence |= names_at(dependent, name)
    touched.presence |= schema_map(part, "dependentSchemas").keys()


def _in_place(part: JsonObject, keywords: Iterable[str]) -> Iterator[Schema]:
    for keyword in keywords:
        inner = schema_at(part, keyword)
        if inner is not None:
            yield inner
        yield from schema_list(part, keyword)
    if "if" in keywords:
        yield from schema_map(part, "dependentSchemas").values()
