"""Seeded pairs of small result schemas with selections, over a world that can be gone through.

Each schema admits values of its world alone, so that what an agent can come to see is known.
"""

from __future__ import annotations

import copy
import itertools
import random
from collections.abc import Iterator
from typing import Any

ABSENT = object()
FLAT = {"id": ("x", "y"), "n": (0, 1, 2), "h": (0, 1, 2), "o": ("p", "q")}
LISTS = {"n": (0, 1, 2), "h": (0, 1), "l": ("a", "b")}
WORLDS = (FLAT, LISTS)


def values_of(world: dict[str, Any]) -> list[Any]:
    """Return every value that a schema of ``world`` can admit."""
    found = []
    for members in itertools.product(*(tuple(_held(world, name)) for name in world)):
        pairs = zip(world, members, strict=True)
        found.append({name: member for name, member in pairs if member is not ABSENT})
    return found


def _held(world: dict[str, Any], name: str) -> Iterator[Any]:
    yield from (ABSENT, None)
    inner = list(_objects(world[name]))
    if name == "o":
        yield from inner
    elif name == "l":
        for length in range(3):
            yield from map(list, itertools.product([*inner, None], repeat=length))
    else:
        yield from world[name]


def _objects(names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for members in itertools.product((ABSENT, 0, 1), repeat=len(names)):
        pairs = zip(names, members, strict=True)
        yield {name: member for name, member in pairs if member is not ABSENT}


def make_selection(rng: random.Random, world: dict[str, Any]) -> list[str]:
    """Return pointers of ``world``, one at least, of which none covers another."""
    found: list[str] = []
    for name in world:
        if name in ("o", "l") and rng.random() < 0.6:
            way = f"/{name}/*" if name == "l" else f"/{name}"
            found += [f"{way}/{inner}" for inner in world[name] if rng.random() < 0.5]
        elif rng.random() < 0.55:
            found.append(f"/{name}")
    return found or ["/n"]


def make_result(rng: random.Random, world: dict[str, Any]) -> dict[str, Any]:
    """Return a closed schema of ``world``."""
    schema = _close(rng, _object(rng, {name: _member(rng, world, name) for name in world}))
    for _ in range(rng.choice((0, 1, 1, 2))):
        _correlate(rng, schema, world)
    if rng.random() < 0.3:
        _choose(rng, schema, world)
    return schema


def _object(rng: random.Random, properties: dict[str, Any]) -> dict[str, Any]:
    required = [name for name in properties if rng.random() < 0.4]
    return {"type": "object", "properties": properties, "required": required}


def _close(rng: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    closing = rng.choice(("additionalProperties", "unevaluatedProperties"))
    return {**schema, closing: False}


def _member(rng: random.Random, world: dict[str, Any], name: str) -> dict[str, Any]:
    return _or_null(rng, _never_null(rng, world, name))


def _or_null(rng: random.Random, schema: dict[str, Any]) -> dict[str, Any]:
    """Let a null through as well, sometimes, by a list of types or by a choice."""
    if "type" not in schema or rng.random() < 0.7:
        return schema
    if rng.random() < 0.2:
        return {rng.choice(("oneOf", "anyOf")): [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def _never_null(rng: random.Random, world: dict[str, Any], name: str) -> dict[str, Any]:
    if name == "o":
        inner = _close(rng, _object(rng, {each: _bit(rng) for each in world[name]}))
        if rng.random() < 0.3:
            _correlate(rng, inner, dict.fromkeys(world[name], (0, 1)))
        elif rng.random() < 0.5:
            _choose_bits(rng, inner, world[name])
        return inner
    if name == "l":
        item = _or_null(rng, _close(rng, _object(rng, {each: _bit(rng) for each in world[name]})))
        schema: dict[str, Any] = {"type": "array", "items": item, "maxItems": rng.choice((1, 2))}
        more = {
            "minItems": 1,
            "uniqueItems": True,
            "contains": {"required": [rng.choice(world[name])]},
        }
        return schema | {key: value for key, value in more.items() if rng.random() < 0.25}
    if isinstance(world[name][0], str):
        return {"enum": list(world[name][: rng.randint(1, 2)])}
    return {"type": "integer", "minimum": rng.choice((0, 0, 1)), "maximum": rng.choice((1, 2))}


def _bit(rng: random.Random) -> dict[str, Any]:
    return {"type": "integer", "minimum": 0, "maximum": rng.choice((0, 1, 1))}


def _test(rng: random.Random, world: dict[str, Any]) -> dict[str, Any]:
    """A schema that is tried on the object, and lets through what it does not name."""
    name = rng.choice(list(world))
    how = rng.random()
    if how < 0.3 or name in ("o", "l"):
        return {"required": [name]}
    return {"properties": {name: {"enum": [rng.choice(world[name])]}}, "required": [name]}


def _correlate(rng: random.Random, schema: dict[str, Any], world: dict[str, Any]) -> None:
    one, other = rng.choice(list(world)), rng.choice(list(world))
    made: dict[str, Any] = rng.choice(
        (
            {"if": _test(rng, world), "then": _test(rng, world)},
            {"if": _test(rng, world), "then": True, "else": _test(rng, world)},
            {"dependentRequired": {one: [other]}},
            {"dependentSchemas": {one: _test(rng, world)}},
            {"not": _test(rng, world)},
            {"minProperties": rng.choice((1, 2))},
            {"maxProperties": rng.choice((1, 2, 3))},
            {"propertyNames": {"enum": rng.sample(list(world), len(world) - 1)}},
            {"anyOf": [_test(rng, world), _test(rng, world)]},
            {"oneOf": [_test(rng, world), _test(rng, world)]},
            {"allOf": [_test(rng, world)]},
        )
    )
    schema.update(made)


def _choose(rng: random.Random, schema: dict[str, Any], world: dict[str, Any]) -> None:
    """Let branches say what the members are, mostly told apart by one of them."""
    told = "id" if "id" in world else "n"
    branches = []
    for value in world[told][:2]:
        properties = {name: _member(rng, world, name) for name in world}
        if rng.random() < 0.8:
            properties[told] = {"const": value}
        branch = _object(rng, properties)
        branch["required"] = sorted({*branch["required"], told})
        if rng.random() < 0.5:
            branch["additionalProperties"] = False
        if rng.random() < 0.3 and "additionalProperties" not in branch:
            _nest(rng, branch, told)
        branches.append(branch)
    schema.pop("additionalProperties", None)
    schema.pop("properties")
    schema.update({"unevaluatedProperties": False, rng.choice(("oneOf", "anyOf")): branches})


def _choose_bits(rng: random.Random, schema: dict[str, Any], names: tuple[str, ...]) -> None:
    """Let branches say what an object within holds; one member tells them apart, and no null."""
    told = rng.choice(names)
    branches = []
    for value in (0, 1):
        properties = {name: _bit(rng) for name in names} | {told: {"const": value}}
        branches.append({"properties": properties, "required": [told]})
        if rng.random() < 0.6:
            branches[-1]["additionalProperties"] = False
        if rng.random() < 0.2:
            branches[-1]["type"] = "object"
    del schema["properties"]
    schema.pop("additionalProperties", None)
    schema.update({"unevaluatedProperties": False, rng.choice(("oneOf", "anyOf")): branches})


def _nest(rng: random.Random, branch: dict[str, Any], told: str) -> None:
    """Let branches within the branch say what some of its members are."""
    free = [name for name in branch["properties"] if name != told]
    rng.shuffle(free)
    inner = []
    for names in (free[:1], free[1:]):
        properties = {name: branch["properties"].pop(name) for name in names}
        if rng.random() < 0.3:
            properties |= {name: False for name in free if name not in names}
        inner.append({"properties": properties})
    branch[rng.choice(("anyOf", "anyOf", "oneOf"))] = inner
    branch["required"] = [told]


def edit_result(
    rng: random.Random, schema: dict[str, Any], world: dict[str, Any]
) -> dict[str, Any]:
    """Return ``schema`` with one thing taken out, put in, or changed."""
    edited = copy.deepcopy(schema)
    place = rng.choice(list(_places(edited)))
    how = rng.random()
    free = [key for key in place if key not in _KEPT]
    if rng.random() < 0.3 and _edit_choice(rng, place):
        return edited
    if how < 0.45 and free:
        del place[rng.choice(free)]
    elif how < 0.65 and place.get("required"):
        place["required"].remove(rng.choice(place["required"]))
    elif "maximum" in place:
        place["maximum"] = rng.choice((0, 1, 2) if "minimum" not in place else (1, 2))
    elif place is edited:
        _correlate(rng, place, world)
    elif "properties" in place:
        place["required"] = [name for name in place["properties"] if rng.random() < 0.5]
    return edited


def _edit_choice(rng: random.Random, place: dict[str, Any]) -> bool:
    """Take a branch out, write the choice with the other keyword, or let nulls in or out."""
    listed = isinstance(place.get("type"), list)
    typed = listed or place.get("type") in ("array", "integer") or "properties" in place
    if typed and "type" in place and rng.random() < 0.3:
        place["type"] = place["type"][0] if listed else [place["type"], "null"]
        return True
    for one, other in (("oneOf", "anyOf"), ("anyOf", "oneOf")):
        if one in place:
            if rng.random() < 0.5 and len(place[one]) > 1:
                place[one].pop(rng.randrange(len(place[one])))
            elif other not in place:
                place[other] = place.pop(one)
            return True
    return False


def make_nullable_choice(rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a schema of ``FLAT`` with a choice in a nullable object, and one edited at it."""
    inner = {"type": ["object", "null"], "properties": {}, "additionalProperties": False}
    _choose_bits(rng, inner, FLAT["o"])
    schema = {
        "type": "object",
        "properties": {"o": inner, "n": _member(rng, FLAT, "n")},
        "required": ["o"],
        "additionalProperties": False,
    }
    edited: Any = copy.deepcopy(schema)
    _edit_choice(rng, edited["properties"]["o"])
    return schema, edited


_KEPT = {
    *("type", "properties", "items", "maxItems", "minimum", "maximum", "enum", "const"),
    *("additionalProperties", "unevaluatedProperties", "oneOf", "anyOf", "required"),
}
"""Without these a schema would admit values of another world, or be no edit of interest."""


def _places(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, bool):
        return
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from _places(inner)
    if "items" in schema:
        yield from _places(schema["items"])
    for keyword in ("oneOf", "anyOf"):
        for inner in schema.get(keyword, ()):
            yield from _places(inner)
