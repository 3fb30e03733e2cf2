"""C01 to C07: which members an object admits, and which it demands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from sluicegate.contracts.schemas.composition import declared_names, declared_patterns
from sluicegate.contracts.schemas.formulas import requires
from sluicegate.contracts.schemas.keywords import (
    DIALECT,
    is_false,
    names_at,
    schema_at,
    schema_map,
)
from sluicegate.contracts.schemas.openness import find_open_objects
from sluicegate.lifecycle.lint.closers import find_refusals
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, closed, shown
from sluicegate.lifecycle.lint.matching import Matching
from sluicegate.lifecycle.lint.sheet import Place, Sheet
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

_BAGS: Final = frozenset(
    {"metadata", "meta", "extra", "extras", "context", "attributes", "labels", "raw", "annotations"}
)


def find_open(sheet: Sheet) -> Iterator[Hit]:
    """C01: the judge of registration, but for maps, which are C04."""
    sheet.demand_few_matches()
    own = {node.pointer: node.schema for node in sheet.nodes}
    for fault in find_open_objects(sheet.document):
        at = sheet.settle(fault.pointer)
        schema = own.get(at)
        if fault.code is Code.SCHEMA_OPEN_OBJECT and schema is not None and not _is_map(schema):
            yield Hit(at, fault.message, fault.mend)


def _is_map(schema: JsonObject) -> bool:
    additional = schema_at(schema, "additionalProperties")
    values = isinstance(additional, Mapping) and bool(additional)
    return values or bool(schema.get("patternProperties"))


def find_hidden_names(sheet: Sheet) -> Iterator[Hit]:
    """C02."""
    for refusal in find_refusals(sheet):
        if refusal.keyword == "additionalProperties":
            yield Hit(
                refusal.pointer,
                f"`additionalProperties` does not see {_names(refusal.names)}, declared in a "
                "schema that is applied beside it: those members are always refused.",
            )


def find_nested_unevaluated(sheet: Sheet) -> Iterator[Hit]:
    """C03."""
    for refusal in find_refusals(sheet):
        if refusal.keyword == "unevaluatedProperties":
            yield Hit(
                refusal.pointer,
                "a schema that is applied beside others does not see what they declare: it refuses "
                f"{_names(refusal.names)}.",
            )


def _names(names: Sequence[str]) -> str:
    first = [f"`{show_name(name)}`" for name in names[:3]]
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


def find_maps(sheet: Sheet) -> Iterator[Hit]:
    """C04: maps that are not bounded; bounded ones under a name that invites anything."""
    sheet.demand_few_matches()
    unbounded = {
        sheet.settle(fault.pointer)
        for fault in find_open_objects(sheet.document)
        if fault.code is Code.SCHEMA_OPEN_OBJECT
    }
    for place in _objects(sheet):
        if not any(_is_map(schema) for schema in place.schemas()):
            continue
        if place.pointer in unbounded:
            yield Hit(place.pointer, "this map takes any member name, or any number of members.")
        elif place.name is not None and place.name.lower() in _BAGS:
            yield Hit(
                place.pointer,
                f"a map named `{show_name(place.name)}` is a channel that nobody reviews.",
                "List the members that are meant.",
                "warning",
            )


def _objects(sheet: Sheet) -> Iterator[Place]:
    for place in sheet.places:
        if place.admits("object") and not place.is_listed:
            yield place


def find_all_optional(sheet: Sheet) -> Iterator[Hit]:
    """C05."""
    for place in _objects(sheet):
        names = declared_names(sheet.composition, place.formula)
        needs = place.always(
            "object",
            lambda schema: bool(names_at(schema, "required") or schema.get("minProperties")),
        )
        if names and not needs:
            yield Hit(place.pointer, "every member is optional, so `{}` is valid.")


def find_optional(sheet: Sheet) -> Iterator[Hit]:
    """C06."""
    for place in _objects(sheet):
        for schema in place.schemas():
            at = sheet.place_of(schema)
            for name, inner in schema_map(schema, "properties").items():
                if (
                    at is not None
                    and not is_false(inner)
                    and name not in names_at(schema, "required")
                    and not requires(place.formula, name)
                ):
                    yield Hit(
                        join_segments((*at, "properties", name)),
                        f"`{show_name(name)}` may be absent from a result.",
                    )


def find_undeclared(sheet: Sheet) -> Iterator[Hit]:
    """C07."""
    matching = Matching()
    for place in _objects(sheet):
        declared = set(declared_names(sheet.composition, place.formula))
        patterns = declared_patterns(sheet.composition, place.formula)
        if any(_is_map(schema) for schema in place.schemas()) and not patterns:
            continue
        for schema in place.schemas():
            at = sheet.place_of(schema)
            for name in sorted(names_at(schema, "required") - declared):
                if at is None or any(matching.matches(pattern, name) for pattern in patterns):
                    continue
                yield Hit(
                    join_segments((*at, "required")),
                    f"`{show_name(name)}` is required and declared nowhere.",
                )


_COUSINS: Final[JsonObject] = {
    "$schema": DIALECT,
    "type": "object",
    "allOf": [
        {"properties": {"a": WORD}, "unevaluatedProperties": False},
        {"properties": {"b": WORD}},
    ],
}

RULES: Final = (
    Rule(
        id="C01",
        name="open-object",
        arguments="error",
        result="error",
        what="An object that takes members which nobody has declared, also where "
        "`additionalProperties` is simply left out.",
        why="Any field reaches the tool or the agent.",
        mend="Add `additionalProperties: false`, or `unevaluatedProperties: false` where "
        "schemas are composed.",
        good=shown(WORD),
        bad=Example(schema={"$schema": DIALECT, "type": "object", "properties": {"a": WORD}}),
        code=Code.SCHEMA_OPEN_OBJECT,
        check=find_open,
    ),
    Rule(
        id="C02",
        name="ap-beside-applicator",
        arguments="error",
        result="error",
        what="`additionalProperties: false` beside, or inside of, `allOf`, `anyOf`, `oneOf`, "
        "`if` or `$ref` where other members are declared.",
        why="It sees only the `properties` beside it, so what the others declare is always "
        "refused.",
        mend="Write `unevaluatedProperties: false` instead.",
        good=Example(
            schema={
                "$schema": DIALECT,
                "type": "object",
                "allOf": [{"properties": {"a": WORD}}],
                "unevaluatedProperties": False,
            }
        ),
        bad=Example(schema=closed({"b": WORD}, allOf=[{"properties": {"a": WORD}}])),
        check=find_hidden_names,
    ),
    Rule(
        id="C03",
        name="nested-unevaluated",
        arguments="error",
        result="error",
        what="`unevaluatedProperties: false` in a schema that `allOf`, `$ref` or a choice applies "
        "where others declare members, however deep.",
        why="It does not see what its neighbours declare, so it refuses their members.",
        mend="Say it once, outside of all that is composed.",
        good=Example(
            schema={
                "$schema": DIALECT,
                "type": "object",
                "allOf": [{"properties": {"a": WORD}}, {"properties": {"b": WORD}}],
                "unevaluatedProperties": False,
            }
        ),
        bad=Example(schema=_COUSINS),
        check=find_nested_unevaluated,
    ),
    Rule(
        id="C04",
        name="generic-map",
        arguments="warning",
        result="error",
        what="A map without `propertyNames` and `maxProperties`; and any map named metadata, "
        "extra, context and the like.",
        why="It is a channel that nobody reviews: names and number of members are the "
        "sender's choice.",
        mend="Add `propertyNames` with a pattern or enum, and `maxProperties`; better, list "
        "the members.",
        good=shown(
            {
                "type": "object",
                "additionalProperties": WORD,
                "propertyNames": {"pattern": "^[a-z]{1,9}$"},
                "maxProperties": 9,
            }
        ),
        bad=shown({"type": "object", "additionalProperties": WORD}, "metadata"),
        code=Code.SCHEMA_OPEN_OBJECT,
        check=find_maps,
    ),
    Rule(
        id="C05",
        name="all-optional",
        arguments="warning",
        result="error",
        what="An object that declares members and requires none.",
        why="`{}` is valid, and says nothing.",
        mend="Put the members that are always there into `required`.",
        good=shown(WORD),
        bad=Example(schema=closed(properties={"a": WORD})),
        check=find_all_optional,
    ),
    Rule(
        id="C06",
        name="optional-in-result",
        arguments=None,
        result="warning",
        what="A member of a result that is not required.",
        why="Absent and null double the states that an agent must tell apart.",
        mend="Require it; say with an enum value that something is not known.",
        good=shown(WORD),
        bad=Example(schema=closed({"a": WORD}, properties={"a": WORD, "b": WORD})),
        check=find_optional,
    ),
    Rule(
        id="C07",
        name="required-undeclared",
        arguments="error",
        result="error",
        what="A name in `required` that no reachable schema declares.",
        why="In a closed object nothing is valid then; in an open one it is a misspelling.",
        mend="Declare it in `properties`, or correct the name.",
        good=shown(WORD),
        bad=Example(schema=closed({"a": WORD}, required=["b"])),
        check=find_undeclared,
    ),
)
