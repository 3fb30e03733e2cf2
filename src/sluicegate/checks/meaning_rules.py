"""The contract's own rules on an answer: pure functions, all of them run (SPEC RES-5)."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.instants import Instant
from sluicegate.values.json import canonical_text
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

MAX_FINDINGS: Final = 20
MAX_MESSAGE: Final = 2000

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class ResultCheck(Protocol):
    """A pure function over the conforming data (SPEC 2, ``result.checks``)."""

    def __call__(
        self, data: object, *, document: object, request: Request, now: datetime
    ) -> Sequence[Finding]:
        """Return findings; none means the rule holds."""


def run_checks(
    checks: Sequence[ResultCheck], data: object, document: object, request: Request, now: Instant
) -> Rejected | None:
    """Run every check, whatever the others say; None where all hold.

    Rejects: CHECK_FAILED (stage vouch) with at most 20 findings, whatever code they bore;
    INTERNAL where a check raised, returned what is no list of findings, or changed the data, the
    received document or the arguments. Source: SPEC RES-5, RES-9.
    """
    findings: list[Finding] = []
    defect: str | None = None
    try:
        moment = _EPOCH + timedelta(microseconds=now // 1000)
        before = _fingerprint(data, document, request)
        for check in checks:
            failed = _run(check, data, document, request, moment)
            if isinstance(failed, str):
                defect = defect or failed
            else:
                findings += failed
        if _fingerprint(data, document, request) != before:
            defect = "a check changed what it was given: " + ", ".join(map(_name, checks))
    except Exception as error:  # noqa: BLE001  (whatever cannot be compared is not vouched for)
        defect = defect or f"the checks could not be held to their word: {error!r}"
    if defect is not None:
        return Rejected.because(
            Stage.INTERNAL,
            Finding(code=Code.INTERNAL, hint="one of the contract's own checks is defective"),
            engine_message=defect[:MAX_MESSAGE],
        )
    return Rejected.because(Stage.VOUCH, *findings[:MAX_FINDINGS]) if findings else None


def _run(
    check: ResultCheck, data: object, document: object, request: Request, now: datetime
) -> list[Finding] | str:
    """Return the findings of one check, or what is wrong with the check itself."""
    try:
        found: object = check(data, document=document, request=request, now=now)
    except Exception as error:  # noqa: BLE001  (a check that raises has proved nothing: refused)
        return f"{_name(check)} raised {error!r}"
    if inspect.iscoroutine(found):
        found.close()
        return f"{_name(check)} is a coroutine function; a check is a plain one"
    if not isinstance(found, list | tuple):
        return f"{_name(check)} returned {type(found).__name__}, not a list of findings"
    findings = []
    for finding in found:
        if not isinstance(finding, Finding):
            return f"{_name(check)} returned a {type(finding).__name__} among its findings"
        findings.append(replace(finding, code=Code.CHECK_FAILED))
    return findings


def _fingerprint(data: object, document: object, request: Request) -> tuple[str, str, str]:
    return canonical_text(data), canonical_text(document), canonical_text(request.arguments)


def _name(check: ResultCheck) -> str:
    return f"{getattr(check, '__module__', '?')}:{getattr(check, '__qualname__', '?')}"
