"""B01 to B07: how long a text, how many items, how large a number can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.keywords import (
    DIALECT,
    Schema,
    integer_at,
    is_false,
    schema_at,
    schema_map,
)
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, inner, shown
from sluicegate.lifecycle.lint.naming import is_count_name, is_identifier_name
from sluicegate.lifecycle.lint.pattern_reading import longest_match
from sluicegate.lifecycle.lint.shapes import is_shaped
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name

SHORT_FORMATS: Final = frozenset({"date", "uuid", "ipv4", "ipv6", "hostname", "idn-hostname"})
"""Formats whose texts end by themselves; the others are X05."""

LONG_FORMATS: Final = frozenset(
    {
        *("uri", "uri-reference", "iri", "iri-reference", "email", "idn-email", "uri-template"),
        *("json-pointer", "relative-json-pointer", "regex"),
    }
)
DIGIT_FORMATS: Final = frozenset({"date-time", "time", "duration"})
"""Formats whose texts can grow by digits alone."""

_MAX_SAFE: Final = 2**53 - 1


def is_short_text(schema: JsonObject) -> bool:
    """Whether the schema's own keywords bound a text, formats of X05 counted as told there."""
    pattern = schema.get("pattern")
    return (
        integer_at(schema, "maxLength") is not None
        or schema.get("format") in SHORT_FORMATS | LONG_FORMATS | DIGIT_FORMATS
        or (isinstance(pattern, str) and longest_match(pattern) is not None)
    )


def find_long_texts(sheet: Sheet) -> Iterator[Hit]:
    """B01."""
    for place in sheet.places:
        if place.admits("string") and not place.always("string", is_short_text):
            yield Hit(place.pointer, "a text can be as long as the sender likes.")


def find_loose_identifiers(sheet: Sheet) -> Iterator[Hit]:
    """B02: a text so named, or one in a list so named."""
    for place in sheet.places:
        name = place.known_as
        if (
            name is not None
            and is_identifier_name(name, of_many=place.name is None)
            and place.admits("string")
            and not place.always("string", is_shaped)
        ):
            yield Hit(place.pointer, f"`{show_name(name)}` names something, and any text will do.")


def _ends(schema: JsonObject) -> bool:
    return integer_at(schema, "maxItems") is not None or (
        is_false(schema_at(schema, "items")) or is_false(schema_at(schema, "unevaluatedItems"))
    )


def find_long_arrays(sheet: Sheet) -> Iterator[Hit]:
    """B03."""
    for place in sheet.places:
        if place.admits("array") and not place.always("array", _ends):
            yield Hit(place.pointer, "an array can have as many items as the sender likes.")


def find_wide_numbers(sheet: Sheet) -> Iterator[Hit]:
    """B04."""
    for place in sheet.places:
        if not place.admits("number") or place.is_listed:
            continue
        lacking = [
            words
            for words, has_bound in (("minimum", _has_minimum), ("maximum", _has_maximum))
            if not place.always("number", has_bound)
        ]
        if lacking:
            yield Hit(place.pointer, f"the number has no {' and no '.join(lacking)}.")


def _has_minimum(schema: JsonObject) -> bool:
    return "minimum" in schema or "exclusiveMinimum" in schema


def _has_maximum(schema: JsonObject) -> bool:
    return "maximum" in schema or "exclusiveMaximum" in schema


def find_fractional_counts(sheet: Sheet) -> Iterator[Hit]:
    """B05."""
    for place in sheet.places:
        if (
            place.name is not None
            and is_count_name(place.name)
            and place.admits("number")
            and not place.always("number", _is_whole)
        ):
            yield Hit(
                place.pointer, f"`{show_name(place.name)}` counts something, and 1.5 is admitted."
            )


def _is_whole(schema: JsonObject) -> bool:
    named = schema.get("type")
    kinds = [named] if isinstance(named, str) else named if isinstance(named, list) else []
    step = schema.get("multipleOf")
    whole = isinstance(step, int | float) and step >= 1 and step == int(step)
    return ("integer" in kinds and "number" not in kinds) or whole


