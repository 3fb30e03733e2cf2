"""From the options of ``judge`` to the question, or to what stands against the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

from sluicegate.checks.bounds import bound_arguments
from sluicegate.checks.parsing import ParseRule, parse
from sluicegate.cli import times
from sluicegate.cli.judge_binds import bind_by_contract
from sluicegate.cli.reading import read_input
from sluicegate.contracts.contract import Contract, FreshRule, Integers, PythonName
from sluicegate.contracts.file_names import SETTINGS_NAME
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.schemas.guards import shape_guard
from sluicegate.gates.verdicts import Question
from sluicegate.rendering.places import Source
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.limits import ENGINE_MAX_DEPTH, Limits
from sluicegate.values.pointers import Pointer
from sluicegate.values.rejections import Rejected

DEFAULT_LIMITS: Final = Limits(max_bytes=262_144, max_depth=32)
_SCHEMA_LIMITS: Final = Limits(max_bytes=4_194_304, max_depth=ENGINE_MAX_DEPTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one judgement; None where the schema's or contract's own word holds."""

    side: Literal["arguments", "result"]
    strict: bool
    max_bytes: int | None
    max_depth: int | None
    integers: Integers | None
    now: datetime | None
    request_id: str | None
    bind: Mapping[Pointer, JsonValue]
    fresh: FreshRule | None
    arguments: bytes | None = None


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


def ask_by_schema(path: str, options: Options) -> Asked | Unasked:
    """Read a schema file strictly; a fault in it is one of registration (SPEC 15)."""
    raw = read_input(path, _SCHEMA_LIMITS.max_bytes)
    source = Source(name=path, raw=raw, of_schema=True)
    bounded = bound_arguments(raw, _SCHEMA_LIMITS, True)
    if isinstance(bounded, Rejected):
        return Unasked(findings=_as_registration(bounded), source=source)
    rule = ParseRule(ENGINE_MAX_DEPTH, shape_guard(ENGINE_MAX_DEPTH), "any")
    parsed = parse(bounded, rule)
    if isinstance(parsed, Rejected):
        return Unasked(findings=_as_registration(parsed), source=source)
    return Asked(question=_question(parsed, options, None), source=source)


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


def ask_by_contract(path: str, options: Options) -> Asked | Unasked:
    """Load the contract as its folder would, and take schema, limits, bind and freshness from it.

    Python that the contract names is not imported: judging a document runs nobody's code.
    """
    from sluicegate.contracts.loading import load
    from sluicegate.opening.documents import read_folder

    read_input(path, _SCHEMA_LIMITS.max_bytes)
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
            question = _contract_question(contract, options)
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


def _contract_question(contract: Contract, options: Options) -> Question:
    part = contract.arguments if options.side == "arguments" else contract.result
    limits = contract.call_limits if options.side == "arguments" else contract.limits
    fresh = contract.result.fresh if options.side == "result" else None
    own = _Own(limits=limits, integers=part.integers, fresh=fresh)
    question = _question(part.schema.document, options, own)
    if options.side == "arguments":
        return question
    return replace(question, bind=bind_by_contract(contract, options.arguments, options.bind))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Own:
    limits: Limits
    integers: Integers
    fresh: FreshRule | None


def _question(schema: object, options: Options, own: _Own | None) -> Question:
    limits = DEFAULT_LIMITS if own is None else own.limits
    fresh = options.fresh if options.fresh or own is None else own.fresh
    return Question(
        schema=schema,
        side=options.side,
        strict=options.strict or own is not None,
        limits=Limits(
            max_bytes=options.max_bytes or limits.max_bytes,
            max_depth=options.max_depth or limits.max_depth,
        ),
        integers=options.integers or (own.integers if own else "any"),
        now=options.now or (times.now() if fresh else None),
        request_id=options.request_id,
        bind=options.bind,
        fresh=fresh,
    )
