"""Running the rules that a contract brings: all of them, none trusted (SPEC ARG-6, RES-5)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sluicegate.values.codes import Code, Stage
from sluicegate.values.failures import INTERRUPTIONS
from sluicegate.values.findings import MAX_ENGINE_MESSAGE, MAX_FINDINGS, Finding
from sluicegate.values.names import show_name, show_sentence
from sluicegate.values.rejections import Rejected


@dataclass(frozen=True, slots=True)
class _Defect:
    """What is wrong with a rule: ``hint`` for operators, without a byte of what it judged or said;
    ``message`` for custody, with the text of the exception."""

    hint: str
    message: str = ""


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
    defect: _Defect | None = None
    try:
        before = fingerprint()
        for rule in rules:
            failed = _run(rule, ask)
            if isinstance(failed, _Defect):
                defect = defect or failed
            else:
                findings += failed
        if fingerprint() != before:
            names = ", ".join(map(_name, rules))
            defect = _Defect(f"a rule of the contract's own changed what it was given: {names}")
    except INTERRUPTIONS:
        raise
    except BaseException as error:  # noqa: BLE001  (what cannot be compared is not believed)
        defect = defect or _Defect(
            f"the contract's own rules could not be held to their word: {_type(error)}",
            f"the rules could not be held to their word: {error!r}",
        )
    if defect is not None:
        return Rejected.because(
            Stage.INTERNAL,
            Finding(code=Code.INTERNAL, hint=defect.hint),
            engine_message=(defect.message or defect.hint)[:MAX_ENGINE_MESSAGE],
        )
    return Rejected.because(stage, *findings[:MAX_FINDINGS]) if findings else None


def _run(
    rule: Callable[..., object], ask: Callable[[Callable[..., object]], object]
) -> list[Finding] | _Defect:
    """Return the findings of one rule, or what is wrong with the rule itself."""
    try:
        found = ask(rule)
    except INTERRUPTIONS:
        raise
    except BaseException as error:  # noqa: BLE001  (a rule that raises has proved nothing: refused)
        name = _name(rule)
        return _Defect(f"{name} raised {_type(error)}", f"{name} raised {error!r}")
    if inspect.iscoroutine(found):
        found.close()
        return _Defect(f"{_name(rule)} is a coroutine function; a rule is a plain one")
    if not isinstance(found, list | tuple):
        return _Defect(f"{_name(rule)} returned {_type(found)}, not a list of findings")
    findings = []
    for finding in found:
        if not isinstance(finding, Finding):
            return _Defect(f"{_name(rule)} returned a {_type(finding)} among its findings")
        findings.append(replace(finding, code=Code.CHECK_FAILED))
    return findings


def _name(rule: Callable[..., object]) -> str:
    module, name = getattr(rule, "__module__", "?"), getattr(rule, "__qualname__", "?")
    return show_sentence(f"{module}:{name}")


def _type(value: object) -> str:
    return show_name(type(value).__name__)
