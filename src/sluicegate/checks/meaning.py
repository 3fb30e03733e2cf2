"""The rung that asks whether a well-formed answer is the answer to our question (SPEC RES-5)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NewType

from sluicegate.checks.authentication import Authentic
from sluicegate.checks.conformance import ConformingData
from sluicegate.checks.meaning_affirmation import Affirmation, compile_affirmation
from sluicegate.checks.meaning_rules import ResultCheck, run_checks
from sluicegate.checks.meaning_subject import find_wrong_subjects, is_same
from sluicegate.checks.meaning_text import (
    cannot_hold_forbidden_text,
    find_forbidden_text,
    plan_free_text,
    text_guard,
)
from sluicegate.checks.meaning_time import Freshness
from sluicegate.checks.parsing import ParsedAnswer
from sluicegate.contracts.contract import BindRule, FreshRule
from sluicegate.contracts.schemas.compiled import Predicate
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.json import json_type
from sluicegate.values.pointers import NOTHING, Pointer
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

__all__ = ["Expectations", "ResultCheck", "Vouched", "Vouching", "prepare_vouching", "vouch"]

Vouched = NewType("Vouched", object)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What an answer must mean.

    ``free_text`` are data pointers (``*`` for items) where TAB and LF are admitted. ``envelope``:
    the parsed answer bears ``tool`` and ``request_id``, and both must be ours. ``tool_at`` and
    ``request_id_at``: where a bare schema describes an envelope; present, they must be ours.
    ``dated``: the schema asserts the format ``date-time`` where ``fresh`` looks.
    """

    bind: tuple[BindRule, ...]
    fresh: FreshRule | None
    checks: tuple[ResultCheck, ...]
    free_text: tuple[Pointer, ...]
    envelope: bool
    tool_at: Pointer | None
    request_id_at: Pointer | None
    dated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouching:
    """Expectations made ready. ``affirm`` is asked first, by a quick climb alone."""

    expected: Expectations
    freshness: Freshness | None
    is_clean: Predicate
    affirm: Affirmation | None


def prepare_vouching(expected: Expectations, *, quick: bool) -> Vouching:
    """Make the expectations ready, once a contract."""
    named_within = expected.tool_at is not None or expected.request_id_at is not None
    return Vouching(
        expected=expected,
        freshness=None if expected.fresh is None else Freshness(expected.fresh),
        is_clean=text_guard(expected.free_text),
        affirm=compile_affirmation(
            expected.bind, expected.fresh, dated=expected.dated, envelope=expected.envelope
        )
        if quick and not named_within
        else None,
    )


def vouch(
    conforming: ConformingData,
    parsed: ParsedAnswer,
    raw: Authentic,
    vouching: Vouching,
    request: Request,
    *,
    now: datetime,
) -> Vouched | Rejected:
    """Hold the data to the outstanding question; the first kind of fault wins.

    Rejects (stage vouch), in this order: WRONG_TOOL, WRONG_REQUEST, WRONG_SUBJECT; STALE,
    FROM_FUTURE or BAD_TIME; FORBIDDEN_TEXT; CHECK_FAILED. INTERNAL (stage internal) for a check
    that is itself defective. ``parsed`` is the document around the data; ``raw`` only shortens
    the search for forbidden text. Source: SPEC RES-5, ENV-3.
    """
    affirm = vouching.affirm
    if affirm is None or not affirm(conforming, parsed, request, now):
        findings = _find_foreign(conforming, parsed, vouching, request, now)
        if findings:
            return Rejected.because(Stage.VOUCH, *findings)
    # A text that was declared as one is not JSON: its raw control characters prove nothing.
    if not cannot_hold_forbidden_text(raw) or isinstance(parsed, str):
        forbidden = _find_forbidden(conforming, vouching)
        if forbidden:
            return Rejected.because(Stage.VOUCH, *forbidden)
    checks = vouching.expected.checks
    if checks:
        failed = run_checks(checks, conforming, parsed, request, now)
        if failed is not None:
            return failed
    minted: Any = conforming
    vouched: Vouched = minted
    return vouched


def _find_foreign(
    data: object, parsed: object, vouching: Vouching, request: Request, now: datetime
) -> list[Finding]:
    """Ask whether it is ours, about our subject, and recent; the first kind of fault is told."""
    wrong = _find_wrong_identity(data, parsed, vouching.expected, request)
    if wrong is not None:
        return [wrong]
    subjects = find_wrong_subjects(data, vouching.expected.bind, request)
    if subjects or vouching.freshness is None:
        return subjects
    return vouching.freshness.refuse(data, now)


def _find_wrong_identity(
    data: object, parsed: object, expected: Expectations, request: Request
) -> Finding | None:
    """Compare the names that the answer bears with ours: the tool first, then the request."""
    if expected.envelope:
        members = parsed if isinstance(parsed, dict) else {}
        if not is_same(members.get("tool", NOTHING), request.tool):
            return _describe(Code.WRONG_TOOL, "/tool", members.get("tool"))
        if not is_same(members.get("request_id", NOTHING), request.request_id):
            return _describe(Code.WRONG_REQUEST, "/request_id", members.get("request_id"))
    for at, ours, code in (
        (expected.tool_at, request.tool, Code.WRONG_TOOL),
        (expected.request_id_at, request.request_id, Code.WRONG_REQUEST),
    ):
        if at is None:
            continue
        found = at.find(data)
        if found is not NOTHING and not is_same(found, ours):
            return _describe(code, at.text, found)
    return None


def _find_forbidden(data: object, vouching: Vouching) -> tuple[Finding, ...]:
    try:
        if vouching.is_clean(data):
            return ()
    except ValueError:
        pass  # A text the engine cannot read, which the search below can, and tells of.
    return find_forbidden_text(data, plan_free_text(vouching.expected.free_text))


def _describe(code: Code, pointer: str, found: object) -> Finding:
    ours = "the tool that was called" if code is Code.WRONG_TOOL else "the outstanding request's id"
    return Finding(code=code, pointer=pointer, expected=ours, received=json_type(found))
