"""Native guards against deep nesting and infinite numbers, for what no schema proves."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal

from jsonschema_rs import Draft202012Validator

from sluicegate.contracts.schemas.compiled import Predicate
from sluicegate.contracts.schemas.keywords import Schema, schema_at, schema_map
from sluicegate.contracts.schemas.proofs import Prover, own_types
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.limits import ENGINE_MAX_DEPTH

_SCALARS: Final = ("null", "boolean", "number", "string")
_MAX_PLACES: Final = 1_000
"""Places that a residual guard tells apart; beyond them it guards whole values."""


@lru_cache(maxsize=64)
def shape_guard(max_depth: int) -> Predicate:
    """Return a predicate that refuses nesting beyond ``max_depth`` and infinite numbers.

    Shape: a parsed JSON value, root container = depth 1; ``max_depth`` 0 admits scalars only. The
    engine's ``type`` refuses ±inf, so one native pass sees to both (facts: prototype 1). Only
    values that jiter parsed may be handed in: deeper Python objects end the process.
    Raises: ValueError for a depth outside 0..200. Source: SPEC ARG-1, ARG-2, RES-1, RES-2.
    """
    return _compile(_whole(max_depth), _levels(max_depth))


def residual_guard(
    document: JsonObject, max_depth: int, *, member: str | None = None
) -> Predicate | None:
    """Return a guard over the places alone where the effective schema ``document`` proves nothing.

    What it accepts, if it is also valid under ``document``, nests no deeper than ``max_depth`` and
    holds no infinite number; of other values it says nothing. ``member``: the value is not the
    whole text but stands in this member of it, one level down, and the rest is held to its shape
    elsewhere. None: the schema proves it all. Raises: as ``shape_guard``.
    """
    levels = _levels(max_depth)
    if member is not None and max_depth == 0:
        return shape_guard(0)
    residue = _Residue(document)
    guard = residue.of(document, max_depth if member is None else max_depth - 1)
    if guard is True:
        return None
    whole: JsonObject = guard if member is None else {"properties": {member: guard}}
    return _compile(whole, {**levels, **residue.definitions})


class _Residue:
    """Splits a schema into what it proves and what is left to guard."""

    __slots__ = ("_names", "_prover", "definitions")

    def __init__(self, document: JsonObject) -> None:
        self._prover = Prover(document)
        self._names: dict[tuple[int, int], str] = {}
        self.definitions: dict[str, JsonValue] = {}

    def of(self, schema: Schema, max_depth: int) -> JsonObject | Literal[True]:
        """Return the guard for a value that stands where ``schema`` holds; True: none is needed."""
        if self._prover.prove(schema).keeps_within(max_depth):
            return True
        typed = self._typed(schema)
        if typed is None or max_depth == 0:
            return _whole(max_depth)
        key = (id(typed), max_depth)
        if key not in self._names:
            if len(self._names) == _MAX_PLACES:
                return _whole(max_depth)
            name = self._names[key] = f"p{len(self._names)}"
            self.definitions[name] = self._split(typed, max_depth)
        return {"$ref": f"#/$defs/{self._names[key]}"}

    def _typed(self, schema: Schema) -> JsonObject | None:
        """Follow references in place to a schema that names its types itself."""
        met: set[int] = set()
        while not isinstance(schema, bool) and id(schema) not in met:
            if "type" in schema:
                return schema
            met.add(id(schema))
            schema = next(self._prover.tree.referred(schema), True)
        return None

    def _split(self, schema: JsonObject, max_depth: int) -> JsonObject:
        """Guard members and items one by one. Other keywords of ``schema`` only narrow it."""
        guard: dict[str, JsonValue] = {}
        types = own_types(schema)
        if "object" in types:
            rest = schema_at(schema, "additionalProperties")
            if rest is None or "patternProperties" in schema:
                return _whole(max_depth)
            others = self.of(rest, max_depth - 1)
            members = {
                name: self.of(inner, max_depth - 1)
                for name, inner in schema_map(schema, "properties").items()
            }
            if others is True:  # then what is proven need not be named, nor looked up
                members = {name: inner for name, inner in members.items() if inner is not True}
            guard |= {"properties": members, "additionalProperties": others}
        if "array" in types:
            items = schema_at(schema, "items")
            if items is None or "prefixItems" in schema:
                return _whole(max_depth)
            guard["items"] = self.of(items, max_depth - 1)
        return guard


def _whole(max_depth: int) -> JsonObject:
    return {"$ref": f"#/$defs/d{max_depth}"}


def _levels(max_depth: int) -> dict[str, JsonValue]:
    if not 0 <= max_depth <= ENGINE_MAX_DEPTH:
        raise ValueError(f"max_depth is 0 to {ENGINE_MAX_DEPTH}, the parser's own limit")
    levels: dict[str, JsonValue] = {"d0": {"type": list(_SCALARS)}}
    for level in range(1, max_depth + 1):
        below = _whole(level - 1)
        levels[f"d{level}"] = {
            "type": [*_SCALARS, "array", "object"],
            "items": below,
            "additionalProperties": below,
        }
    return levels


def _compile(guard: JsonObject, definitions: dict[str, JsonValue]) -> Predicate:
    return Draft202012Validator({**guard, "$defs": definitions}, offline=True).is_valid
