"""The contract's own rules on arguments: pure functions, all of them run (SPEC ARG-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NewType, Protocol

from sluicegate.checks.conformance import ConformingArguments
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.json import canonical_text
from sluicegate.values.rejections import Rejected

Sound = NewType("Sound", object)

_MAX_FINDINGS: Final = 20
_MAX_MESSAGE: Final = 2000


class ArgumentCheck(Protocol):
    """A pure function over the validated arguments."""

    def __call__(self, arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
        """Return findings; none means the rule holds."""


def check_arguments(
    conforming: ConformingArguments, checks: Sequence[ArgumentCheck], caller: Caller
) -> Sound | Rejected:
    """Run every one of ``checks``; the first that fails does not keep the others from being heard.

    Rejects: CHECK_FAILED (stage check) with at most 20 findings, whatever code they were given;
    INTERNAL where a check raises, returns what is no sequence of findings, or has changed the
    arguments: nobody knows then what would run. Source: SPEC ARG-5, ARG-6, RES-9.
    """
    minted: Any = conforming
    if not checks:
        return _mint(minted)
    before = canonical_text(minted)
    findings: list[Finding] = []
    for check in checks:
        try:
            found = check(minted, caller=caller)
            findings += _as_failures(found)
            unchanged = canonical_text(minted) == before
        except Exception as error:  # noqa: BLE001  (a check that raises has proved nothing: refused)
            return _internal(f"{_name(check)} raised {error!r}")
        if not unchanged:
            return _internal(f"{_name(check)} changed the arguments")
    if findings:
        return Rejected.because(Stage.CHECK, *findings[:_MAX_FINDINGS])
    return _mint(minted)


def _mint(minted: Any) -> Sound:
    sound: Sound = minted
    return sound


def _as_failures(found: Sequence[Finding]) -> list[Finding]:
    if not isinstance(found, list | tuple):
        raise TypeError(f"a check returns a list of findings, not {type(found).__name__}")
    for finding in found:
        if not isinstance(finding, Finding):
            raise TypeError(f"a check returns findings, not {type(finding).__name__}")
    return [
        finding if finding.code is Code.CHECK_FAILED else replace(finding, code=Code.CHECK_FAILED)
        for finding in found
    ]


def _internal(message: str) -> Rejected:
    return Rejected.because(
        Stage.INTERNAL,
        Finding(code=Code.INTERNAL, hint="one of the contract's own rules is defective"),
        engine_message=message[:_MAX_MESSAGE],
    )


def _name(check: ArgumentCheck) -> str:
    return f"{getattr(check, '__module__', '?')}:{getattr(check, '__qualname__', '?')}"
