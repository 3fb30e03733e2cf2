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

_MAX_NESTED: Final = 40
"""Choices within choices that a null is tried on."""

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


def types_of(parts: Iterable[JsonObject]) -> frozenset[str]:
    """Return the types that all of ``parts`` name; without any, one that is none."""
    types: frozenset[str] | None = None
    for part in parts:
        told = part.get("type")
        named = frozenset({told}) if isinstance(told, str) else None
        if isinstance(told, list | tuple):
            named = frozenset(name for name in told if isinstance(name, str))
        if named is not None:
            types = named if types is None else types & named
    return frozenset({"any"}) if types is None else types


def admits_null(schema: Schema, root: JsonObject) -> bool | None:
    """Return whether null is valid; None where that cannot be told.

    It has neither members nor items nor length, so only what applies in place can refuse it.
    """
    return _NullTrial(root).admits(schema)


class _NullTrial:
    """One trial; a schema may lead back to itself, and then there is no telling."""

    __slots__ = ("_active", "_left", "_root")

    def __init__(self, root: JsonObject) -> None:
        self._root = root
        self._left = _MAX_TRIED
        self._active: set[int] = set()

    def admits(self, schema: Schema) -> bool | None:
        self._left -= 1
        if isinstance(schema, bool):
            return schema
        parts = conjuncts(schema, self._root)
        if parts is None or self._left < 0 or len(self._active) > _MAX_NESTED:
            return None
        if id(schema) in self._active:
            return None
        self._active.add(id(schema))
        answer = _all(self._admits_part(part) for part in parts)
        self._active.discard(id(schema))
        return answer

    def _admits_part(self, part: JsonObject) -> bool | None:
        if "$dynamicRef" in part or is_extension(part):
            return None
        if "type" in part and "null" not in types_of([part]):
            return False
        if "const" in part and part["const"] is not None:
            return False
        listed = part.get("enum")
        if isinstance(listed, list | tuple) and not any(value is None for value in listed):
            return False
        return _all(self._in_place(part))

    def _in_place(self, part: JsonObject) -> Iterator[bool | None]:
        if "anyOf" in part:
            yield _not(_all(_not(self.admits(one)) for one in schema_list(part, "anyOf")))
        if "oneOf" in part:
            taken = [self.admits(one) for one in schema_list(part, "oneOf")]
            yield False if taken.count(True) > 1 else None if None in taken else any(taken)
        refused = schema_at(part, "not")
        if refused is not None:
            yield _not(self.admits(refused))
        condition = schema_at(part, "if")
        if condition is not None:
            holds = self.admits(condition)
            ways = [schema_at(part, keyword) for keyword in ("then", "else")]
            then, other = (True if way is None else self.admits(way) for way in ways)
            yield (then if then is other else None) if holds is None else then if holds else other


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


def _all(answers: Iterable[bool | None]) -> bool | None:
    told = list(answers)
    return False if False in told else None if None in told else True
