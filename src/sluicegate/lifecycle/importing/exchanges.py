"""What an operation of OpenAPI sends: the members that its body may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.keywords import schema_list, schema_map
from sluicegate.values.json import JsonObject, JsonValue

_BRANCHES: Final = ("allOf", "anyOf", "oneOf")
_APPLIED: Final = ("if", "then", "else")


def list_members(schema: JsonValue, definitions: Mapping[str, JsonValue]) -> tuple[list[str], bool]:
    """Return the names of members that an object of ``schema`` may bear, and whether more may.

    Branches and references into ``definitions`` count. ``more``: members that a map or a pattern
    admits, and that no name stands for.
    """
    names: dict[str, None] = {}
    more = False
    for part in _applied(schema, definitions):
        names.update(dict.fromkeys(schema_map(part, "properties")))
        rest = part.get("additionalProperties")
        more = more or bool(schema_map(part, "patternProperties"))
        more = more or (isinstance(rest, Mapping) and bool(rest))
    return list(names), more


def _applied(schema: JsonValue, definitions: Mapping[str, JsonValue]) -> Iterator[JsonObject]:
    """Yield the schema itself and every one that applies to the same value."""
    waiting, met = [schema], set[int]()
    while waiting:
        part = waiting.pop(0)
        if not isinstance(part, Mapping) or id(part) in met:
            continue
        met.add(id(part))
        yield part
        reference = part.get("$ref")
        if isinstance(reference, str):
            waiting.append(definitions.get(reference.removeprefix("#/$defs/")))
        for keyword in _BRANCHES:
            waiting += schema_list(part, keyword)
        waiting += (part.get(keyword) for keyword in _APPLIED)
        waiting += schema_map(part, "dependentSchemas").values()
