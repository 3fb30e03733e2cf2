"""What ``judge`` binds a document to: values of --bind, and a contract's rule by --arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import click

from sluicegate.contracts.contract import Contract
from sluicegate.gates.judging import judge
from sluicegate.gates.verdicts import Question, Verdict
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer

_ARGUMENTS: Final = "--arguments"


def bind_by_contract(
    contract: Contract, arguments: bytes | None, given: Mapping[Pointer, JsonValue]
) -> dict[Pointer, JsonValue]:
    """Return what must stand where: ``given``, and what the contract binds to ``arguments``.

    Raises: click.UsageError where the contract binds a place that nothing gives a value for;
    click.BadParameter for arguments that do not fit the contract.
    """
    rules = [rule for rule in contract.result.bind if rule.data not in given]
    callers = [rule for rule in rules if rule.argument is None]
    if callers:
        at = show_name(callers[0].data.text)
        raise click.UsageError(f"this contract binds {at} to the caller: give --bind {at}=VALUE")
    if rules and arguments is None:
        at = ", ".join(show_name(rule.data.text) for rule in rules)
        raise click.UsageError(f"this contract binds {at}: give --arguments or --bind")
    if arguments is None:
        return dict(given)
    asked = _read_arguments(contract, arguments)
    bound: dict[Pointer, JsonValue] = dict(given)
    for rule in rules:
        if rule.argument is not None:
            bound[rule.data] = _find(rule.argument, asked)
    return bound


def _find(pointer: Pointer, asked: JsonValue) -> JsonValue:
    found: JsonValue = pointer.find(asked)  # type: ignore[assignment]  # a bound one is required
    return found


def _read_arguments(contract: Contract, raw: bytes) -> JsonValue:
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
    if not verdict.accepted:
        at = verdict.findings[0].pointer if verdict.findings else ""
        raise click.BadParameter(
            f"they do not fit the contract: {verdict.code} at {at or 'the whole document'}",
            param_hint=_ARGUMENTS,
        )
    asked: JsonValue = json.loads(raw)
    return asked


def name_bound(
    verdict: Verdict, given: Mapping[Pointer, JsonValue], contract: Contract | None
) -> Verdict:
    """Say of each wrong subject what it must equal, without the value: the option that gave it."""
    own = {} if contract is None else {rule.data: rule.argument for rule in contract.result.bind}
    return replace(
        verdict,
        findings=tuple(
            replace(finding, expected=_wanted(finding, given, own))
            if finding.code is Code.WRONG_SUBJECT
            else finding
            for finding in verdict.findings
        ),
    )


def _wanted(
    finding: Finding,
    given: Mapping[Pointer, JsonValue],
    own: Mapping[Pointer, Pointer | None],
) -> str:
    if any(_leads_to(pointer, finding.pointer) for pointer in given):
        return "exactly the value given with --bind"
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
