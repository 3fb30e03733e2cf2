"""Where a violation stands in the schema document, and what the schema declares there.

The engine names a place relative to the embedded resource (``$id``) it stands in; findings name it
in the document as advertised.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from jsonschema_rs import ValidationError

from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import NOTHING, Pointer, step

Place: TypeAlias = tuple[str | int, ...]
"""Decoded segments from the root of the schema document."""

_IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE_SINGLES: Final = ("if", "then", "else")
_IN_PLACE_NAMED: Final = (*_IN_PLACE_LISTS, "dependentSchemas")
_NO_SCHEMA: Final[JsonObject] = {}
_MAX_STEPS: Final = 64


def as_object(schema: object) -> JsonObject:
    """Return ``schema`` as a mapping; booleans and what is no schema count as empty."""
    if isinstance(schema, dict):  # the abstract class costs ten times as much
        return schema
    return schema if isinstance(schema, Mapping) else _NO_SCHEMA


def find_place(document: JsonObject, error: ValidationError, start: Place | None = None) -> Place:
    """Return the place of the violated keyword in ``document``.

    ``start`` is where the compiled sub-schema stands that raised ``error``, None for the whole
    document. Where the way cannot be followed the engine's own path is returned.
    """
    own = tuple(error.schema_path)
    if start is None:
        absolute = error.absolute_keyword_location
        base = document.get("$id") if absolute is None else absolute.partition("#")[0]
        resource = () if base == document.get("$id") else _find_resource(document, str(base))
        if resource is not None and value_at(document, (*resource, *own)) is not NOTHING:
            return (*resource, *own)
    followed = _follow(document, start or (), error.evaluation_path)
    return own if followed is None else followed


def value_at(document: object, place: Place) -> object:
    """Return what stands at ``place``, or NOTHING."""
    for segment in place:
        document = _child(document, segment)
        if document is NOTHING:
            break
    return document


def _child(parent: object, segment: str | int) -> object:
    if isinstance(parent, dict):
        return parent.get(segment, NOTHING)
    if isinstance(parent, list | tuple):
        return parent[segment] if isinstance(segment, int) and segment < len(parent) else NOTHING
    return parent.get(segment, NOTHING) if isinstance(parent, Mapping) else NOTHING


def resolve(document: JsonObject, schema: object) -> JsonObject:
    """Return ``schema`` with a leading chain of local references followed."""
    found = as_object(schema)
    for _ in range(_MAX_STEPS):
        reference = found.get("$ref")
        if not isinstance(reference, str):
            return found
        place = _resolve_reference(document, (), reference)
        if place is None:
            return found
        found = as_object(value_at(document, place))
    return found


def in_place(document: JsonObject, schema: object) -> Iterator[JsonObject]:
    """Yield ``schema`` and every sub-schema that judges the same value, each once."""
    waiting: list[object] = [schema]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop()
        if not isinstance(current, dict | Mapping) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        if isinstance(current.get("$ref"), str):
            waiting.append(resolve(document, current))
        for keyword in _IN_PLACE_LISTS:
            branches = current.get(keyword)
            if isinstance(branches, list | tuple):
                waiting.extend(branches)
        waiting.extend(current[keyword] for keyword in _IN_PLACE_SINGLES if keyword in current)
        waiting.extend(as_object(current.get("dependentSchemas")).values())


def declared_members(
    document: JsonObject, schema: object, *, composed: bool
) -> Mapping[str, object]:
    """Return the declared members and their schemas; ``composed`` looks through composition."""
    if not composed:
        return as_object(as_object(schema).get("properties"))
    members: dict[str, object] = {}
    for found in in_place(document, schema):
        for name, member in as_object(found.get("properties")).items():
            members.setdefault(name, member)
    return members


def in_place_ancestors(place: Place) -> Iterator[Place]:
    """Yield the places of the schemas that hold the one at ``place`` for the same value."""
    while place:
        if place[-1] in _IN_PLACE_SINGLES and place[-2:-1] != ("properties",):
            place = place[:-1]
        elif len(place) > 1 and place[-2] in _IN_PLACE_NAMED:
            place = place[:-2]
        else:
            return
        yield place


def _follow(document: JsonObject, place: Place, way: Sequence[str | int]) -> Place | None:
    resource: Place = ()
    here = value_at(document, place)
    for segment in way:
        schema = as_object(here)
        if "$id" in schema:
            resource = place
        reference = schema.get("$ref") if segment == "$ref" else None
        if isinstance(reference, str):  # else a member of that name
            target = _resolve_reference(document, resource, reference)
            if target is None:
                return None
            place, here = target, value_at(document, target)
        else:
            place, here = (*place, segment), _child(here, segment)
    return place


def _resolve_reference(document: JsonObject, resource: Place, reference: str) -> Place | None:
    """The place that ``reference`` names, or None. Source: JSON Schema 2020-12 core 8.2.3."""
    base, _, fragment = reference.partition("#")
    if base:
        found = _find_resource(document, base)
        if found is None:
            return None
        resource = found
    if fragment.startswith("/"):
        return _walk_pointer(document, resource, fragment)
    if not fragment:
        return resource
    return _find_keyword(document, resource, ("$anchor", "$dynamicAnchor"), fragment)


def _walk_pointer(document: JsonObject, resource: Place, fragment: str) -> Place | None:
    try:
        segments = Pointer.parse(fragment.replace("%25", "%").replace("%22", '"')).segments
    except ValueError:
        return None
    place = list(resource)
    here = value_at(document, resource)
    for segment in segments:
        place.append(int(segment) if isinstance(here, list | tuple) else segment)
        here = step(here, segment)
        if here is NOTHING:
            return None
    return tuple(place)


def _find_resource(document: JsonObject, base: str) -> Place | None:
    exact = _find_keyword(document, (), ("$id",), base)
    if exact is not None:
        return exact
    for place, found in _every_object(document, ()):
        own = found.get("$id")
        if isinstance(own, str) and own and (own.endswith("/" + base) or base.endswith("/" + own)):
            return place
    return None


def _find_keyword(
    document: JsonObject, start: Place, keywords: tuple[str, ...], text: str
) -> Place | None:
    for place, found in _every_object(document, start):
        if any(found.get(keyword) == text for keyword in keywords):
            return place
    return None


def _every_object(document: JsonObject, start: Place) -> Iterator[tuple[Place, JsonObject]]:
    waiting: list[tuple[Place, object]] = [(start, value_at(document, start))]
    while waiting:
        place, current = waiting.pop()
        if isinstance(current, Mapping):
            yield place, current
            waiting.extend(((*place, name), member) for name, member in current.items())
        elif isinstance(current, list | tuple):
            waiting.extend(((*place, index), item) for index, item in enumerate(current))
