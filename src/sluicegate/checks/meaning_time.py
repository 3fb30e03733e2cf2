"""Whether the answer was observed recently enough (SPEC RES-5: STALE, FROM_FUTURE, BAD_TIME)."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final

from sluicegate.contracts.contract import FreshRule
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.instants import NANOS, instant_of, parse_rfc3339
from sluicegate.values.json import json_type
from sluicegate.values.pointers import NOTHING, Pointer

MAX_FINDINGS: Final = 20

_read_time: Final = datetime.fromisoformat


class Freshness:
    """The time rule of one contract. Both edges belong to what is accepted."""

    __slots__ = ("_at", "_earliest", "_latest", "_max_age", "_max_ahead", "_member", "_rule")

    def __init__(self, rule: FreshRule) -> None:
        self._rule = rule
        self._at: Pointer = rule.at
        self._member = (
            rule.at.segments[0] if len(rule.at.segments) == 1 and not rule.at.is_wild else None
        )
        self._max_age = _nanos(rule.max_age_s)
        self._max_ahead = -_nanos(rule.max_ahead_s)
        # Ages of the common form are whole microseconds, so the floor decides each as the limit.
        self._earliest = _microseconds(self._max_age)
        self._latest = -_microseconds(-self._max_ahead)

    def refuse(self, data: object, now: datetime) -> list[Finding] | None:
        """Return None where every named time holds, else the findings, at most 20."""
        try:
            # The common form, YYYY-MM-DDTHH:MM:SSZ, is read natively, a tenth of the cost. Its
            # marks are looked at first: what else the reader takes, week dates for one, has others.
            text: str = data[self._member]  # type: ignore[index]  # see below
            if (
                len(text) == 20
                and text[4:20:3] == "--T::Z"
                and self._latest <= now - _read_time(text) <= self._earliest
            ):
                return None
        except (LookupError, TypeError, ValueError):
            pass  # No such member, no text, no such time: the places are looked at one by one.
        return self._explain(data, now)

    def _explain(self, data: object, moment: datetime) -> list[Finding] | None:
        now = instant_of(moment)
        findings = []
        judged = 0
        for at, found in self._at.every(data):
            judged += 1
            finding = self._judge(at, found, now)
            if finding is not None:
                findings.append(finding)
                if len(findings) == MAX_FINDINGS:
                    break
        if not judged:
            # A list without items bears no time at all, so nothing shows that it is recent.
            findings.append(_bad_time(self._at.text, NOTHING))
        return findings or None

    def _judge(self, at: str, found: object, now: int) -> Finding | None:
        observed = parse_rfc3339(found) if type(found) is str else None
        if observed is None:
            return _bad_time(at, found)
        age = now - observed
        if age > self._max_age:
            limit = f"at most {self._rule.max_age_s:g} s old"
            return Finding(code=Code.STALE, pointer=at, expected=limit, limit=limit)
        if age < self._max_ahead:
            limit = f"at most {self._rule.max_ahead_s:g} s ahead"
            return Finding(code=Code.FROM_FUTURE, pointer=at, expected=limit, limit=limit)
        return None


def _nanos(seconds: float) -> int:
    """Return the whole nanoseconds of a limit as its author wrote it: 0.3 is not 0.29999….

    Differences of instants are whole too, so the floor decides each of them as the limit would.
    """
    return int(Fraction(str(seconds)) * NANOS // 1)


def _microseconds(nanos: int) -> timedelta:
    """Return the whole microseconds of a limit, or the longest span there is."""
    longest = timedelta.max.days * 86_400 * NANOS
    return timedelta.max if nanos >= longest else timedelta(microseconds=nanos // 1000)


def _bad_time(at: str, found: object) -> Finding:
    return Finding(
        code=Code.BAD_TIME,
        pointer=at,
        expected="an RFC 3339 time with an offset",
        received=None if found is NOTHING else json_type(found),
    )
