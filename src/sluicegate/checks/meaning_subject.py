"""Whether the answer is about the subject that was asked for (SPEC RES-5, WRONG_SUBJECT)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sluicegate.contracts.contract import BindRule
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.findings import MAX_FINDINGS, Finding
from sluicegate.values.json import json_type
from sluicegate.values.pointers import NOTHING
from sluicegate.values.requests import Request


def is_same(left: object, right: object) -> bool:
    """Whether two JSON values are equal in type and value, at every level.

    Stricter than JSON Schema: ``1``, ``1.0``, ``true`` and ``"1"`` are four values, texts are
    compared code point by code point, and nothing equals what is absent. Of numbers, ``0.0`` and
    ``-0.0`` are one value. Objects are equal whatever the order of their members.
    """
    pending = [(left, right)]
    while pending:
        left, right = pending.pop()
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            if left.keys() != right.keys():
                return False
            pending.extend((left[name], right[name]) for name in left)
        elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
            if len(left) != len(right):
                return False
            pending.extend(zip(left, right, strict=True))
        elif left is NOTHING or type(left) is not type(right) or left != right:
            return False
    return True


def find_wrong_subjects(data: object, rules: Sequence[BindRule], request: Request) -> list[Finding]:
    """Return WRONG_SUBJECT for each bound place that does not hold what was asked for, ≤ 20.

    A wild place holds it where every item does; no item, no stranger. An argument or a caller's
    member that does not exist is equal to nothing.
    """
    findings: list[Finding] = []
    for rule in rules:
        wanted = _wanted(rule, request)
        for at, found in rule.data.every(data):
            if not is_same(found, wanted):
                findings.append(_describe(rule, at, found))
                if len(findings) == MAX_FINDINGS:
                    return findings
    return findings


def _wanted(rule: BindRule, request: Request) -> object:
    if rule.argument is not None:
        return rule.argument.find(request.arguments)
    return _member_of(request.caller, rule.caller)


def _member_of(caller: Caller, member: str | None) -> object:
    value = getattr(caller, member) if member in ("subject", "tenant") else None
    return NOTHING if value is None else value


def _describe(rule: BindRule, at: str, found: object) -> Finding:
    origin = f"argument {rule.argument}" if rule.argument is not None else f"caller's {rule.caller}"
    return Finding(
        code=Code.WRONG_SUBJECT,
        pointer=at,
        expected=f"exactly the {origin}",
        received=None if found is NOTHING else json_type(found),
    )
