"""D00 to D09: which dialect it is, which words it uses, and what its samples are worth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sluicegate.contracts.schemas.formulas import requires
from sluicegate.contracts.schemas.keywords import DIALECT
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, closed, shown
from sluicegate.lifecycle.lint.sheet import Place, Sheet
from sluicegate.lifecycle.lint.subject import Surroundings
from sluicegate.values.codes import Code
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

_LEGACY: Final = frozenset(
    {
        *("$recursiveAnchor", "$recursiveRef", "additionalItems", "definitions"),
        *("dependencies", "divisibleBy", "id"),
    }
)


def find_misformed(sheet: Sheet) -> Iterator[Hit]:
    """D00."""
    if sheet.intake is not None:
        yield Hit(sheet.intake.pointer, sheet.intake.message, sheet.intake.mend)
    elif not sheet.is_schema:
        yield Hit("", "a schema is an object, `true` or `false`.")
    else:
        for fault in sheet.form:
            yield Hit(fault.pointer, fault.message, fault.mend)


def find_missing_dialect(sheet: Sheet) -> Iterator[Hit]:
    """D01; in contracts and tool lists an absent dialect has a meaning."""
    if not sheet.subject.around.has_dialect and "$schema" not in sheet.written:
        yield Hit("", "the schema does not say which dialect it is.")


def find_other_dialect(sheet: Sheet) -> Iterator[Hit]:
    """D02."""
    if sheet.written.get("$schema", DIALECT) != DIALECT:
        yield Hit("/$schema", "the dialect is not draft 2020-12.")


def find_unknown(sheet: Sheet) -> Iterator[Hit]:
    """D03."""
    for fault in sheet.vocabulary:
        keyword = fault.pointer.rpartition("/")[2]
        if fault.code is Code.SCHEMA_UNKNOWN_KEYWORD and keyword not in {*_LEGACY, "nullable"}:
            yield Hit(fault.pointer, fault.message, fault.mend)


def find_legacy(sheet: Sheet) -> Iterator[Hit]:
    """D04."""
    for fault in sheet.vocabulary:
        keyword = fault.pointer.rpartition("/")[2]
        if fault.code is Code.SCHEMA_UNKNOWN_KEYWORD and keyword in _LEGACY:
            yield Hit(fault.pointer, f"`{keyword}` is a word of older drafts.", fault.mend)
    for node in sheet.nodes:
        if isinstance(node.schema.get("items"), list | tuple):
            yield Hit(
                f"{node.pointer}/items",
                "`items` with a list is a word of older drafts.",
                "Write `prefixItems`, and `items: false` for the rest.",
            )
        for keyword in ("exclusiveMinimum", "exclusiveMaximum"):
            if isinstance(node.schema.get(keyword), bool):
                yield Hit(
                    f"{node.pointer}/{keyword}",
                    f"`{keyword}` as true or false is a word of draft 4.",
                    "Write the bound itself.",
                )


def find_repeated(sheet: Sheet) -> Iterator[Hit]:
    """D05."""
    for pointer in sheet.subject.repeated:
        name = show_name(Pointer.parse(pointer).segments[-1])
        yield Hit(pointer, f"the file bears `{name}` twice in one object.")


def _defaults(sheet: Sheet) -> Iterator[tuple[Place, str]]:
    for place in sheet.places:
        for schema in place.schemas():
            at = sheet.place_of(schema)
            if "default" in schema and at is not None and place.path:
                yield place, f"{place.pointer}/default"
                break


def find_relied_on(sheet: Sheet) -> Iterator[Hit]:
    """D07; nothing is added to a result, so there a default is only a wrong hope."""
    for place, at in _defaults(sheet):
        if (
            sheet.subject.side == "result"
            or Pointer(place.path) not in sheet.subject.around.on_absent
        ):
            yield Hit(at, "a default is an annotation: it fills nothing in.")


def find_default_on_required(sheet: Sheet) -> Iterator[Hit]:
    """D08."""
    for place, at in _defaults(sheet):
        if (
            place.name is not None
            and place.parent is not None
            and requires(place.parent.formula, place.name)
        ):
            yield Hit(at, f"`{show_name(place.name)}` is required, so its default is never used.")


def find_no_example(sheet: Sheet) -> Iterator[Hit]:
    """D09: that there is none; whether each is valid is asked of the engine."""
    if not sheet.subject.around.has_accepted and not sheet.written.get("examples"):
        yield Hit(
            "",
            "there is no accepted example.",
            "Add an accepted fixture, or `examples` to a bare schema.",
            "warning",
        )


_ON_ABSENT: Final = Surroundings(on_absent=frozenset({Pointer(("b",))}))

RULES: Final = (
    Rule(
        id="D00",
        name="meta-invalid",
        arguments="error",
        result="error",
        what="A schema that draft 2020-12 does not admit.",
        why="No two validators agree on what it means, if they take it at all.",
        mend="Correct the place that is named; most other rules wait for it.",
        good=shown(WORD),
        bad=Example(schema={"$schema": DIALECT, "type": "text"}),
        code=Code.SCHEMA_META_INVALID,
        any_form=True,
        check=find_misformed,
    ),
    Rule(
        id="D01",
        name="schema-missing",
        arguments="warning",
        result="error",
        what="A bare schema without `$schema`.",
        why="Each validator guesses a dialect, and they guess differently.",
        mend=f"Write `$schema: {DIALECT}`.",
        good=shown(WORD),
        bad=Example(schema={"type": "string", "maxLength": 9}),
        any_form=True,
        check=find_missing_dialect,
    ),
    Rule(
        id="D02",
        name="dialect",
        arguments="error",
        result="error",
        what="A `$schema` that is not draft 2020-12.",
        why="Keywords mean something else there, and a contract does not load.",
        mend=f"Convert it, and write `{DIALECT}`.",
        good=shown(WORD),
        bad=Example(schema={**WORD, "$schema": "http://json-schema.org/draft-07/schema#"}),
        code=Code.SCHEMA_DIALECT,
        any_form=True,
        check=find_other_dialect,
    ),
    Rule(
        id="D03",
        name="unknown-keyword",
        arguments="error",
        result="error",
        what="A word that is no keyword of draft 2020-12 and does not begin with `x-`.",
        why="A validator passes over it in silence: `maxlength` bounds nothing.",
        mend="Correct the spelling, remove it, or begin it with `x-`.",
        good=shown(WORD),
        bad=shown({**WORD, "maxlength": 3}),
        code=Code.SCHEMA_UNKNOWN_KEYWORD,
        any_form=True,
        check=find_unknown,
    ),
    Rule(
        id="D04",
        name="legacy",
        arguments="error",
        result="error",
        what="Words of older drafts: `definitions`, `dependencies`, `id`, `items` with a "
        "list, a boolean `exclusiveMinimum`.",
        why="In draft 2020-12 they mean nothing, or something else.",
        mend="Write what took their place.",
        good=Example(schema=closed({"a": {"$ref": "#/$defs/a"}}, **{"$defs": {"a": WORD}})),
        bad=Example(schema=closed({"a": WORD}, definitions={"a": WORD})),
        code=Code.SCHEMA_UNKNOWN_KEYWORD,
        any_form=True,
        check=find_legacy,
    ),
    Rule(
        id="D05",
        name="duplicate-member",
        arguments="error",
        result="error",
        what="A member that stands twice in one object of the file.",
        why="Most readers keep the last one in silence, some the first.",
        mend="Keep one of them.",
        good=shown(WORD),
        bad=Example(schema=closed({"a": WORD}), repeated=("/properties/a/type",)),
        code=Code.DUPLICATE_MEMBER,
        any_form=True,
        check=find_repeated,
    ),
    Rule(
        id="D06",
        name="default-invalid",
        arguments="error",
        result="error",
        what="A `default` that its own schema refuses.",
        why="Whoever fills it in sends what is not valid.",
        mend="Correct the value, or the schema.",
        good=shown({**WORD, "default": "x"}),
        bad=shown({**WORD, "default": 1}),
        code=Code.SCHEMA_DEFAULT_INVALID,
    ),
    Rule(
        id="D07",
        name="default-relied-on",
        arguments="warning",
        result="warning",
        what="A `default` that no `on_absent` of the contract adds.",
        why="A default is an annotation: the upstream decides what an absent member means.",
        mend="Say it in `arguments.on_absent`, or remove the default.",
        good=Example(
            schema=closed({"a": WORD}, properties={"a": WORD, "b": {**WORD, "default": "x"}}),
            side="arguments",
            around=_ON_ABSENT,
        ),
        bad=Example(
            schema=closed({"a": WORD}, properties={"a": WORD, "b": {**WORD, "default": "x"}}),
            side="arguments",
        ),
        check=find_relied_on,
    ),
    Rule(
        id="D08",
        name="default-on-required",
        arguments="warning",
        result="warning",
        what="A `default` of a required member.",
        why="The member is never absent, so the default is never used; one of the two is wrong.",
        mend="Remove the default, or take the member out of `required`.",
        good=shown(WORD),
        bad=shown({**WORD, "default": "x"}),
        check=find_default_on_required,
    ),
    Rule(
        id="D09",
        name="examples",
        arguments="error",
        result="error",
        what="An example that its schema refuses; a warning where there is no accepted "
        "example at all.",
        why="Fixtures and mutants are made from accepted examples.",
        mend="Correct the example, or the schema.",
        good=Example(schema=closed({"a": WORD}, examples=[{"a": "x"}])),
        bad=Example(schema=closed({"a": WORD}, examples=[{"a": 1}])),
        code=Code.SCHEMA_DEFAULT_INVALID,
        check=find_no_example,
    ),
)
