"""The rung that maps a wide answer into a new, narrow object (SPEC RES-3).

What no rule names is dropped here. The new object's members are the contract's own; values come
from the answer by reference, from a table of the contract, or from a normaliser.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NewType

from sluicegate.checks.narrowing_members import find_unknown_members
from sluicegate.checks.narrowing_values import NORMALISERS, REFUSED
from sluicegate.checks.unwrapping import Unwrapped
from sluicegate.contracts.contract import MapRule
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import MAX_FINDINGS, Finding
from sluicegate.values.json import json_type
from sluicegate.values.pointers import EVERY, NOTHING, Pointer, join_segments, step
from sluicegate.values.rejections import Rejected

Narrowed = NewType("Narrowed", object)


def narrow(unwrapped: Unwrapped, rules: Mapping[str, MapRule] | None) -> Narrowed | Rejected:
    """Return the object that ``rules`` build, or the same value where there are none.

    Rejects: NOT_FOUND_AT where a pointer finds nothing (or no array, with ``every``) and the
    member is not optional; UNMAPPED_VALUE outside a table without ``other``, and where a
    normaliser is in any doubt. At most 20 findings; pointers lead into the received answer.
    Source: SPEC RES-3.
    """
    if rules is None:
        value: object = unwrapped
    else:
        findings: list[Finding] = []
        value = _build(unwrapped, rules, (), findings)
        if findings:
            return Rejected.because(Stage.NARROW, *findings[:MAX_FINDINGS])
    minted: Any = value
    narrowed: Narrowed = minted
    return narrowed


def find_new_members(unwrapped: Unwrapped, known: frozenset[str]) -> tuple[Finding, ...]:
    """Return UPSTREAM_NEW_MEMBER for each member the provider never sent before, at most 20.

    ``known`` are pointer texts with ``*`` for items, as recorded at release. Source: SPEC RES-3.
    """
    return find_unknown_members(unwrapped, known)


def _build(
    source: object,
    rules: Mapping[str, MapRule],
    at: tuple[str | int, ...],
    findings: list[Finding],
) -> dict[str, object]:
    """Build one object; ``source`` stands at ``at`` and the rules' pointers start there."""
    built: dict[str, object] = {}
    for name, rule in rules.items():
        found = _find(source, rule.at)
        if found is NOTHING:
            if not rule.optional:
                _note(findings, Code.NOT_FOUND_AT, (*at, *rule.at.segments), name)
        elif rule.members is None and rule.values is None and rule.convert is None:
            built[name] = found
        else:
            built[name] = _take(found, rule, (*at, *rule.at.segments), name, findings)
    return built


def _find(source: object, at: Pointer) -> object:
    for segment in at.segments:
        if type(source) is dict:
            source = source.get(segment, NOTHING)
        else:
            source = step(source, segment)
    return source


def _take(
    found: object,
    rule: MapRule,
    at: tuple[str | int, ...],
    name: str,
    findings: list[Finding],
) -> object:
    if rule.members is None:
        return _normalise(found, rule, at, name, findings)
    if not rule.every:
        return _build(found, rule.members, at, findings)
    if not isinstance(found, list):
        _note(findings, Code.NOT_FOUND_AT, (*at, EVERY), name, "array", json_type(found))
        return None
    items = []
    for index, item in enumerate(found):
        items.append(_build(item, rule.members, (*at, index), findings))
        if len(findings) >= MAX_FINDINGS:
            break
    return items


def _normalise(
    found: object,
    rule: MapRule,
    at: tuple[str | int, ...],
    name: str,
    findings: list[Finding],
) -> object:
    """Convert first, then look up in the table: an integer can so be mapped by its text."""
    value = found
    if rule.convert is not None:
        normaliser = NORMALISERS[rule.convert]
        value = normaliser.convert(value)
        if value is REFUSED:
            expected = normaliser.expected
            _note(findings, Code.UNMAPPED_VALUE, at, name, expected, json_type(found))
            return None
    if rule.values is None:
        return value
    if isinstance(value, str) and value in rule.values:
        return rule.values[value]
    if rule.has_other and not isinstance(value, dict | list):
        return rule.other
    _note(
        findings,
        Code.UNMAPPED_VALUE,
        at,
        name,
        f"one of {len(rule.values)} declared values",
        json_type(found),
    )
    return None


def _note(
    findings: list[Finding],
    code: Code,
    at: tuple[str | int, ...],
    name: str,
    expected: str | None = None,
    received: str | None = None,
) -> None:
    findings.append(
        Finding(
            code=code,
            pointer=join_segments(at),
            expected=expected,
            received=received,
            hint=f"needed for the member {name}",
        )
    )
