"""The vocabulary of draft 2020-12: which keywords there are, and where subschemas stand.

Every walk over a schema goes through here, so that ``$ref`` inside ``const``, or a property that
is named ``$id``, is never taken for a keyword.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from sluicegate.values.json import JsonObject, JsonValue

Schema: TypeAlias = "JsonObject | bool"
Segments: TypeAlias = "tuple[str, ...]"

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

ALL_TYPES: Final = frozenset({"null", "boolean", "object", "array", "number", "string"})
"""``integer`` counts as ``number``: 1.0 is a valid integer."""

HOLDS_SCHEMA: Final = (
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "if",
    "then",
    "else",
    "not",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)
HOLDS_SCHEMA_ARRAY: Final = ("prefixItems", "allOf", "anyOf", "oneOf")
HOLDS_SCHEMA_MAP: Final = ("properties", "patternProperties", "dependentSchemas", "$defs")

KEYWORDS: Final = frozenset(
    {
        *HOLDS_SCHEMA,
        *HOLDS_SCHEMA_ARRAY,
        *HOLDS_SCHEMA_MAP,
        *("$id", "$schema", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor"),
        *("$vocabulary", "$comment"),
        *("type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum"),
        *("exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems"),
        *("uniqueItems", "maxContains", "minContains", "maxProperties", "minProperties"),
        *("required", "dependentRequired", "format"),
        *("contentEncoding", "contentMediaType"),
        *("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"),
    }
)
"""Draft 2020-12: core, applicator, unevaluated, validation, format, content, meta-data."""

FORMATS: Final = frozenset(
    {
        *("date-time", "date", "time", "duration", "email", "idn-email", "hostname"),
        *("idn-hostname", "ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid"),
        *("uri-template", "json-pointer", "relative-json-pointer", "regex"),
    }
)
"""Draft 2020-12 validation, section 7.3: all of them are asserted by the engine."""

FOREIGN_KEYWORDS: Final[Mapping[str, str]] = {
    "$recursiveAnchor": "Write `$dynamicAnchor`.",
    "$recursiveRef": "Write `$dynamicRef`.",
    "additionalItems": "Write `prefixItems` for the first items and `items` for the rest.",
    "definitions": "Write `$defs`, and `#/$defs/…` in each `$ref`.",
    "dependencies": "Write `dependentRequired` or `dependentSchemas`.",
    "discriminator": "Remove it: a `const` in each branch of `oneOf` tells the branches apart.",
    "divisibleBy": "Write `multipleOf`.",
    "example": "Write `examples` with a list.",
    "id": "Write `$id`.",
    "nullable": 'Write `type: [T, "null"]`.',
}
"""Keywords of other drafts and dialects, with what takes their place."""


def subschemas(schema: Schema) -> Iterator[tuple[Segments, Schema]]:
    """Yield (relative pointer segments, subschema) for each direct subschema, ``$defs`` included.

    Members that do not have the shape of their keyword are passed over.
    """
    if isinstance(schema, bool):
        return
    for keyword in HOLDS_SCHEMA:
        inner = schema.get(keyword)
        if isinstance(inner, Mapping | bool):
            yield (keyword,), inner
    for keyword in HOLDS_SCHEMA_ARRAY:
        inner = schema.get(keyword)
        if isinstance(inner, list | tuple):
            for index, item in enumerate(inner):
                if isinstance(item, Mapping | bool):
                    yield (keyword, str(index)), item
    for keyword in HOLDS_SCHEMA_MAP:
        inner = schema.get(keyword)
        if isinstance(inner, Mapping):
            for name, item in inner.items():
                if isinstance(item, Mapping | bool):
                    yield (keyword, name), item


def walk(schema: Schema, at: Segments = ()) -> Iterator[tuple[Segments, Schema]]:
    """Yield (pointer segments, subschema) for the schema itself and all below it, outside in."""
    yield at, schema
    for segments, inner in subschemas(schema):
        yield from walk(inner, (*at, *segments))


def rebuild_member(
    keyword: str, member: JsonValue, rebuild: Callable[[Schema], Schema]
) -> JsonValue:
    """Return a keyword's member with each direct subschema in it replaced by ``rebuild`` of it."""
    if keyword in HOLDS_SCHEMA and isinstance(member, Mapping | bool):
        return rebuild(member)
    if keyword in HOLDS_SCHEMA_ARRAY and isinstance(member, list | tuple):
        return [rebuild(item) if isinstance(item, Mapping | bool) else item for item in member]
    if keyword in HOLDS_SCHEMA_MAP and isinstance(member, Mapping):
        return {
            name: rebuild(item) if isinstance(item, Mapping | bool) else item
            for name, item in member.items()
        }
    return member


def schema_map(schema: JsonObject, keyword: str) -> Mapping[str, Schema]:
    """Return the member of a keyword that maps names to schemas; empty where it is absent."""
    inner = schema.get(keyword)
    if not isinstance(inner, Mapping):
        return {}
    return {name: item for name, item in inner.items() if isinstance(item, Mapping | bool)}


def schema_named(schema: JsonObject, keyword: str, name: str) -> Schema | None:
    """Return one schema of a keyword that maps names to schemas; None where it is absent."""
    inner = schema.get(keyword)
    return schema_at(inner, name) if isinstance(inner, Mapping) else None


def schema_list(schema: JsonObject, keyword: str) -> tuple[Schema, ...]:
    """Return the member of a keyword that lists schemas; empty where it is absent."""
    inner = schema.get(keyword)
    if not isinstance(inner, list | tuple):
        return ()
    return tuple(item for item in inner if isinstance(item, Mapping | bool))


def schema_at(schema: JsonObject, keyword: str) -> Schema | None:
    """Return the member of a keyword that holds one schema; None where it is absent."""
    inner = schema.get(keyword)
    return inner if isinstance(inner, Mapping | bool) else None


def integer_at(schema: JsonObject, keyword: str) -> int | None:
    """Return a numeric limit such as ``maxItems``; None where it is absent."""
    limit = schema.get(keyword)
    return int(limit) if isinstance(limit, int | float) and not isinstance(limit, bool) else None


def names_at(schema: JsonObject, keyword: str) -> frozenset[str]:
    """Return the names that a keyword such as ``required`` lists."""
    names = schema.get(keyword)
    if not isinstance(names, list | tuple):
        return frozenset()
    return frozenset(name for name in names if isinstance(name, str))


def is_false(schema: Schema | None) -> bool:
    """Whether no value can be valid: ``false``, or ``not`` of everything."""
    if isinstance(schema, Mapping):
        return len(schema) == 1 and schema.get("not") in (True, {})
    return schema is False
