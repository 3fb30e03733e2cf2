"""E02 to E04: how the shapes of an answer are told apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.composition import (
    CompositionTooLargeError,
    Member,
    declared_names,
)
from sluicegate.contracts.schemas.formulas import Formula, holds, is_enumerated, requires, types
from sluicegate.contracts.schemas.keywords import (
    DIALECT,
    names_at,
    schema_list,
    schema_map,
)
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, inner
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import join_segments

_HEAD: Final = ("tool", "request_id", "outcome")


def find_undiscriminated(sheet: Sheet) -> Iterator[Hit]:
    """E02."""
    for node in sheet.nodes:
        branches = schema_list(node.schema, "oneOf")
        if len(branches) < 2:
            continue
        try:
            formulas = [sheet.composition.of(branch) for branch in branches]
            told_apart = _are_told_apart(sheet, node.schema, formulas)
        except (CompositionTooLargeError, RecursionError):
            return
        if not told_apart:
            yield Hit(
                f"{node.pointer}/oneOf", "no required member with a `const` tells them apart."
            )


def _are_told_apart(sheet: Sheet, schema: JsonObject, formulas: list[Formula]) -> bool:
    """By a member that each object branch requires and lists; other types tell by themselves."""
    objects = [formula for formula in formulas if "object" in types(formula)]
    if len(objects) < 2:
        return True
    own = set(schema_map(schema, "properties"))
    names = set(declared_names(sheet.composition, objects[0])) | own
    return any(
        all(
            (requires(formula, name) or name in names_at(schema, "required"))
            and holds(sheet.composition.below(formula, Member(name)), is_enumerated)
            for formula in objects
        )
        for name in names
    )


def _branches(sheet: Sheet) -> list[tuple[str, JsonObject, set[str], set[str]]]:
    """The shapes of an envelope: (pointer, properties, required names, all names); none: it is no
    envelope."""
    root = sheet.document
    listed = schema_list(root, "oneOf") or schema_list(root, "anyOf")
    keyword = "oneOf" if schema_list(root, "oneOf") else "anyOf"
    shapes = [(join_segments((keyword, str(i))), one) for i, one in enumerate(listed)]
    found: list[tuple[str, JsonObject, set[str], set[str]]] = []
    for at, schema in shapes or [("", root)]:
        properties: dict[str, JsonValue] = {}
        required: set[str] = set()
        for one in (root, *(sheet.tree.reachable(schema) if isinstance(schema, Mapping) else ())):
            if isinstance(one, Mapping) and (one is not root or not listed or "properties" in one):
                properties.update(schema_map(one, "properties"))
                required |= names_at(one, "required")
        found.append((at, properties, required, set(properties)))
    names = set().union(*(each[3] for each in found))
    return found if {"data", "error"} <= names or {"outcome", "error"} <= names else []


def find_poor_envelopes(sheet: Sheet) -> Iterator[Hit]:
    """E03."""
    for at, properties, required, names in _branches(sheet):
        lacking = [name for name in _HEAD if name not in required]
        if lacking:
            yield Hit(at, f"this shape does not require {', '.join(lacking)}.")
        if "data" in names and "error" in names:
            yield Hit(at, "this shape admits data and error at once.")
        elif "data" not in required and "error" not in required:
            yield Hit(at, "this shape requires neither data nor error.")
        error = properties.get("error")
        if "error" in names and not _has_code(sheet, error):
            yield Hit(at, "an error does not require code and retryable.")


def _has_code(sheet: Sheet, error: object) -> bool:
    if not isinstance(error, Mapping):
        return False
    formula = sheet.composition.of(error)
    return requires(formula, "code") and requires(formula, "retryable")


def find_open_codes(sheet: Sheet) -> Iterator[Hit]:
    """E04."""
    for place in sheet.places:
        if (
            place.name == "code"
            and place.parent is not None
            and (
                place.parent.name == "error"
                or "retryable" in declared_names(sheet.composition, place.parent.formula)
            )
            and not place.is_listed
        ):
            yield Hit(place.pointer, "the codes of an error are not listed.")


_ID: Final = {"type": "string", "pattern": "^req_[0-9]{1,9}$"}


def _envelope(code: JsonObject, *, head: bool = True) -> Example:
    start: JsonObject = {"tool": {"const": "t"}, "request_id": _ID} if head else {}
    error = inner({"code": code, "retryable": {"type": "boolean"}})
    return Example(
        schema={
            "$schema": DIALECT,
            "oneOf": [
                inner({**start, "outcome": {"const": "success"}, "data": inner({"a": WORD})}),
                inner({**start, "outcome": {"const": "failure"}, "error": error}),
            ],
        }
    )


_LISTED: Final[JsonObject] = {"enum": ["NOT_FOUND", "UNAVAILABLE"]}

RULES: Final = (
    Rule(
        id="E02",
        name="no-discriminator",
        arguments="warning",
        result="error",
        what="Branches of `oneOf` that share no required member with a `const` or enum.",
        why="A reader must try each branch, and what is wrong is told of the wrong one.",
        mend="Give each branch a required member such as `kind`, with a `const` of its own.",
        good=_envelope(_LISTED),
        bad=Example(schema={"$schema": DIALECT, "oneOf": [inner({"a": WORD}), inner({"b": WORD})]}),
        check=find_undiscriminated,
    ),
    Rule(
        id="E03",
        name="envelope",
        arguments=None,
        result="error",
        what="An envelope of data and error without tool, request_id and outcome, or whose "
        "shapes are not apart.",
        why="An agent must know which call is answered, and whether it failed, without "
        "reading prose.",
        mend="Require tool, request_id and outcome in each shape, and either data or error "
        "{code, retryable}.",
        good=_envelope(_LISTED),
        bad=_envelope(_LISTED, head=False),
        check=find_poor_envelopes,
    ),
    Rule(
        id="E04",
        name="error-code-open",
        arguments=None,
        result="error",
        what="An error whose `code` is not a closed enum.",
        why="An agent then reads what the upstream wrote, and acts on it.",
        mend="List the codes.",
        good=_envelope(_LISTED),
        bad=_envelope(WORD),
        check=find_open_codes,
    ),
)
