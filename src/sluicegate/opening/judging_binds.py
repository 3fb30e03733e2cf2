"""What a judged document is bound to: values that were given, and those of a contract's rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from sluicegate.contracts.contract import Contract
from sluicegate.gates.judging import judge
from sluicegate.gates.verdicts import Question, Verdict
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbound:
    """The contract binds ``places``, and nothing gives their values.

    ``to_caller``: to who calls, whom no argument names.
    """

    places: tuple[str, ...]
    to_caller: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfitArguments:
    """The arguments that a result is bound to do not fit the contract; ``pointer`` says where."""

    code: Code | None
    pointer: str


Binds: TypeAlias = "dict[Pointer, JsonValue]"


def bind_by_contract(
    contract: Contract, arguments: bytes | None, given: Mapping[Pointer, JsonValue]
) -> Binds | Unbound | UnfitArguments:
    """Return what must stand where: ``given``, and what the contract binds to ``arguments``."""
    rules = [rule for rule in contract.result.bind if rule.data not in given]
    callers = [rule for rule in rules if rule.argument is None]
    if callers:
        return Unbound(places=(callers[0].data.text,), to_caller=True)
    if rules and arguments is None:
        return Unbound(places=tuple(rule.data.text for rule in rules))
    if arguments is None:
        return dict(given)
    unfit = _find_unfit(contract, arguments)
    if unfit is not None:
        return unfit
    asked: JsonValue = json.loads(arguments)
    bound: Binds = dict(given)
    for rule in rules:
        if rule.argument is not None:
            bound[rule.data] = _find(rule.argument, asked)
    return bound


def _find(pointer: Pointer, asked: JsonValue) -> JsonValue:
    found: JsonValue = pointer.find(asked)  # type: ignore[assignment]  # a bound one is required
    return found


def _find_unfit(contract: Contract, raw: bytes) -> UnfitArguments | None:
    verdict = judge(
        raw,
        Question(
            schema=contract.arguments.schema.document,
            side="arguments",
            strict=True,
            limits=contract.call_limits,
            integers=contract.arguments.integers,
        ),
    )
    if verdict.accepted:
        return None
    pointer = verdict.findings[0].pointer if verdict.findings else ""
    return UnfitArguments(code=verdict.code, pointer=pointer)


def name_bound(
    verdict: Verdict, given: Mapping[Pointer, JsonValue], contract: Contract | None, said: str
) -> Verdict:
    """Say of each wrong subject what it must equal, without the value.

    ``said`` names the values of ``given``.
    """
    own = {} if contract is None else {rule.data: rule.argument for rule in contract.result.bind}
    return replace(
        verdict,
        findings=tuple(
            replace(finding, expected=_wanted(finding, given, own, said))
            if finding.code is Code.WRONG_SUBJECT
            else finding
            for finding in verdict.findings
        ),
    )


def _wanted(
    finding: Finding,
    given: Mapping[Pointer, JsonValue],
    own: Mapping[Pointer, Pointer | None],
    said: str,
) -> str:
    if any(_leads_to(pointer, finding.pointer) for pointer in given):
        return f"exactly {said}"
    for pointer, argument in own.items():
        if argument is not None and _leads_to(pointer, finding.pointer):
            return f"exactly the argument {show_name(argument.text)}"
    return "exactly the value that it is bound to"


def _leads_to(pointer: Pointer, text: str) -> bool:
    segments = text.split("/")[1:]
    named = pointer.text.split("/")[1:]
    return len(segments) == len(named) and all(
        mine in (EVERY, theirs) for mine, theirs in zip(named, segments, strict=True)
    )
