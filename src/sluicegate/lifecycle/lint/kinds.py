"""C08 to C13: what type a value has, and what its members are called."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.composition import listed_values
from sluicegate.contracts.schemas.formulas import holds, is_extension
from sluicegate.contracts.schemas.keywords import schema_map
from sluicegate.contracts.schemas.proofs import own_types
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, closed, shown
from sluicegate.lifecycle.lint.matching import Matching
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.values.json import JsonValue, canonical_text
from sluicegate.values.names import show_name
from sluicegate.values.pointers import escape_segment, join_segments

_APPLY: Final[Mapping[str, tuple[str, ...]]] = {
    "string": ("maxLength", "minLength", "pattern", "format", "contentEncoding"),
    "number": ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf"),
    "array": (
        *("items", "prefixItems", "contains", "maxItems", "minItems", "uniqueItems"),
        *("maxContains", "minContains", "unevaluatedItems"),
    ),
    "object": (
        *("properties", "patternProperties", "additionalProperties", "required"),
        *("maxProperties", "minProperties", "propertyNames", "dependentRequired"),
        *("dependentSchemas", "unevaluatedProperties"),
    ),
}
_DANGEROUS: Final = frozenset({"__proto__", "constructor", "prototype"})


def find_typeless(sheet: Sheet) -> Iterator[Hit]:
    """C08."""
    for place in sheet.places:
        if not place.is_typed and not holds(place.formula, is_extension):
            yield Hit(place.pointer, "nothing says which type a value has here.")


def find_inapplicable(sheet: Sheet) -> Iterator[Hit]:
    """C09."""
    for place in sheet.places:
        for schema in place.schemas():
            at = sheet.place_of(schema)
            admitted = own_types(schema) & place.types
            if at is None or not admitted:
                continue
            for kind, keywords in _APPLY.items():
                for keyword in keywords if kind not in admitted else ():
                    if keyword in schema:
                        yield Hit(
                            join_segments((*at, keyword)),
                            f"`{keyword}` says nothing about a value of type "
                            f"{' or '.join(sorted(admitted))}.",
                        )


def find_unions(sheet: Sheet) -> Iterator[Hit]:
    """C10."""
    for node in sheet.nodes:
        named = node.schema.get("type")
        if isinstance(named, list | tuple):
            kinds = {name for name in named if isinstance(name, str)} - {"null"}
            if len(kinds) > 1:
                yield Hit(
                    f"{node.pointer}/type", f"a value is {' or '.join(sorted(kinds))} in turn."
                )


def find_nullable(sheet: Sheet) -> Iterator[Hit]:
    """C11; the keyword of OpenAPI is an error, for nothing reads it."""
    for node in sheet.nodes:
        if "nullable" in node.schema:
            yield Hit(
                f"{node.pointer}/nullable",
                "`nullable` is a word of OpenAPI: a validator passes over it in silence.",
                'Remove it; write `type: [T, "null"]` where null is meant.',
                "error",
            )
    for place in sheet.places:
        if place.admits("null") and place.types != {"null"}:
            yield Hit(place.pointer, "null is admitted beside other values.")


def find_overlaps(sheet: Sheet) -> Iterator[Hit]:
    """C12."""
    matching = Matching()
    for node in sheet.nodes:
        for pattern in schema_map(node.schema, "patternProperties"):
            for name in schema_map(node.schema, "properties"):
                if matching.matches(pattern, name):
                    yield Hit(
                        join_segments((*node.at, "patternProperties", pattern)),
                        f"it matches the declared member `{show_name(name)}`, which then obeys "
                        "two schemas.",
                    )


def find_unsafe_names(sheet: Sheet) -> Iterator[Hit]:
    """C13."""
    for node in sheet.nodes:
        met: dict[str, str] = {}
        for name in schema_map(node.schema, "properties"):
            at = join_segments((*node.at, "properties", name))
            folded = unicodedata.normalize("NFKC", name).casefold()
            shown_name = show_name(name)
            if name in _DANGEROUS:
                yield Hit(at, f"`{shown_name}` means something else to JavaScript readers.")
            elif not name or not name.isprintable() or any(mark.isspace() for mark in name):
                yield Hit(at, f"`{shown_name}` is empty, or holds blanks or invisible characters.")
            elif folded in met:
                yield Hit(at, f"`{shown_name}` reads like `{show_name(met[folded])}` beside it.")
            elif unicodedata.normalize("NFC", name) != name:
                yield Hit(at, f"`{shown_name}` is not in Unicode's composed form (NFC).")
            met.setdefault(folded, name)


def find_poor_enums(sheet: Sheet) -> Iterator[Hit]:
    """D10."""
    for node in sheet.nodes:
        if not isinstance(node.schema.get("enum"), list | tuple) or "const" in node.schema:
            continue
        at = f"{node.pointer}/{escape_segment('enum')}"
        values = listed_values(node.schema)
        keys = [canonical_text(_plain(value)) for value in values]
        texts = [value for value in values if isinstance(value, str)]
        kinds = {type(value) for value in values if value is not None}
        if not values:
            yield Hit(at, "the list is empty, so nothing is valid.")
        elif len(set(keys)) < len(keys):
            yield Hit(at, "a value stands twice in the list.")
        elif len(kinds) > 1 and not kinds <= {int, float}:
            yield Hit(at, "the list mixes types.", severity="warning")
        elif len({text.strip().casefold() for text in texts}) < len(texts):
            yield Hit(at, "two values differ only by case or blanks.", severity="warning")


def _plain(value: JsonValue) -> JsonValue:
    """Return the value as JSON Schema compares it: 1.0 is 1, and members have no order."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in sorted(value.items())}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