def find_endless_uniqueness(sheet: Sheet) -> Iterator[Hit]:
    """B06."""
    for place in sheet.places:
        unique = any(schema.get("uniqueItems") is True for schema in place.schemas())
        if unique and place.admits("array") and not place.always("array", _ends):
            yield Hit(place.pointer, "each item is compared with all others, without an end.")


def find_recursion(sheet: Sheet) -> Iterator[Hit]:
    """B07: a reference that leads back to where it came from, with no array bounded on the way."""
    if sheet.subject.around.max_depth is not None:
        return
    for node in sheet.nodes:
        for target in sheet.tree.referred(node.schema):
            if isinstance(target, Mapping) and _leads_back(sheet, target, node.schema):
                yield Hit(f"{node.pointer}/$ref", "the schema refers to itself without an end.")


def _leads_back(sheet: Sheet, start: JsonObject, wanted: JsonObject) -> bool:
    met: set[int] = set()
    waiting: list[Schema] = [start]
    while waiting:
        schema = waiting.pop()
        if schema is wanted:
            return True
        if isinstance(schema, bool) or id(schema) in met:
            continue
        met.add(id(schema))
        waiting.extend(_onward(sheet, schema))
    return False


def _onward(sheet: Sheet, schema: JsonObject) -> Iterator[Schema]:
    yield from sheet.tree.in_place(schema)
    for keyword in ("properties", "patternProperties"):
        yield from schema_map(schema, keyword).values()
    held = ("additionalProperties", *(() if _ends(schema) else ("items", "contains")))
    for keyword in held:
        inner = schema_at(schema, keyword)
        if inner is not None:
            yield inner


def find_unsafe_bounds(sheet: Sheet) -> Iterator[Hit]:
    """B09: bounds, and listed values at any depth."""
    for node in sheet.nodes:
        for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            bound = node.schema.get(keyword)
            if isinstance(bound, int | float) and abs(bound) > _MAX_SAFE:
                yield Hit(f"{node.pointer}/{keyword}", "the bound lies beyond 2^53 − 1.")
        for keyword in ("const", "enum"):
            if keyword in node.schema and _is_unsafe(node.schema[keyword]):
                yield Hit(f"{node.pointer}/{keyword}", "an integer in it lies beyond 2^53 − 1.")


def _is_unsafe(value: JsonValue) -> bool:
    if isinstance(value, Mapping):
        return any(map(_is_unsafe, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_is_unsafe, value))
    return isinstance(value, int) and abs(value) > _MAX_SAFE


def find_open_tuples(sheet: Sheet) -> Iterator[Hit]:
    """B10."""
    for node in sheet.nodes:
        first = node.schema.get("prefixItems")
        if not isinstance(first, list | tuple):
            continue
        longest, least = integer_at(node.schema, "maxItems"), integer_at(node.schema, "minItems")
        ends = _is_closed_tuple(node.schema) or (longest is not None and longest <= len(first))
        if not ends or least is None or least < len(first):
            lacking = "may go on" if not ends else "may break off"
            yield Hit(f"{node.pointer}/prefixItems", f"the tuple {lacking}.")


def _is_closed_tuple(schema: JsonObject) -> bool:
    return any(is_false(schema_at(schema, word)) for word in ("items", "unevaluatedItems"))


_LOOP: Final[JsonObject] = {
    "$schema": DIALECT,
    "$ref": "#/$defs/node",
    "$defs": {
        "node": inner({"name": WORD}, properties={"name": WORD, "next": {"$ref": "#/$defs/node"}})
    },
}

