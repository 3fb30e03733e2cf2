"""Draft-04, -06, -07, 2019-09 and OpenAPI 3.0 schemas → draft 2020-12, meaning for meaning.

What the older dialect ignores is taken away, not brought to life: members beside a ``$ref`` of
draft-07, for one. From 2019-09 on they hold, and so they do where no dialect is named. Sources:
JSON Schema release notes of drafts 06 to 2020-12; OpenAPI 3.0.3, section 4.7.24.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final, Literal, TypeAlias, cast

from sluicegate.contracts.schemas.keywords import (
    DIALECT,
    HOLDS_SCHEMA,
    HOLDS_SCHEMA_ARRAY,
    walk,
)
from sluicegate.values.json import JsonObject, JsonValue

Dialect: TypeAlias = Literal["2020-12", "2019-09", "older", "openapi-3.0"]

_MAPS: Final = ("properties", "patternProperties", "$defs", "dependentSchemas")
_BESIDE_REF: Final = frozenset({"$ref", "$defs", "title", "description", "$comment", "nullable"})
_TOLD: Final = frozenset({"discriminator", "xml", "externalDocs"})
"""Members of OpenAPI that assert nothing."""

_DEFINITIONS: Final = re.compile(r"(#|#.*/)definitions/")
_NUMBER_FORMATS: Final[Mapping[str, tuple[int, int]]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
_OLDER: Final = re.compile(r"https?://json-schema\.org/draft-0[467]/.*")
_DRAFT_2019: Final = re.compile(r"https?://json-schema\.org/draft/2019-09/.*")
_RECURSIVE: Final = "recursive"


class DialectError(ValueError):
    """The schema names a dialect that nothing here converts; its text is a sentence."""


def dialect_of(schema: JsonObject) -> Dialect:
    """Return the dialect that ``$schema`` names; absent means 2020-12 or what reads like it.

    Raises: DialectError for any other.
    """
    named = schema.get("$schema")
    if isinstance(named, str):
        named = named.rstrip("#")
        if named == DIALECT:
            return "2020-12"
        if _OLDER.fullmatch(named):
            return "older"
        if _DRAFT_2019.fullmatch(named):
            return "2019-09"
        raise DialectError("its `$schema` names a dialect that is not converted.")
    return "2019-09" if "definitions" in schema else "2020-12"


def convert(schema: JsonValue, dialect: Dialect) -> JsonValue:
    """Return ``schema`` in draft 2020-12, ``$schema`` left out; the argument is not changed."""
    converted = _convert(schema, dialect)
    if dialect == "2019-09" and isinstance(schema, Mapping) and isinstance(converted, Mapping):
        return _convert_recursion(converted, is_open=schema.get("$recursiveAnchor") is True)
    return converted


def _convert(schema: JsonValue, dialect: Dialect) -> JsonValue:
    if not isinstance(schema, Mapping):
        return schema
    known = {key: member for key, member in schema.items() if key != "$schema"}
    if dialect == "2020-12":
        return known
    if dialect == "older":
        known = _without_the_ignored(known)
    converted = dict(_convert_members(known, dialect))
    _convert_bounds(converted)
    _convert_dependencies(converted)
    if dialect == "openapi-3.0":
        return _convert_null(converted)
    return converted


def _without_the_ignored(schema: JsonObject) -> dict[str, JsonValue]:
    if not isinstance(schema.get("$ref"), str):
        return dict(schema)
    kept = _BESIDE_REF | {"definitions", "$id", "id"}
    return {key: member for key, member in schema.items() if key in kept}


def _convert_members(schema: JsonObject, dialect: Dialect) -> dict[str, JsonValue]:
    converted: dict[str, JsonValue] = {}
    for key, member in schema.items():
        if key == "definitions":
            key = "$defs"
        elif key == "id" and isinstance(member, str):
            key = "$id"
        if key == "$ref" and isinstance(member, str):
            member = _DEFINITIONS.sub(r"\1$defs/", member)
        if key == "$id" and isinstance(member, str) and member.startswith("#"):
            key, member = "$anchor", member[1:]
        if dialect == "openapi-3.0" and key in _TOLD:
            continue
        converted[key] = _convert_below(key, member, dialect)
    if isinstance(converted.get("items"), list):
        converted["prefixItems"] = converted.pop("items")
        if "additionalItems" in schema:
            converted["items"] = _convert(schema["additionalItems"], dialect)
    converted.pop("additionalItems", None)
    if "example" in converted:
        converted.setdefault("examples", [converted["example"]])
        del converted["example"]
    return converted


def _convert_below(key: str, member: JsonValue, dialect: Dialect) -> JsonValue:
    if key in (*HOLDS_SCHEMA_ARRAY, *HOLDS_SCHEMA) and isinstance(member, list | tuple):
        return [_convert(item, dialect) for item in member]
    if key in HOLDS_SCHEMA:
        return _convert(member, dialect)
    if key in (*_MAPS, "dependencies") and isinstance(member, Mapping):
        return {name: _convert(inner, dialect) for name, inner in member.items()}
    return member


def _convert_bounds(schema: dict[str, JsonValue]) -> None:
    for exclusive, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = schema.get(exclusive)
        if isinstance(flag, bool):
            del schema[exclusive]
            if flag and bound in schema:
                schema[exclusive] = schema.pop(bound)
    named = schema.get("format")
    if isinstance(named, str) and named in _NUMBER_FORMATS:
        low, high = _NUMBER_FORMATS[named]
        del schema["format"]
        if not schema.keys() & {"minimum", "exclusiveMinimum"}:
            schema["minimum"] = low
        if not schema.keys() & {"maximum", "exclusiveMaximum"}:
            schema["maximum"] = high


def _convert_dependencies(schema: dict[str, JsonValue]) -> None:
    dependencies = schema.pop("dependencies", None)
    if not isinstance(dependencies, Mapping):
        return
    names = {name: inner for name, inner in dependencies.items() if isinstance(inner, list)}
    schemas = {name: inner for name, inner in dependencies.items() if not isinstance(inner, list)}
    if names:
        schema["dependentRequired"] = names
    if schemas:
        schema["dependentSchemas"] = schemas


def _convert_recursion(schema: JsonObject, *, is_open: bool) -> JsonValue:
    """Write ``$recursiveRef`` as 2020-12 does; ``is_open``: the root may be extended."""
    converted: Any = deepcopy(schema)
    target = {"$dynamicRef": f"#{_RECURSIVE}"} if is_open else {"$ref": "#"}
    for segments, found in walk(converted):
        node: Any = found
        if not isinstance(node, dict):
            continue
        anchored = node.pop("$recursiveAnchor", False)
        if anchored is True and is_open and not segments:
            node["$dynamicAnchor"] = _RECURSIVE
        if node.pop("$recursiveRef", None) == "#":
            if node.keys() & target.keys():
                node["allOf"] = [*node.get("allOf", ()), target]
            else:
                node.update(target)
    return cast("JsonValue", converted)


def _convert_null(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    if schema.pop("nullable", False) is not True:
        return schema
    kind = schema.get("type")
    if not isinstance(kind, str):
        return {"anyOf": [schema, {"type": "null"}]}
    schema["type"] = [kind, "null"]
    listed = schema.get("enum")
    if isinstance(listed, list) and None not in listed:
        schema["enum"] = [*listed, None]
    return schema
