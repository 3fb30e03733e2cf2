"""R01 to R05: where references lead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.keywords import schema_map, subschemas, walk
from sluicegate.contracts.schemas.references import Place
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, closed
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import join_segments


def _missing(sheet: Sheet) -> Iterator[tuple[str, str]]:
    """Each reference of the schema as written that leads nowhere, and why."""
    for at, schema in walk(sheet.written):
        if not isinstance(schema, Mapping):
            continue
        place = sheet.library.place_of(schema)
        reference = schema.get("$ref")
        if place is not None and isinstance(reference, str):
            found = sheet.library.find(place.base, reference)
            if not isinstance(found, Place):
                yield join_segments((*at, "$ref")), found


def find_remote(sheet: Sheet) -> Iterator[Hit]:
    """R01."""
    for at, why in _missing(sheet):
        if why in ("remote", "outside"):
            yield Hit(at, "the reference leads out of the folder, and nothing is fetched.")


def find_unresolved(sheet: Sheet) -> Iterator[Hit]:
    """R02."""
    for at, why in _missing(sheet):
        if why in ("unresolved", "no-schema"):
            yield Hit(at, "the reference leads to no schema.")


def find_relative_ids(sheet: Sheet) -> Iterator[Hit]:
    """R03."""
    for at, schema in walk(sheet.written):
        identifier = schema.get("$id") if isinstance(schema, Mapping) else None
        if isinstance(identifier, str) and ":" not in identifier.partition("/")[0]:
            yield Hit(join_segments((*at, "$id")), "the `$id` is relative to an unknown base.")


def find_dynamic(sheet: Sheet) -> Iterator[Hit]:
    """R04."""
    for at, schema in walk(sheet.written):
        if isinstance(schema, Mapping) and "$dynamicRef" in schema:
            yield Hit(
                join_segments((*at, "$dynamicRef")), "where it leads depends on who came this way."
            )


def find_orphans(sheet: Sheet) -> Iterator[Hit]:
    """R05."""
    used: set[int] = set()
    _follow(sheet, sheet.written, used)
    for at, schema in walk(sheet.written):
        if not isinstance(schema, Mapping):
            continue
        for name, inner in schema_map(schema, "$defs").items():
            if isinstance(inner, Mapping) and not any(
                id(one) in used for _, one in walk(inner) if isinstance(one, Mapping)
            ):
                yield Hit(
                    join_segments((*at, "$defs", name)), f"nothing refers to `{show_name(name)}`."
                )


def _follow(sheet: Sheet, schema: JsonObject, used: set[int]) -> None:
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if id(here) in used:
            continue
        used.add(id(here))
        place = sheet.library.place_of(here)
        for keyword in ("$ref", "$dynamicRef"):
            reference = here.get(keyword)
            if place is not None and isinstance(reference, str):
                found = sheet.library.find(place.base, reference)
                targets = [found] if isinstance(found, Place) else []
                if keyword == "$dynamicRef":
                    targets += sheet.library.dynamic_targets(reference)
                waiting.extend(one.schema for one in targets if isinstance(one.schema, Mapping))
        waiting.extend(
            inner
            for segments, inner in subschemas(here)
            if segments[0] != "$defs" and isinstance(inner, Mapping)
        )


def _referring(reference: str, **more: JsonObject) -> Example:
    return Example(schema=closed({"a": {"$ref": reference}}, **more))


RULES: Final = (
    Rule(
        id="R01",
        name="remote-ref",
        arguments="error",
        result="error",
        what="A `$ref` that leads to a network or out of the folder.",
        why="The schema changes under you, and nothing is fetched anyway.",
        mend="Copy what is needed into `$defs` or into a file of the folder.",
        good=_referring("#/$defs/a", **{"$defs": {"a": WORD}}),
        bad=_referring("https://example.com/a.json"),
        code=Code.SCHEMA_REMOTE_REF,
        any_form=True,
        check=find_remote,
    ),
    Rule(
        id="R02",
        name="unresolved-ref",
        arguments="error",
        result="error",
        what="A `$ref` that leads to no schema.",
        why="The schema cannot be compiled.",
        mend="Write the pointer of a subschema that exists, such as `#/$defs/NAME`.",
        good=_referring("#/$defs/a", **{"$defs": {"a": WORD}}),
        bad=_referring("#/$defs/b", **{"$defs": {"a": WORD}}),
        code=Code.SCHEMA_UNRESOLVED_REF,
        any_form=True,
        check=find_unresolved,
    ),
    Rule(
        id="R03",
        name="relative-id",
        arguments="warning",
        result="warning",
        what="A `$id` that is no absolute URI.",
        why="What it is relative to differs from reader to reader.",
        mend="Write an absolute URI, such as `urn:acme:job`, or leave it out.",
        good=Example(schema=closed({"a": WORD}, **{"$id": "urn:acme:job"})),
        bad=Example(schema=closed({"a": WORD}, **{"$id": "job.json"})),
        any_form=True,
        check=find_relative_ids,
    ),
    Rule(
        id="R04",
        name="dynamic-ref",
        arguments="warning",
        result="warning",
        what="A `$dynamicRef`.",
        why="Where it leads depends on how the reader came there; few readers agree.",
        mend="Write `$ref`.",
        good=_referring("#/$defs/a", **{"$defs": {"a": WORD}}),
        bad=Example(
            schema=closed(
                {"a": {"$dynamicRef": "#a"}},
                **{"$defs": {"a": {**WORD, "$dynamicAnchor": "a"}}},
            )
        ),
        any_form=True,
        check=find_dynamic,
    ),
    Rule(
        id="R05",
        name="orphan-definition",
        arguments="info",
        result="info",
        what="A member of `$defs` that nothing refers to.",
        why="Readers look for its use.",
        mend="Remove it.",
        good=_referring("#/$defs/a", **{"$defs": {"a": WORD}}),
        bad=Example(schema=closed({"a": WORD}, **{"$defs": {"b": WORD}})),
        any_form=True,
        check=find_orphans,
    ),
)