RULES: Final = (
    Rule(
        id="B01",
        name="string-unbounded",
        arguments="warning",
        result="error",
        what="A text without `maxLength`, enum, const, a fixed-length format or a pattern "
        "that ends.",
        why="It can flood the context of a model and the memory of a reader.",
        mend="Add `maxLength`.",
        good=shown(WORD),
        bad=shown({"type": "string"}),
        check=find_long_texts,
    ),
    Rule(
        id="B02",
        name="id-unpatterned",
        arguments="warning",
        result="error",
        what="A member named like an identifier (`run_id`, `user-id`, `key`, `slug`, `ref`), or a "
        "list of them (`user_ids`), without a format or a pattern that keeps sentences out.",
        why="Whether an answer is about the thing that was asked for needs identifiers of "
        "one shape.",
        mend="Add an anchored `pattern` with bounded length, or `format: uuid`.",
        good=shown({"type": "string", "pattern": "^run_[0-9]{1,9}$"}, "run_id"),
        bad=shown(WORD, "run_id"),
        check=find_loose_identifiers,
    ),
    Rule(
        id="B03",
        name="array-unbounded",
        arguments="warning",
        result="error",
        what="An array without `maxItems`.",
        why="It can have as many items as the sender likes.",
        mend="Add `maxItems`.",
        good=shown({"type": "array", "items": WORD, "maxItems": 9}),
        bad=shown({"type": "array", "items": WORD}),
        check=find_long_arrays,
    ),
    Rule(
        id="B04",
        name="number-unbounded",
        arguments="warning",
        result="warning",
        what="A number without a lower or an upper bound.",
        why="-1 and 10^30 are numbers too.",
        mend="Add `minimum` and `maximum`.",
        good=shown({"type": "integer", "minimum": 0, "maximum": 9}),
        bad=shown({"type": "integer", "minimum": 0}),
        check=find_wide_numbers,
    ),
    Rule(
        id="B05",
        name="number-for-count",
        arguments="warning",
        result="warning",
        what="A page, limit or count that is a number and no integer.",
        why="There are no 1.5 pages.",
        mend="Write `type: integer`.",
        good=shown({"type": "integer", "minimum": 1, "maximum": 9}, "page"),
        bad=shown({"type": "number", "minimum": 1, "maximum": 9}, "page"),
        check=find_fractional_counts,
    ),
    Rule(
        id="B06",
        name="unique-unbounded",
        arguments="error",
        result="error",
        what="`uniqueItems` without `maxItems`.",
        why="Each item is compared with all others: the time grows with the square.",
        mend="Add `maxItems`.",
        good=shown({"type": "array", "items": WORD, "maxItems": 9, "uniqueItems": True}),
        bad=shown({"type": "array", "items": WORD, "uniqueItems": True}),
        check=find_endless_uniqueness,
    ),
    Rule(
        id="B07",
        name="recursion-unbounded",
        arguments="warning",
        result="error",
        what="A `$ref` that leads back to itself, with no bounded array on the way and no "
        "known limit on nesting.",
        why="A document can nest until a reader's stack ends.",
        mend="Unroll the levels that are meant, or bound the array on the way; a contract's "
        "`max_depth` counts.",
        good=shown(WORD),
        bad=Example(schema=_LOOP),
        check=find_recursion,
    ),
    Rule(
        id="B09",
        name="unsafe-integer",
        arguments="warning",
        result="warning",
        what="A numeric bound, or an integer in const or enum, beyond 2^53 − 1.",
        why="Readers that hold numbers as doubles round such integers, and compare them wrong.",
        mend="Bound it by 9007199254740991, or carry it as text with a pattern.",
        good=shown({"type": "integer", "minimum": 0, "maximum": 9007199254740991}),
        bad=shown({"type": "integer", "minimum": 0, "maximum": 9007199254740992}),
        check=find_unsafe_bounds,
    ),
    Rule(
        id="B10",
        name="open-tuple",
        arguments="warning",
        result="error",
        what="`prefixItems` without `items: false`, or with a `minItems` that leaves some of "
        "them out.",
        why="Items may be missing, and others may follow.",
        mend="Add `items: false` and `minItems`.",
        good=shown({"type": "array", "prefixItems": [WORD], "items": False, "minItems": 1}),
        bad=shown({"type": "array", "prefixItems": [WORD]}),
        check=find_open_tuples,
    ),
)
