"""The rung that asks whether a well-formed answer is the answer to our question (SPEC RES-5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NewType

from sluicegate.checks.authentication import Authentic
from sluicegate.checks.conformance import ConformingData
from sluicegate.checks.meaning_affirmation import Affirmation, compile_affirmation
from sluicegate.checks.meaning_rules import ResultCheck, run_checks
from sluicegate.checks.meaning_subject import find_strangers, is_same
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

__all__ = ["Expectations", "ResultCheck", "Vouched", "vouch"]

Vouched = NewType("Vouched", object)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What an answer must mean, prepared once.

    ``free_text`` are data pointers (``*`` for items) where TAB and LF are admitted. ``envelope``:
    the parsed answer bears ``tool`` and ``request_id``, and both must be ours. ``tool_at`` and
    ``request_id_at``: where a bare schema describes an envelope; present, they must be ours.
    """

    bind: tuple[BindRule, ...]
    fresh: FreshRule | None
    checks: tuple[ResultCheck, ...]
    free_text: tuple[Pointer, ...]
    envelope: bool
    tool_at: Pointer | None
    request_id_at: Pointer | None
    freshness: Freshness | None = field(init=False, repr=False, compare=False)
    affirm: Affirmation | None = field(init=False, repr=False, compare=False)
    is_clean: Predicate = field(init=False, repr=False, compare=False)
    names_us: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare the rules; the derived fields say nothing that the others do not."""
        prepare = object.__setattr__
        prepare(self, "freshness", None if self.fresh is None else Freshness(self.fresh))
        prepare(self, "is_clean", text_guard(self.free_text))
        prepare(self, "affirm", self._compile_affirmation())
        named = self.envelope or self.tool_at is not None or self.request_id_at is not None
        prepare(self, "names_us", named)

    def _compile_affirmation(self) -> Affirmation | None:
        names_within = self.tool_at is not None or self.request_id_at is not None
        if self.checks or names_within:
            return None
        return compile_affirmation(self.bind, self.fresh, envelope=self.envelope)


def vouch(
    conforming: ConformingData,
    parsed: ParsedAnswer,
    raw: Authentic,
    expectations: Expectations,
    request: Request,
    now: datetime,
) -> Vouched | Rejected:
    """Hold the data to the outstanding question; the first kind of fault wins.

    Rejects (stage vouch), in this order: WRONG_TOOL, WRONG_REQUEST, WRONG_SUBJECT; STALE,
    FROM_FUTURE or BAD_TIME; FORBIDDEN_TEXT; CHECK_FAILED. INTERNAL (stage internal) for a check
    that is itself defective. ``parsed`` is the document around the data; ``raw`` only shortens
    the search for forbidden text. What holds at a glance is affirmed; what is not affirmed is
    judged. Source: SPEC RES-5, ENV-3.
    """
    affirm = expectations.affirm
    if affirm is None or not affirm(conforming, parsed, raw, request, now):
        rejected = _refuse(conforming, parsed, raw, expectations, request, now)
        if rejected is not None:
            return rejected
    minted: Any = conforming
    vouched: Vouched = minted
    return vouched


def _refuse(
    conforming: ConformingData,
    parsed: ParsedAnswer,
    raw: Authentic,
    expectations: Expectations,
    request: Request,
    now: datetime,
) -> Rejected | None:
    """Return what the rules find, one rule after another; None where all of them hold."""
    if expectations.names_us:
        stranger = _find_stranger(conforming, parsed, expectations, request)
        if stranger is not None:
            return Rejected.because(Stage.VOUCH, stranger)
    strangers = find_strangers(conforming, expectations.bind, request)
    if strangers:
        return Rejected.because(Stage.VOUCH, *strangers)
    if expectations.freshness is not None:
        untimely = expectations.freshness.refuse(conforming, now)
        if untimely:
            return Rejected.because(Stage.VOUCH, *untimely)
    # A text that was declared as one is not JSON: its raw control characters prove nothing.
    if isinstance(parsed, str) or not cannot_hold_forbidden_text(raw):
        hidden = _find_hidden(conforming, expectations)
        if hidden:
            return Rejected.because(Stage.VOUCH, *hidden)
    if expectations.checks:
        return run_checks(expectations.checks, conforming, parsed, request, now)
    return None


def _find_hidden(data: object, expectations: Expectations) -> tuple[Finding, ...]:
    try:
        if expectations.is_clean(data):
            return ()
    except ValueError:
        pass  # A text the engine cannot read, which the search below can, and tells of.
    return find_forbidden_text(data, plan_free_text(expectations.free_text))


def _find_stranger(
    data: object, parsed: object, expectations: Expectations, request: Request
) -> Finding | None:
    """Compare the names that the answer bears with ours: the tool first, then the request."""
    if expectations.envelope:
        members = parsed if type(parsed) is dict else {}
        if not is_same(members.get("tool", NOTHING), request.tool):
            return _describe(Code.WRONG_TOOL, "/tool", members.get("tool"))
        if not is_same(members.get("request_id", NOTHING), request.request_id):
            return _describe(Code.WRONG_REQUEST, "/request_id", members.get("request_id"))
    for at, ours, code in (
        (expectations.tool_at, request.tool, Code.WRONG_TOOL),
        (expectations.request_id_at, request.request_id, Code.WRONG_REQUEST),
    ):
        if at is None:
            continue
        found = at.find(data)
        if found is not NOTHING and not is_same(found, ours):
            return _describe(code, at.text, found)
    return None


def _describe(code: Code, pointer: str, found: object) -> Finding:
    ours = "the tool that was called" if code is Code.WRONG_TOOL else "the outstanding request's id"
    return Finding(code=code, pointer=pointer, expected=ours, received=json_type(found))
