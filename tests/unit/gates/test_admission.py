"""The last rung before anything runs: whatever the quota's store says but True holds the call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, contracts

from sluicegate.contracts.contract import Contract, QuotaRule
from sluicegate.gates.admission import Admitted, Moment, admit
from sluicegate.gates.asking import ServedWitnesses, name_subject
from sluicegate.gates.authorizing import Permitted
from sluicegate.gates.call_gate import CallLadder, Prepared
from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import CallQuery
from sluicegate.gates.terms import Allowance, TermRefused
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.rejections import Rejected

CALLER = Caller(subject="svc-deploy")
CONTRACT = contracts().contracts["job_status"]
QUOTAS = (QuotaRule(per=frozenset({"caller"}), count=3, window_s=60),)


class QuotaOf:
    """A quota whose store answers, or raises, what it is given."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.spent: list[tuple[int, int]] = []

    async def spend(self, allowances: Sequence[Allowance]) -> Any:
        self.spent += [(each.count, each.window_s) for each in allowances]
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def close(self) -> None:
        pass


async def admit_with(
    quota: QuotaOf | None, *, contract: Contract = CONTRACT, store: MemoryStore | None = None
) -> Admitted | Rejected:
    prepared = CallLadder(contract).climb(ARGUMENTS.encode(), CALLER)
    assert isinstance(prepared, Prepared)
    permitted = Permitted(prepared=prepared, decision_id="d-1", decided_at=0.0)
    gate = gate_of(contracts(), {"job_status": RecordedUpstream()}, store=store)
    means = replace(gate._means, quota=quota, quotas=QUOTAS)
    return await admit(
        permitted,
        contract,
        name_subject(means, gate._serving.lines["job_status"], "job_status", CALLER, None),
        Moment(now=means.clock.now(), runs_s=5.0, after=None),
        means=means,
        witnesses=ServedWitnesses(means, gate._serving, CALLER, 5.0),
    )


@pytest.mark.requirement("ARG-7")
async def test_a_call_within_its_quota_is_admitted_and_counted_once() -> None:
    quota = QuotaOf(True)
    assert isinstance(await admit_with(quota), Admitted)
    assert quota.spent == [(3, 60)]


@pytest.mark.requirement("ARG-7")
async def test_where_the_record_counts_the_quota_is_a_term_of_the_intent() -> None:
    admitted = await admit_with(None)
    assert isinstance(admitted, Admitted)
    assert [(each.count, each.window_s) for each in admitted.terms.allowances] == [(3, 60)]


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


class Lookup(MemoryStore):
    """A record that answers, or raises, what it is given when it is asked for an open write."""

    def __init__(self, answer: str | Exception) -> None:
        super().__init__()
        self.answer = answer

    async def find_open_call(self, call: CallQuery) -> str | None:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


LOOKUPS: dict[str, tuple[str | Exception, type[Exception]]] = {
    "open": ("req.open", TermRefused),
    "not known": (AuditUnavailable("gone"), AuditUnavailable),
}


@pytest.mark.requirement("ARG-7", "RET-2")
@pytest.mark.parametrize("case", LOOKUPS)
async def test_a_write_that_may_be_open_costs_no_attempt_that_is_counted_elsewhere(
    case: str,
) -> None:
    answer, raised = LOOKUPS[case]
    quota = QuotaOf(True)
    contract = contracts(effect="write").contracts["job_status"]
    with pytest.raises(raised):
        await admit_with(quota, contract=contract, store=Lookup(answer))
    assert quota.spent == []


@pytest.mark.requirement("AUD-1", "RES-9")
async def test_a_record_that_cannot_tell_of_open_writes_ends_the_call_at_no_cost() -> None:
    upstream, quota = RecordedUpstream(), QuotaOf(True)
    store = Lookup(AuditUnavailable("gone"))
    gate = gate_of(contracts(effect="write"), {"job_status": upstream}, store=store)
    gate = Gate(replace(gate._means, quota=quota, quotas=QUOTAS), gate._serving)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert list(store.events(request_id=given.request_id)) == []
    assert (quota.spent, upstream.dispatches) == ([], [])


@pytest.mark.requirement("ARG-5")
async def test_an_admission_stands_under_a_newer_decision() -> None:
    admitted = await admit_with(None)
    assert isinstance(admitted, Admitted)
    newer = replace(admitted.permitted, decision_id="d-2", decided_at=2.0)
    assert admitted.decided_anew(newer) == replace(admitted, permitted=newer)
