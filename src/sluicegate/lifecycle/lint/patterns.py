"""X01 to X05: what patterns and formats let through."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from sluicegate.contracts.schemas.keywords import integer_at, schema_map
from sluicegate.lifecycle.lint.bounds import DIGIT_FORMATS, LONG_FORMATS, is_short_text
from sluicegate.lifecycle.lint.findings import Hit, Rule, shown
from sluicegate.lifecycle.lint.pattern_atoms import odd_characters
from sluicegate.lifecycle.lint.pattern_reading import (
    has_line_anchors,
    is_anchored,
    longest_match,
)
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import join_segments

_LOOSE_ANCHOR: Final = re.compile(r"^\^[?*+{]|(?<!\\)\$[?*+{]")


def _patterns(sheet: Sheet) -> Iterator[tuple[str, str]]:
    for node in sheet.nodes:
        pattern = node.schema.get("pattern")
        if isinstance(pattern, str):
            yield f"{node.pointer}/pattern", pattern
        for name in schema_map(node.schema, "patternProperties"):
            yield join_segments((*node.at, "patternProperties", name)), name


def find_unanchored(sheet: Sheet) -> Iterator[Hit]:
    """X01."""
    for at, pattern in _patterns(sheet):
        if is_anchored(pattern):
            continue
        if has_line_anchors(pattern):
            yield Hit(at, "the flag `m` lets `^` and `$` stand at every line of a longer text.")
        elif _LOOSE_ANCHOR.search(pattern):
            yield Hit(at, "an anchor that may be left out holds nothing: `^?`, `^*`.")
        elif pattern.startswith("^") and pattern.endswith("$"):
            yield Hit(
                at, "`|` stands outside of a group, so each side is anchored at one end only."
            )
        else:
            yield Hit(at, "the pattern is found anywhere in a text; what surrounds it is free.")


def find_nonlinear(sheet: Sheet) -> Iterator[Hit]:
    """X02."""
    yield from _of_vocabulary(sheet, Code.SCHEMA_PATTERN)


def _of_vocabulary(sheet: Sheet, code: Code) -> Iterator[Hit]:
    for fault in sheet.vocabulary:
        if fault.code is code:
            yield Hit(fault.pointer, fault.message, fault.mend)


def find_odd(sheet: Sheet) -> Iterator[Hit]:
    """X03."""
    for at, pattern in _patterns(sheet):
        odd = odd_characters(pattern)
        if odd:
            yield Hit(at, f"it admits {', '.join(odd[:3])}{' and more' if len(odd) > 3 else ''}.")


def find_unknown_formats(sheet: Sheet) -> Iterator[Hit]:
    """X04."""
    yield from _of_vocabulary(sheet, Code.SCHEMA_UNKNOWN_FORMAT)


def find_long_formats(sheet: Sheet) -> Iterator[Hit]:
    """X05; formats that grow by digits alone carry no words, and are a warning."""
    for place in sheet.places:
        named = {schema.get("format") for schema in place.schemas()}
        if not place.admits("string") or not named & (LONG_FORMATS | DIGIT_FORMATS):
            continue
        if place.always("string", is_short_text) and not place.always("string", _is_cut):
            words = named & LONG_FORMATS
            yield Hit(
                place.pointer,
                "the format alone sets no end to the text.",
                severity=None if words else "warning",
            )


def _is_cut(schema: JsonObject) -> bool:
    pattern = schema.get("pattern")
    return integer_at(schema, "maxLength") is not None or (
        isinstance(pattern, str) and longest_match(pattern) is not None
    )


RULES: Final = (
    Rule(
        id="X01",
        name="pattern-unanchored",
        arguments="error",
        result="error",
        what="A pattern that is not `^…$`, that has `|` outside of a group, the flag `m`, or an "
        "anchor that may be left out (`^?`).",
        why="A pattern is searched for, not matched: anything may stand before and after it.",
        mend="Write `^(?:…)$`.",
        good=shown({"type": "string", "pattern": "^(?:a|b)$"}),
        bad=shown({"type": "string", "pattern": "^a|b$", "maxLength": 9}),
        check=find_unanchored,
    ),
    Rule(
        id="X02",
        name="pattern-nonlinear",
        arguments="error",
        result="error",
        what="A pattern that the linear-time engine does not take: look-around, back-references.",
        why="An engine that backtracks can be kept busy for hours by one short text.",
        mend="Write it without look-around and back-references.",
        good=shown({"type": "string", "pattern": "^[a-z]{1,9}$"}),
        bad=shown({"type": "string", "pattern": "^(?!x)[a-z]{1,9}$"}),
        code=Code.SCHEMA_PATTERN,
        check=find_nonlinear,
    ),
    Rule(
        id="X03",
        name="pattern-admits-junk",
        arguments="warning",
        result="warning",
        what="A pattern with `.`, a negated class, `\\s`, a property such as `\\p{L}` or a range "
        "out of ASCII that admits line feeds, NUL, direction marks, zero-width or look-alike "
        "characters.",
        why="Instructions and look-alike names travel in characters that nobody sees.",
        mend="List the characters that are meant.",
        good=shown({"type": "string", "pattern": "^[A-Za-z0-9,-]{1,99}$"}),
        bad=shown({"type": "string", "pattern": "^.{1,99}$"}),
        check=find_odd,
    ),
    Rule(
        id="X04",
        name="format-unknown",
        arguments="error",
        result="error",
        what="A format that draft 2020-12 does not define, and no engine asserts; for `test`, "
        "which knows examples, also a text that has the form of a time, an address or a URI and "
        "no format.",
        why="It is passed over in silence: every text is valid.",
        mend="Write a format that exists, a pattern, or a bound.",
        good=shown({"type": "string", "format": "date"}),
        bad=shown({"type": "string", "format": "datetime", "maxLength": 35}),
        code=Code.SCHEMA_UNKNOWN_FORMAT,
        check=find_unknown_formats,
    ),
    Rule(
        id="X05",
        name="format-unbounded",
        arguments="warning",
        result="error",
        what="A uri, email, iri or other format whose texts have no end, without "
        "`maxLength`; a warning where only digits can grow (date-time).",
        why="The format is kept, and the text is as long as the sender likes.",
        mend="Add `maxLength`.",
        good=shown({"type": "string", "format": "date-time", "maxLength": 35}),
        bad=shown({"type": "string", "format": "uri"}),
        check=find_long_formats,
    ),
)
