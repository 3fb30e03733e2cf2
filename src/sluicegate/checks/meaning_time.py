"""Whether the answer was observed recently enough (SPEC RES-5: STALE, FROM_FUTURE, BAD_TIME)."""

from __future__ import annotations

from datetime import datetime

from sluicegate.contracts.contract import FreshRule
from sluicegate.values.codes import Code
from sluicegate.values.findings import MAX_FINDINGS, Finding
from sluicegate.values.instants import instant_of, nanos_of, parse_rfc3339
from sluicegate.values.json import json_type
from sluicegate.values.pointers import NOTHING, Pointer


class Freshness:
    """The time rule of one contract. Both edges belong to what is accepted."""

    __slots__ = ("_at", "_max_age", "_max_ahead", "_rule")

    def __init__(self, rule: FreshRule) -> None:
        self._rule = rule
        self._at: Pointer = rule.at
        self._max_age = nanos_of(rule.max_age_s)
        self._max_ahead = nanos_of(rule.max_ahead_s)

    def refuse(self, data: object, moment: datetime) -> list[Finding]:
        """Return a finding for each named time that does not hold, at most 20."""
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
        return findings

    def _judge(self, at: str, found: object, now: int) -> Finding | None:
        observed = parse_rfc3339(found) if type(found) is str else None
        if observed is None:
            return _bad_time(at, found)
        age = now - observed
        if age > self._max_age:
            limit = f"at most {self._rule.max_age_s:g} s old"
            return Finding(code=Code.STALE, pointer=at, expected=limit, limit=limit)
        if age < -self._max_ahead:
            limit = f"at most {self._rule.max_ahead_s:g} s ahead"
            return Finding(code=Code.FROM_FUTURE, pointer=at, expected=limit, limit=limit)
        return None


def _bad_time(at: str, found: object) -> Finding:
    return Finding(
        code=Code.BAD_TIME,
        pointer=at,
        expected="an RFC 3339 time with an offset",
        received=None if found is NOTHING else json_type(found),
    )