RULES: Final = (
    Rule(
        id="C08",
        name="typeless",
        arguments="error",
        result="error",
        what="A place without type, enum, const or a `$ref` that has one.",
        why="Most keywords speak of one type only: values of every other type pass.",
        mend="Give it a `type`.",
        good=shown(WORD),
        bad=shown({"maxLength": 9}),
        check=find_typeless,
    ),
    Rule(
        id="C09",
        name="inapplicable-keyword",
        arguments="warning",
        result="warning",
        what="A keyword that does not apply to the type, such as `maxLength` of an integer.",
        why="It has no effect, and somebody believed that it had.",
        mend="Remove it, or correct the type.",
        good=shown({"type": "integer", "minimum": 0, "maximum": 9}),
        bad=shown({"type": "integer", "maxLength": 9}),
        check=find_inapplicable,
    ),
    Rule(
        id="C10",
        name="union-type",
        arguments="warning",
        result="warning",
        what="A list of types beyond one type and null.",
        why="Readers guess which one is meant, and coerce.",
        mend="Choose one type, or write `oneOf` with a discriminator.",
        good=shown(WORD),
        bad=shown({"type": ["string", "integer"], "maxLength": 9, "minimum": 0, "maximum": 9}),
        check=find_unions,
    ),
    Rule(
        id="C11",
        name="nullable",
        arguments="warning",
        result="warning",
        what="Null beside other values; the word `nullable` of OpenAPI is an error.",
        why="Null and absent are told apart by some readers and not by others.",
        mend="Leave null out; an absent member or an enum value says the same.",
        good=shown(WORD),
        bad=shown({"type": ["string", "null"], "maxLength": 9}),
        any_form=True,
        check=find_nullable,
    ),
    Rule(
        id="C12",
        name="property-pattern-overlap",
        arguments="warning",
        result="warning",
        what="A pattern of `patternProperties` that matches a declared member.",
        why="Two schemas apply to that member, which few readers see.",
        mend="Write a pattern that leaves the declared names out.",
        good=Example(schema=closed({"a": WORD}, patternProperties={"^x_[a-z]{1,9}$": WORD})),
        bad=Example(schema=closed({"x_a": WORD}, patternProperties={"^x_[a-z]{1,9}$": WORD})),
        check=find_overlaps,
    ),
    Rule(
        id="C13",
        name="unsafe-name",
        arguments="warning",
        result="error",
        what="A member name that is `__proto__`, holds blanks or invisible characters, or "
        "reads like another one.",
        why="Two readers may take two names for one, or one for something of their own.",
        mend="Use a-z, 0-9 and `_`, and names that differ by more than case.",
        good=shown(WORD),
        bad=shown(WORD, "__proto__"),
        check=find_unsafe_names,
    ),
    Rule(
        id="D10",
        name="poor-enum",
        arguments="error",
        result="error",
        what="An enum that is empty, repeats a value, mixes types, or tells values apart by case.",
        why="It is not clear what a sender shall write.",
        mend="List each value once, in one type and one spelling.",
        good=shown({"enum": ["open", "closed"]}),
        bad=shown({"enum": ["open", "open"]}),
        check=find_poor_enums,
    ),
)
