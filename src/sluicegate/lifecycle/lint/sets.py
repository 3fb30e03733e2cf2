"""D06, D09, U01 to U03, E01: what is asked of the engine about sets of values, and what follows.

Each question is answered elsewhere, in a child process with limits; an answer that is not known
is no finding. Source: facts, lifecycle 0.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.schemas.bundling import encode_fragment
from sluicegate.contracts.schemas.keywords import (
    DIALECT,
    Schema,
    is_false,
    rebuild_member,
    schema_list,
)
from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, inner, shown
from sluicegate.lifecycle.lint.lengths import (
    NOTHING_HERE,
    NOTHING_IN_BRANCH,
    find_impossible_branches,
    find_impossible_lengths,
)
from sluicegate.lifecycle.lint.sheet import Node, Sheet
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import Pointer, join_segments, step

HERE: Final = "folder:///schema-under-lint"
"""The name under which questions refer to the document."""

MAX_QUESTIONS: Final = 300

Kind: TypeAlias = Literal["fits", "empty-places", "is-empty", "overlap", "covers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """``fits``: is the value ``right`` valid against ``left``; ``is-empty``: is nothing;
    ``overlap``: is something valid against both; ``covers``: is all of ``right`` in ``left``;
    ``empty-places``: at which pointers of the document is nothing valid.
    """

    kind: Kind
    left: JsonValue = None
    right: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Inquiry:
    """All that is asked about one document."""

    document: JsonObject
    questions: tuple[Question, ...]


Answers: TypeAlias = Sequence[JsonValue]
"""One a question: true, false, a list of pointers, or null for not known."""

Decide: TypeAlias = Callable[[Sequence[Inquiry]], Sequence[Answers]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the finding of ``rule`` that its answer ``when`` makes.

    ``by`` is the pointer of the branch that covers the one of the hit.
    """

    question: Question
    rule: str
    hit: Hit
    when: bool
    by: str = ""


def inquire(sheet: Sheet) -> tuple[Inquiry, tuple[Asked, ...]]:
    """Return what is asked about a schema; nothing about one that draft 2020-12 does not admit."""
    if not sheet.is_schema or sheet.form:
        return Inquiry(document={}, questions=()), ()
    asked = tuple(islice(_ask(sheet), MAX_QUESTIONS))
    questions = (Question(kind="empty-places"), *(one.question for one in asked))
    return Inquiry(document=sheet.document, questions=questions), asked


def conclude(sheet: Sheet, asked: Sequence[Asked], answers: Answers) -> Iterator[tuple[str, Hit]]:
    """Yield (rule id, hit) for the answers of an inquiry."""
    if not answers:
        return
    empty = list(_judge_empty(sheet, answers[0]))
    yield from empty
    dead = {hit.pointer for _, hit in empty}
    for one, answer in zip(asked, answers[1:], strict=True):
        if answer is one.when and one.hit.pointer not in dead and one.by not in dead:
            if one.rule in ("U02", "U03"):  # told once; of two equal branches, one stays
                dead.add(one.hit.pointer)
            yield one.rule, one.hit


def _ask(sheet: Sheet) -> Iterator[Asked]:
    for node in sheet.nodes:
        yield from _ask_samples(node)
    for node in sheet.nodes:
        for keyword in ("oneOf", "anyOf"):
            yield from _ask_branches(node, keyword)


def _ask_samples(node: Node) -> Iterator[Asked]:
    here: JsonValue = {"$ref": HERE + "#" + encode_fragment(node.pointer)}
    if "default" in node.schema:
        yield Asked(
            Question(kind="fits", left=here, right=node.schema["default"]),
            "D06",
            Hit(f"{node.pointer}/default", "the default is not valid against its own schema."),
            False,
        )
    examples = node.schema.get("examples")
    for index, example in enumerate(examples if isinstance(examples, list) else ()):
        yield Asked(
            Question(kind="fits", left=here, right=example),
            "D09",
            Hit(f"{node.pointer}/examples/{index}", "the example is not valid."),
            False,
        )


