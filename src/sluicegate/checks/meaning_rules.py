"""The contract's own rules on an answer: pure functions, all of them run (SPEC RES-5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sluicegate.checks.own_rules import run_own_rules
from sluicegate.values.codes import Stage
from sluicegate.values.findings import Finding
from sluicegate.values.json import canonical_text
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request


class ResultCheck(Protocol):
    """A pure function over the conforming data (SPEC 2, ``result.checks``)."""

    def __call__(
        self, data: object, *, document: object, request: Request, now: datetime
    ) -> Sequence[Finding]:
        """Return findings; none means the rule holds."""


def run_checks(
    checks: Sequence[ResultCheck], data: object, document: object, request: Request, now: datetime
) -> Rejected | None:
    """Run every check, whatever the others say; None where all hold.

    Rejects: CHECK_FAILED (stage vouch) with at most 20 findings, whatever code they bore;
    INTERNAL where a check raised, returned what is no list of findings, or changed the data, the
    received document or the arguments. Source: SPEC RES-5, RES-9.
    """
    return run_own_rules(
        checks,
        lambda check: check(data, document=document, request=request, now=now),
        lambda: [canonical_text(value) for value in (data, document, request.arguments)],
        Stage.VOUCH,
    )
