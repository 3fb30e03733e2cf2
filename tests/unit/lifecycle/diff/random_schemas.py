"""Seeded pairs of small schemas and values for them, made without anything of the product."""

from __future__ import annotations

import copy
import random
from typing import Any

NAMES = ("a", "b", "c")
TEXTS = ("", "x", "y", "xx", "xyz", "X", "2026-11-30", "run_1")
PATTERNS = ("^x", "^[a-z]*$", "^[a-z]{1,2}$", "x$", "^run_[0-9]+$")


def make_schema(rng: random.Random, depth: int = 2) -> dict[str, Any]:
    """Return a schema whose values ``make_value`` can hit."""
    kind = rng.choice(
        ("integer", "number", "string", "enum", "array", "object", "object", "choice")
    )
    if depth == 0 and kind in ("array", "object", "choice"):
        kind = "string"
    if kind in ("integer", "number"):
        schema: dict[str, Any] = {"type": rng.choice((kind, [kind, "null"]))}
        _maybe(rng, schema, "minimum", (-2, 0, 1))
        _maybe(rng, schema, "maximum", (2, 3, 5))
        _maybe(rng, schema, "multipleOf", (1, 2))
        return schema
    if kind == "string":
        schema = {"type": "string"}
        _maybe(rng, schema, "minLength", (0, 1, 2))
        _maybe(rng, schema, "maxLength", (2, 3, 10))
        _maybe(rng, schema, "pattern", PATTERNS)
        _maybe(rng, schema, "format", ("date",))
        return schema
    if kind == "enum":
        return {"enum": rng.sample([None, True, 0, 1, 2, "x", "y", "xx"], rng.randint(1, 4))}
    if kind == "array":
        schema = {"type": "array", "items": make_schema(rng, depth - 1)}
        _maybe(rng, schema, "minItems", (0, 1))
        _maybe(rng, schema, "maxItems", (1, 2))
        _maybe(rng, schema, "uniqueItems", (True,))
        return schema
    if kind == "choice":
        branches = [make_schema(rng, depth - 1) for _ in range(rng.randint(1, 3))]
        return {rng.choice(("anyOf", "oneOf", "allOf")): branches}
    names = rng.sample(NAMES, rng.randint(0, 3))
    schema = {"type": "object", "properties": {one: make_schema(rng, depth - 1) for one in names}}
    schema["required"] = [name for name in names if rng.random() < 0.4]
    _maybe(rng, schema, "additionalProperties", (False, False, {"type": "integer"}))
    _maybe(rng, schema, "minProperties", (1,))
    _maybe(rng, schema, "dependentRequired", ({"a": ["b"]},))
    return schema


def _maybe(
    rng: random.Random, schema: dict[str, Any], keyword: str, values: tuple[Any, ...]
) -> None:
    if rng.random() < 0.4:
        schema[keyword] = rng.choice(values)


def edit(rng: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    """Return ``schema`` with one place of it replaced, added to, or taken from."""
    edited = copy.deepcopy(schema)
    places = list(_places(edited))
    place = rng.choice(places)
    fresh = make_schema(rng, 1)
    how = rng.random()
    if how < 0.3 and len(place) > 1:
        del place[rng.choice(list(place))]
    elif how < 0.7:
        keyword = rng.choice(list(fresh))
        place[keyword] = fresh[keyword]
    else:
        place.clear()
        place.update(fresh)
    return edited


def _places(schema: Any) -> Any:
    yield schema
    for holder in (schema.get("properties", {}),):
        for inner in holder.values():
            yield from _places(inner)
    for keyword in ("items", "additionalProperties"):
        if isinstance(schema.get(keyword), dict):
            yield from _places(schema[keyword])
    for keyword in ("anyOf", "oneOf", "allOf"):
        for inner in schema.get(keyword, ()):
            yield from _places(inner)


def make_value(rng: random.Random, depth: int = 2) -> Any:
    """Return any value of the small world that ``make_schema`` speaks of."""
    kind = rng.randint(0, 7)
    if kind == 0:
        return rng.choice((None, True, False))
    if kind <= 2:
        return rng.choice((-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 0.5, 1.5, 2.0))
    if kind <= 4 or depth == 0:
        return rng.choice(TEXTS)
    if kind == 5:
        return [make_value(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    names = rng.sample((*NAMES, "d"), rng.randint(0, 3))
    return {name: make_value(rng, depth - 1) for name in names}