def _ask_branches(node: Node, keyword: str) -> Iterator[Asked]:
    branches = schema_list(node.schema, keyword)
    if len(branches) < 2:
        return
    around = _absolute({k: v for k, v in node.schema.items() if k not in (keyword, "$defs", "$id")})
    within = [_take(around, _absolute(branch)) for branch in branches]
    for index, branch in enumerate(branches):
        if not is_false(branch):
            yield Asked(
                Question(kind="is-empty", left=within[index]),
                "U02",
                Hit(_at(node, keyword, index), "nothing that is valid here fits this branch."),
                True,
            )
    for (one, left), (other, right) in combinations(enumerate(within), 2):
        if keyword == "oneOf":
            yield Asked(
                Question(kind="overlap", left=left, right=right),
                "E01",
                Hit(
                    _at(node, keyword, other),
                    f"a value can fit this branch and branch {one} at once, and is then refused.",
                ),
                True,
            )
            continue
        for (first, wide), (second, narrow) in (
            ((one, left), (other, right)),
            ((other, right), (one, left)),
        ):
            yield Asked(
                Question(kind="covers", left=wide, right=narrow),
                "U03",
                Hit(_at(node, keyword, second), f"branch {first} takes all that this one takes."),
                True,
                _at(node, keyword, first),
            )


def _take(around: Schema, branch: Schema) -> JsonObject:
    """Return ``around`` with one branch applied in place, where its ``unevaluated*`` see it."""
    if isinstance(around, bool):
        return {"allOf": [around, branch]}
    return {**around, "allOf": [*schema_list(around, "allOf"), branch]}


def _at(node: Node, keyword: str, index: int) -> str:
    return join_segments((*node.at, keyword, str(index)))


def _absolute(schema: Schema) -> Schema:
    """Lead local references to the document that the question names."""
    if isinstance(schema, bool):
        return schema
    return {
        keyword: HERE + member
        if keyword == "$ref" and isinstance(member, str) and member.startswith("#")
        else rebuild_member(keyword, member, _absolute)
        for keyword, member in schema.items()
    }


def _judge_empty(sheet: Sheet, answer: JsonValue) -> Iterator[tuple[str, Hit]]:
    """Only the innermost of nested places is told, and none that was meant to be empty."""
    pointers = (
        sorted(at for at in answer if isinstance(at, str)) if isinstance(answer, list) else []
    )
    told = [at for at in pointers if not _is_meant(sheet.document, at)]
    for at in told:
        if any(other.startswith(at + "/") for other in told):
            continue
        segments = Pointer.parse(at).segments
        if segments[-2:-1] in (("oneOf",), ("anyOf",)):
            yield "U02", Hit(at, NOTHING_IN_BRANCH)
        else:
            yield "U01", Hit(at, NOTHING_HERE)


def _is_meant(document: JsonObject, at: str) -> bool:
    segments = Pointer.parse(at).segments
    if {"not", "if"} & set(segments):
        return True
    value: object = document
    for segment in segments:
        value = step(value, segment)
    return value is False or (isinstance(value, Mapping) and is_false(value))


_SHORT: Final[JsonObject] = {"type": "string", "maxLength": 3}


def _choice(keyword: str, *branches: JsonObject) -> Example:
    return shown({keyword: list(branches)})


RULES: Final = (
    Rule(
        id="U01",
        name="unsatisfiable",
        arguments="error",
        result="error",
        what="A place at which nothing is valid.",
        why="The tool can never be called, or its answer never accepted.",
        mend="Correct the bounds that contradict each other; write `false` where nothing is meant.",
        good=shown({"type": "integer", "minimum": 3, "maximum": 5}),
        bad=shown({"type": "integer", "minimum": 5, "maximum": 3}),
        check=find_impossible_lengths,
    ),
    Rule(
        id="U02",
        name="dead-branch",
        arguments="warning",
        result="warning",
        what="A branch of `anyOf` or `oneOf` that nothing fits.",
        why="Somebody believes that it admits something.",
        mend="Correct the branch, or remove it.",
        good=_choice("anyOf", WORD, {"type": "boolean"}),
        bad=_choice("anyOf", WORD, {"type": "integer", "minimum": 5, "maximum": 3}),
        check=find_impossible_branches,
    ),
    Rule(
        id="U03",
        name="shadowed",
        arguments="info",
        result="info",
        what="A branch of `anyOf` that a sibling covers.",
        why="It adds nothing, and readers look for what it adds.",
        mend="Remove it.",
        good=_choice("anyOf", WORD, {"type": "boolean"}),
        bad=_choice("anyOf", WORD, _SHORT),
    ),
    Rule(
        id="E01",
        name="oneof-overlap",
        arguments="error",
        result="error",
        what="Two branches of `oneOf` that one value fits.",
        why="Such a value is refused; where success and failure overlap, an answer is both.",
        mend="Tell the branches apart by a required `const`, and close them.",
        good=_choice("oneOf", inner({"k": {"const": "a"}}), inner({"k": {"const": "b"}})),
        bad=Example(
            schema={
                "$schema": DIALECT,
                "oneOf": [
                    {"type": "object", "required": ["data"], "properties": {"data": WORD}},
                    {"type": "object", "required": ["error"], "properties": {"error": WORD}},
                ],
            }
        ),
    ),
)
