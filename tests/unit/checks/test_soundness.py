"""The contract's own rules on arguments: all run, none may change what would be executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from sluicegate.checks.soundness import ArgumentCheck, check_arguments
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.rejections import Rejected

CALLER = Caller(subject="svc-deploy", tenant="t-1")


def finding(pointer: str, code: Code = Code.CHECK_FAILED) -> Finding:
    return Finding(code=code, pointer=pointer, hint="choose another one")


def fine(arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
    return []


def only_own_tenant(arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
    return [] if arguments["tenant"] == caller.tenant else [finding("/tenant")]


def other_code(arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
    return (finding("/other", Code.DENIED),)


def talkative(arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
    return [finding(f"/{number}") for number in range(50)]


def raising(arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
    raise LookupError("no such table")


def changing(arguments: Any, *, caller: Caller) -> Sequence[Finding]:
    arguments["items"].append(1)
    return []


def silent(arguments: Mapping[str, object], *, caller: Caller) -> Any:
    return None


def truthful(arguments: Mapping[str, object], *, caller: Caller) -> Any:
    return [True]


async def waiting(arguments: Mapping[str, object], *, caller: Caller) -> Sequence[Finding]:
    return []


def outcome_of(*checks: Any, tenant: str = "t-1") -> Any:
    arguments: Any = {"tenant": tenant, "items": []}
    return arguments, check_arguments(arguments, checks, CALLER)


@pytest.mark.requirement("ARG-6")
@pytest.mark.parametrize("checks", [(), (fine,), (fine, only_own_tenant)], ids=len)
def test_arguments_that_keep_every_rule_pass_as_they_are(checks: Sequence[ArgumentCheck]) -> None:
    arguments, outcome = outcome_of(*checks)
    assert outcome is arguments


@pytest.mark.requirement("ARG-6", "CODES")
def test_every_rule_runs_and_every_finding_is_told() -> None:
    _, outcome = outcome_of(only_own_tenant, fine, other_code, tenant="t-2")
    assert (str(outcome.stage), str(outcome.code)) == ("check", "CHECK_FAILED")
    assert [(str(found.code), found.pointer) for found in outcome.findings] == [
        ("CHECK_FAILED", "/tenant"),
        ("CHECK_FAILED", "/other"),
    ]


@pytest.mark.requirement("ARG-6")
def test_at_most_twenty_findings_are_told() -> None:
    _, outcome = outcome_of(talkative)
    assert [found.pointer for found in outcome.findings] == [f"/{n}" for n in range(20)]


@pytest.mark.requirement("ARG-6", "RES-9")
@pytest.mark.parametrize("check", [raising, changing, silent, truthful])
def test_a_defective_rule_closes_the_call(check: Any) -> None:
    _, outcome = outcome_of(fine, check)
    assert isinstance(outcome, Rejected)
    assert (str(outcome.stage), str(outcome.code)) == ("internal", "INTERNAL")
    assert outcome.engine_message is not None
    assert check.__name__ in outcome.engine_message


@pytest.mark.filterwarnings("ignore:coroutine 'waiting' was never awaited:RuntimeWarning")
def test_a_rule_that_must_be_awaited_is_defective() -> None:
    _, outcome = outcome_of(waiting)
    assert str(outcome.code) == "INTERNAL"
