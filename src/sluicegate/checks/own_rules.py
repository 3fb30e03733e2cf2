"""Running the rules that a contract brings: all of them, none trusted (SPEC ARG-6, RES-5)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace

from sluicegate.values.codes import Code, Stage
from sluicegate.values.failures import INTERRUPTIONS
from sluicegate.values.findings import MAX_ENGINE_MESSAGE, MAX_FINDINGS, Finding
from sluicegate.values.rejections import Rejected


def run_own_rules(
    rules: Sequence[Callable[..., object]],
    ask: Callable[[Callable[..., object]], object],
    fingerprint: Callable[[], object],
    stage: Stage,
) -> Rejected | None:
    """Run every rule, whatever the others say; None where all hold.

    ``ask`` calls one rule with what it judges; ``fingerprint`` is of all that it was given.
    Rejects: CHECK_FAILED (at ``stage``) with at most 20 findings, whatever code they bore;
    INTERNAL where a rule raised, is a coroutine function, returned what is no list of findings, or
    changed what it was given: nobody knows then what would be believed.
    """
    findings: list[Finding] = []
    defect: str | None = None
    try:
        before = fingerprint()
        for rule in rules:
            failed = _run(rule, ask)
            if isinstance(failed, str):
                defect = defect or failed
            else:
                findings += failed
        if fingerprint() != before:
            defect = "a rule changed what it was given: " + ", ".join(map(_name, rules))
    except INTERRUPTIONS:
        raise
    except BaseException as error:  # noqa: BLE001  (what cannot be compared is not believed)
        defect = defect or f"the rules could not be held to their word: {error!r}"
    if defect is not None:
        return Rejected.because(
            Stage.INTERNAL,
            Finding(code=Code.INTERNAL, hint="one of the contract's own rules is defective"),
            engine_message=defect[:MAX_ENGINE_MESSAGE],
        )
    return Rejected.because(stage, *findings[:MAX_FINDINGS]) if findings else None


def _run(
    rule: Callable[..., object], ask: Callable[[Callable[..., object]], object]
) -> list[Finding] | str:
    """Return the findings of one rule, or what is wrong with the rule itself."""
    try:
        found = ask(rule)
    except INTERRUPTIONS:
        raise
    except BaseException as error:  # noqa: BLE001  (a rule that raises has proved nothing: refused)
        return f"{_name(rule)} raised {error!r}"
    if inspect.iscoroutine(found):
        found.close()
        return f"{_name(rule)} is a coroutine function; a rule is a plain one"
    if not isinstance(found, list | tuple):
        return f"{_name(rule)} returned {type(found).__name__}, not a list of findings"
    findings = []
    for finding in found:
        if not isinstance(finding, Finding):
            return f"{_name(rule)} returned a {type(finding).__name__} among its findings"
        findings.append(replace(finding, code=Code.CHECK_FAILED))
    return findings


def _name(rule: Callable[..., object]) -> str:
    return f"{getattr(rule, '__module__', '?')}:{getattr(rule, '__qualname__', '?')}"
