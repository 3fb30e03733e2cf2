"""What a schema may be made of: known keywords, known formats, linear patterns (CON-2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

import jsonschema_rs

from sluicegate.contracts.schemas.compiling import matcher
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.keywords import (
    DIALECT,
    FOREIGN_KEYWORDS,
    FORMATS,
    KEYWORDS,
    Schema,
    Segments,
    walk,
)
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments

_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_FOREIGN_TYPES: Final[Mapping[str, str]] = {
    "any": "",
    "bool": "boolean",
    "date": "string",
    "dict": "object",
    "double": "number",
    "float": "number",
    "int": "integer",
    "list": "array",
    "long": "integer",
    "map": "object",
    "none": "null",
    "str": "string",
    "text": "string",
}

_MAX_FAULTS: Final = 100


def judge_dialect(schema: Schema) -> tuple[SchemaFault, ...]:
    """Refuse a ``$schema`` that is not exactly draft 2020-12; absent means 2020-12."""
    if isinstance(schema, bool) or schema.get("$schema", DIALECT) == DIALECT:
        return ()
    return (
        SchemaFault(
            code=Code.SCHEMA_DIALECT,
            pointer="/$schema",
            keyword="$schema",
            message="the dialect is not draft 2020-12.",
            mend=f"Write `{DIALECT}`, or leave `$schema` out; import converts older drafts.",
        ),
    )


def judge_form(schema: Schema) -> tuple[SchemaFault, ...]:
    """Hold ``schema`` to the meta-schema of draft 2020-12; the first violation is reported."""
    given: Any = schema
    try:
        jsonschema_rs.meta.validate(given)
    except jsonschema_rs.ValidationError as error:
        return (_misformed(schema, tuple(str(segment) for segment in error.instance_path)),)
    except ValueError:
        return (_misformed(schema, ()),)
    return ()


def judge_vocabulary(schema: Schema) -> tuple[SchemaFault, ...]:
    """Refuse unknown keywords (``x-*`` is free), unknown formats and patterns that backtrack.

    Shape: the first 100 faults, outside in: a hostile schema could hold tens of thousands.
    ``schema`` must have passed ``judge_form``.
    """
    faults = (
        fault
        for at, inner in walk(schema)
        if isinstance(inner, Mapping)
        for fault in _judge_members(inner, at)
    )
    return tuple(islice(faults, _MAX_FAULTS))


def _judge_members(schema: JsonObject, at: Segments) -> Iterator[SchemaFault]:
    for keyword in schema:
        if keyword not in KEYWORDS and not keyword.startswith("x-"):
            yield SchemaFault(
                code=Code.SCHEMA_UNKNOWN_KEYWORD,
                pointer=join_segments((*at, keyword)),
                keyword=show_name(keyword),
                message=f"`{show_name(keyword)}` is no keyword of draft 2020-12: "
                "a validator would pass over it in silence.",
                mend=_keyword_mend(keyword),
            )
    named = schema.get("format")
    if isinstance(named, str) and named not in FORMATS:
        yield SchemaFault(
            code=Code.SCHEMA_UNKNOWN_FORMAT,
            pointer=join_segments((*at, "format")),
            keyword="format",
            message=f"the format `{show_name(named)}` is not known, so it would assert nothing.",
            mend=_near(named, sorted(FORMATS)) or "Write a `pattern`, a bound, or a known format.",
        )
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and matcher(pattern) is None:
        yield _bad_pattern((*at, "pattern"), "pattern")
    patterns = schema.get("patternProperties")
    if isinstance(patterns, Mapping):
        for name in patterns:
            if matcher(name) is None:
                yield _bad_pattern((*at, "patternProperties", name), "patternProperties")


def _bad_pattern(at: Segments, keyword: str) -> SchemaFault:
    return SchemaFault(
        code=Code.SCHEMA_PATTERN,
        pointer=join_segments(at),
        keyword=keyword,
        message="the linear-time engine does not take this pattern.",
        mend="Write it without look-around and back-references, and close every group.",
    )


def _keyword_mend(keyword: str) -> str:
    if keyword in FOREIGN_KEYWORDS:
        return FOREIGN_KEYWORDS[keyword]
    near = _near(keyword, sorted(KEYWORDS))
    return near or "Remove it, or give it a name that begins with `x-`."


def _near(name: str, known: list[str]) -> str:
    lowered = {item.lower(): item for item in known}
    found = get_close_matches(name[:64].lower(), lowered, n=1, cutoff=0.75)
    return f"Did you mean `{lowered[found[0]]}`?" if found else ""


def _misformed(schema: Schema, at: Segments) -> SchemaFault:
    keyword = (
        at[-1]
        if at and at[-1] in KEYWORDS
        else next((segment for segment in reversed(at) if segment in KEYWORDS), None)
    )
    value: object = schema
    for segment in at:
        if isinstance(value, Mapping):
            value = value.get(segment)
        elif isinstance(value, list) and segment.isdigit() and int(segment) < len(value):
            value = value[int(segment)]
    mend = "See the meta-schema of draft 2020-12 for what may stand there."
    if "type" in at[-2:] and isinstance(value, str):
        better = _FOREIGN_TYPES.get(value.lower()) or value.lower()
        names = get_close_matches(better, _TYPES, n=1, cutoff=0.7)
        mend = f"Did you mean `{names[0]}`?" if names else f"The types are {', '.join(_TYPES)}."
    elif at[-1:] == ("required",) and isinstance(value, bool):
        mend = "List the required names in the `required` of the object that holds them."
    elif at and at[-1] in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
        mend = "Since draft 6 this is a number: the bound itself."
    elif at[-1:] == ("items",) and isinstance(value, list):
        mend = "Write `prefixItems` for the first items and `items: false` for the rest."
    return SchemaFault(
        code=Code.SCHEMA_META_INVALID,
        pointer=join_segments(at),
        keyword=keyword,
        message=f"`{keyword}` has a value that draft 2020-12 does not admit."
        if keyword
        else "this is no schema of draft 2020-12.",
        mend=mend,
    )
