"""The contract's own rules on arguments: pure functions, all of them run (SPEC ARG-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NewType, Protocol

from sluicegate.checks.conformance import ConformingArguments
from sluicegate.checks.own_rules import run_own_rules
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Stage
from sluicegate.values.findings import Finding
from sluicegate.values.json import canonical_text
from sluicegate.values.rejections import Rejected

Sound = NewType("Sound", object)


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
    failed = run_own_rules(
        checks,
        lambda check: check(minted, caller=caller),
        lambda: canonical_text(minted),
        Stage.CHECK,
    )
    return _mint(minted) if failed is None else failed


def _mint(minted: Any) -> Sound:
    sound: Sound = minted
    return sound
