"""Whether the answer was observed recently enough (SPEC RES-5: STALE, FROM_FUTURE, BAD_TIME)."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from sluicegate.contracts.contract import FreshRule
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.instants import NANOS, Instant, parse_rfc3339
from sluicegate.values.json import json_type
from sluicegate.values.pointers import NOTHING, Pointer

MAX_FINDINGS: Final = 20

_SECONDS: Final = {f"{second:02}Z": second * NANOS for second in range(60)}
"""The last three characters of a whole second in UTC. A leap second is not among them."""


@lru_cache(maxsize=128)
def _begin_minute(text: str) -> int | None:
    """Return the instant of ``YYYY-MM-DDTHH:MM:``, which answers to one gate have in common."""
    return parse_rfc3339(text + "00Z")


def read_instant(text: str) -> Instant | None:
    """Return exactly what ``parse_rfc3339`` returns, sooner for whole seconds written with Z."""
    second = _SECONDS.get(text[17:])
    if second is None:
        return parse_rfc3339(text)
    minute = _begin_minute(text[:17])
    return None if minute is None else Instant(minute + second)


class Freshness:
    """The time rule of one contract. Both edges belong to what is accepted."""

    __slots__ = ("_at", "_max_age", "_max_ahead", "_member", "_rule")

    def __init__(self, rule: FreshRule) -> None:
        self._rule = rule
        self._at: Pointer = rule.at
        self._member = (
            rule.at.segments[0] if len(rule.at.segments) == 1 and not rule.at.is_wild else None
        )
        # Differences of instants are whole nanoseconds: the floor of the exact limit decides
        # every one of them as the limit itself would.
        self._max_age = int(Fraction(rule.max_age_s) * NANOS // 1)
        self._max_ahead = int(Fraction(rule.max_ahead_s) * NANOS // 1)

    def refuse(self, data: object, now: Instant) -> list[Finding] | None:
        """Return None where every named time holds, else the findings, at most 20."""
        if self._member is not None and type(data) is dict:
            text = data.get(self._member)
            if type(text) is str:
                observed = read_instant(text)
                if (
                    observed is not None
                    and now - observed <= self._max_age
                    and observed - now <= self._max_ahead
                ):
                    return None
        return self._explain(data, now)

    def _explain(self, data: object, now: Instant) -> list[Finding] | None:
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

    def _judge(self, at: str, found: object, now: Instant) -> Finding | None:
        observed = read_instant(found) if type(found) is str else None
        if observed is None:
            return _bad_time(at, found)
        if now - observed > self._max_age:
            limit = f"at most {self._rule.max_age_s:g} s old"
            return Finding(code=Code.STALE, pointer=at, expected=limit, limit=limit)
        if observed - now > self._max_ahead:
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
