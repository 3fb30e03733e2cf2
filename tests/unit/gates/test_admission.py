"""The last rung before anything runs: whatever the quota's store says but True holds the call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, contracts

from sluicegate.gates.admission import Admitted, admit
from sluicegate.gates.authorizing import Permitted
from sluicegate.gates.call_gate import CallLadder, Prepared
from sluicegate.stores.memory import MemoryStore
from sluicegate.values.callers import Caller
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import RequestId

CALLER = Caller(subject="svc-deploy")
CONTRACT = contracts().contracts["job_status"]


class QuotaOf:
    """A quota whose store answers, or raises, what it is given."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.spent: list[tuple[str, str]] = []

    async def spend(self, *, caller: Caller, tool: str) -> Any:
        self.spent.append((caller.subject, tool))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def admit_with(quota: QuotaOf | None) -> Admitted | Rejected:
    prepared = CallLadder(CONTRACT).climb(ARGUMENTS.encode(), CALLER)
    assert isinstance(prepared, Prepared)
    permitted = Permitted(prepared=prepared, decision_id="d-1", decided_at=0.0)
    return await admit(
        permitted,
        CONTRACT,
        CALLER,
        request_id=RequestId("req.J7q94MkP"),
        store=MemoryStore(),
        quota=quota,
    )


@pytest.mark.requirement("ARG-7")
async def test_a_call_within_its_quota_is_admitted_and_counted_once() -> None:
    quota = QuotaOf(True)
    assert isinstance(await admit_with(quota), Admitted)
    assert quota.spent == [("svc-deploy", "job_status")]


@pytest.mark.requirement("ARG-7")
async def test_without_a_quota_nothing_is_counted() -> None:
    assert isinstance(await admit_with(None), Admitted)


REFUSED = {
    "spent": (False, "QUOTA_EXCEEDED"),
    "an answer that is not True": (1, "QUOTA_EXCEEDED"),
    "nothing": (None, "QUOTA_EXCEEDED"),
    "a store that is down": (ConnectionError("down"), "QUOTA_UNAVAILABLE"),
}


@pytest.mark.requirement("ARG-7")
@pytest.mark.parametrize("case", REFUSED)
async def test_whatever_is_not_a_plain_yes_holds_the_call(case: str) -> None:
    answer, code = REFUSED[case]
    refused = await admit_with(QuotaOf(answer))
    assert isinstance(refused, Rejected)
    assert (refused.stage, refused.code) == ("admit", code)


@pytest.mark.requirement("ARG-5")
async def test_an_admission_stands_under_a_newer_decision() -> None:
    admitted = await admit_with(None)
    assert isinstance(admitted, Admitted)
    newer = replace(admitted.permitted, decision_id="d-2", decided_at=2.0)
    assert admitted.decided_anew(newer) == Admitted(permitted=newer)
