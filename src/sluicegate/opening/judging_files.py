"""One document held to a schema or a contract that lies in a file: asked, bound and judged.

Nothing is served: no store is opened, and no Python that a contract names is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from sluicegate.checks.bounds import bound_arguments
from sluicegate.checks.parsing import ParseRule, parse
from sluicegate.contracts.contract import Contract, FreshRule, Integers, PythonName
from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.schemas.guards import shape_guard
from sluicegate.gates.judging import judge
from sluicegate.gates.verdicts import Question, Verdict
from sluicegate.opening.judging_binds import (
    Unbound,
    UnfitArguments,
    bind_by_contract,
    name_bound,
)
from sluicegate.rendering.places import Source
from sluicegate.values.codes import Code, Stage
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.limits import ENGINE_MAX_DEPTH, Limits
from sluicegate.values.pointers import Pointer
from sluicegate.values.rejections import Rejected

DEFAULT_LIMITS: Final = Limits(max_bytes=262_144, max_depth=32)
SCHEMA_LIMITS: Final = Limits(max_bytes=4_194_304, max_depth=ENGINE_MAX_DEPTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of one judgement; None where the schema's or contract's own word holds.

    ``now`` is the time to judge freshness by. ``arguments`` are what a contract binds its result
    to, and ``said`` what a refusal calls the values of ``bind``.
    """

    side: Literal["arguments", "result"]
    strict: bool
    max_bytes: int | None
    max_depth: int | None
    integers: Integers | None
    now: datetime
    request_id: str | None
    bind: Mapping[Pointer, JsonValue]
    fresh: FreshRule | None
    arguments: bytes | None = None
    said: str = "the value that was given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unasked:
    """What stands against a schema or contract; ``source`` is the text that it stands in."""

    findings: tuple[Finding, ...]
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question, the text of its schema, and the contract that it was taken from, if any."""

    question: Question
    source: Source
    contract: Contract | None = None


def ask_by_schema(name: str, raw: bytes, terms: Terms) -> Asked | Unasked:
    """Read a schema strictly; a fault in it is one of registration (SPEC 15).

    ``name`` stands for it in reports; of more than ``SCHEMA_LIMITS`` one byte is enough.
    """
    source = Source(name=name, raw=raw, of_schema=True)
    bounded = bound_arguments(raw, SCHEMA_LIMITS, True)
    if isinstance(bounded, Rejected):
        return Unasked(findings=_as_registration(bounded), source=source)
    rule = ParseRule(ENGINE_MAX_DEPTH, shape_guard(ENGINE_MAX_DEPTH), "any")
    parsed = parse(bounded, rule)
    if isinstance(parsed, Rejected):
        return Unasked(findings=_as_registration(parsed), source=source)
    return Asked(question=_question(parsed, terms, None), source=source)


def _as_registration(rejected: Rejected) -> tuple[Finding, ...]:
    """A repeated member keeps its code; any other text that is no JSON is no schema either."""
    if rejected.code is Code.DUPLICATE_MEMBER:
        return rejected.findings
    first = rejected.findings[0] if rejected.findings else Finding(code=rejected.code)
    return (
        Finding(
            code=Code.SCHEMA_META_INVALID,
            hint=f"the schema file cannot be read as JSON: {rejected.code}",
            offset=first.offset,
            line=first.line,
            column=first.column,
        ),
    )


def ask_by_contract(path: str, terms: Terms) -> Asked | Unasked | Unbound | UnfitArguments:
    """Load the contract as its folder would, and take schema, limits, bind and freshness from it.

    Python that the contract names is not imported: judging a document runs nobody's code.
    """
    # A bare schema is judged without the reader of contracts, which is slow to import.
    from sluicegate.contracts.loading import load
    from sluicegate.opening.documents import read_folder

    file = Path(path)
    root = _root_of(file)
    folder = read_folder(root)
    name = file.resolve().relative_to(root.resolve()).as_posix()
    source = Source(name=path, raw=None, of_schema=True)
    loaded = load(folder.documents, resolve=_stand_in)
    if isinstance(loaded, tuple):
        mine = [problem for problem in loaded if problem.document == name]
        return Unasked(findings=tuple(map(_as_finding, mine or loaded)), source=source)
    for contract in loaded.contracts.values():
        if contract.source == name:
            question = _contract_question(contract, terms)
            if not isinstance(question, Question):
                return question
            return Asked(question=question, source=source, contract=contract)
    problem = Problem(
        code=Code.CONTRACT_INVALID,
        document=name,
        message="The folder does not take this file for a contract.",
        mend="Name it contract.yaml, in a folder of its own.",
    )
    return Unasked(findings=(_as_finding(problem),), source=source)


def _stand_in(name: PythonName) -> object:
    """Stand in the place of a Python name: admitted as the folder would, and never called."""
    return lambda: name


def _root_of(file: Path) -> Path:
    """The nearest folder above that holds sluicegate.yaml, else the contract's own."""
    for parent in file.resolve().parents[:3]:
        if (parent / SETTINGS_NAME).is_file():
            return parent
    return file.resolve().parent


def _as_finding(problem: Problem) -> Finding:
    return Finding(
        code=problem.code,
        schema_pointer=problem.pointer,
        hint=f"{problem.message} {problem.mend}".strip(),
        line=problem.line,
        column=problem.column,
    )


def _contract_question(contract: Contract, terms: Terms) -> Question | Unbound | UnfitArguments:
    part = contract.arguments if terms.side == "arguments" else contract.result
    limits = contract.call_limits if terms.side == "arguments" else contract.limits
    fresh = contract.result.fresh if terms.side == "result" else None
    own = _Own(limits=limits, integers=part.integers, fresh=fresh)
    question = _question(part.schema.document, terms, own)
    if terms.side == "arguments":
        return question
    bound = bind_by_contract(contract, terms.arguments, terms.bind)
    return replace(question, bind=bound) if isinstance(bound, dict) else bound


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    limits: Limits
    integers: Integers
    fresh: FreshRule | None


def _question(schema: object, terms: Terms, own: _Own | None) -> Question:
    limits = DEFAULT_LIMITS if own is None else own.limits
    fresh = terms.fresh if terms.fresh or own is None else own.fresh
    return Question(
        schema=schema,
        side=terms.side,
        strict=terms.strict or own is not None,
        limits=Limits(
            max_bytes=terms.max_bytes or limits.max_bytes,
            max_depth=terms.max_depth or limits.max_depth,
        ),
        integers=terms.integers or (own.integers if own else "any"),
        now=terms.now,
        request_id=terms.request_id,
        bind=terms.bind,
        fresh=fresh,
    )


def max_bytes_of(asked: Asked | Unasked, terms: Terms) -> int:
    """Return how large a document may be; one byte more shows that it is larger."""
    if isinstance(asked, Asked):
        return asked.question.limits.max_bytes
    return terms.max_bytes or DEFAULT_LIMITS.max_bytes


def judge_asked(asked: Asked | Unasked, raw: bytes, terms: Terms) -> Verdict:
    """Judge the document ``raw``; what stands against the schema is a verdict of registration."""
    if isinstance(asked, Asked):
        return name_bound(judge(raw, asked.question), terms.bind, asked.contract, terms.said)
    return Verdict(
        accepted=False,
        stage=Stage.REGISTER,
        code=asked.findings[0].code,
        findings=asked.findings,
        digest=digest_of_bytes(raw),
    )
