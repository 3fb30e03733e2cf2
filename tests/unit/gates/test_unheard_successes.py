"""A write whose success was committed after its caller had stopped waiting is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.gates.events import AuditEvent
from sluicegate.gates.open_calls import open_attempts
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

CALLER = Caller(subject="svc-deploy", tenant="team-a")


class LateStore(MemoryStore):
    """Commits the first outcome, but only after its waiter has given up, or has gone."""

    def __init__(self, *, patient: bool) -> None:
        super().__init__()
        self._patient = patient
        self._first = True
        self.waiting = asyncio.Event()

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        if events[0].kind != "outcome" or not self._first:
            return await super().record(events, **how)
        self._first = False
        self.waiting.set()
        try:
            if self._patient:
                await asyncio.Event().wait()
            raise AuditUnavailable("no commit within 10 s")
        finally:
            await super().record(events)


@pytest.mark.requirement("RET-2", "AUD-1")
@pytest.mark.parametrize("by_host", [False, True], ids=["call", "check_result"])
async def test_a_write_whose_success_came_too_late_for_its_answer_is_not_made_again(
    by_host: bool,
) -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_of(
        contracts(effect="write"), {"job_status": upstream}, store=LateStore(patient=False)
    )
    if by_host:
        outstanding = await gate.check_call("job_status", ARGUMENTS, caller=CALLER)
        assert isinstance(outstanding, Outstanding)
        lost = await gate.check_result(outstanding, answer())
    else:
        lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    again = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (lost.outcome, lost.code) == ("failure", "OUTCOME_UNKNOWN")
    assert (again.outcome, again.code) == ("refused", "OUTCOME_UNKNOWN")
    assert len(upstream.dispatches) == (0 if by_host else 1)
    story = tuple(gate.audit.events(request_id=lost.request_id))
    assert [(e.kind, e.outcome, e.attempt) for e in story] == [
        ("intent", "pending", 1),
        ("outcome", "success", 1),
        ("intent", "pending", 2),
        ("outcome", "unknown", 2),
    ]
    assert {e.detail for e in story[2:]} == {'{"unheard":1}'}
    assert len(open_attempts(story)) == len(gate.audit.open_intents()) == 1


@pytest.mark.requirement("RET-2", "AUD-1")
async def test_a_write_whose_caller_left_before_its_success_was_committed_is_open() -> None:
    store = LateStore(patient=True)
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(effect="write"), {"job_status": upstream}, store=store)
    calling = asyncio.create_task(gate.call("job_status", ARGUMENTS, caller=CALLER))
    await store.waiting.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    again = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (again.outcome, again.code) == ("refused", "OUTCOME_UNKNOWN")
    assert len(upstream.dispatches) == 1


@pytest.mark.requirement("RET-2", "AUD-1")
@pytest.mark.parametrize("error", [AuditUnavailable("full"), OSError("gone")])
async def test_a_success_that_cannot_be_reopened_is_told_in_the_log(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class Full(LateStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            if len(events) == 2:
                raise error
            return await super().record(events, **how)

    upstream = {"job_status": RecordedUpstream(answer())}
    gate = gate_of(contracts(effect="write"), upstream, store=Full(patient=False))
    lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert lost.code == "OUTCOME_UNKNOWN"
    assert f"call {lost.request_id}: its success was not heard" in caplog.text


@pytest.mark.requirement("RET-2")
async def test_a_read_whose_answer_came_too_late_is_simply_asked_again() -> None:
    gate = gate_of(
        contracts(), {"job_status": RecordedUpstream(answer())}, store=LateStore(patient=False)
    )
    lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    again = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (lost.outcome, again.outcome) == ("failure", "success")
    assert gate.audit.open_intents() == ()


class LateIntents(MemoryStore):
    """Commits the intent of one attempt, but only after its waiter has given up."""

    def __init__(self, attempt: int) -> None:
        super().__init__()
        self._attempt = attempt

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        ids = await super().record(events, **how)
        if events[0].kind == "intent" and events[0].attempt == self._attempt:
            self._attempt = 0
            raise AuditUnavailable("no commit within 10 s")
        return ids


@pytest.mark.requirement("RET-2", "AUD-1")
async def test_a_write_whose_intent_was_committed_too_late_was_not_sent_and_may_be_made() -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(effect="write"), {"job_status": upstream}, store=LateIntents(1))
    lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    again = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (lost.outcome, lost.code, again.outcome) == ("refused", "UNAVAILABLE", "success")
    story = gate.audit.events(request_id=lost.request_id)
    assert [(e.kind, e.outcome, e.code) for e in story] == [
        ("intent", "pending", None),
        ("outcome", "refused", "AUDIT_UNAVAILABLE"),
    ]
    assert gate.audit.open_intents() == ()


@pytest.mark.requirement("RET-2", "AUD-1")
async def test_the_intent_of_a_further_attempt_is_closed_as_that_of_the_first_one_is() -> None:
    lost = Receipt(
        adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.UNREACHABLE
    )
    upstream = RecordedUpstream(lost, answer())
    gate = gate_of(
        contracts(retry={"attempts": 2, "budget_s": 30, "on": ["UPSTREAM_UNAVAILABLE"]}),
        {"job_status": upstream},
        store=LateIntents(2),
    )
    failed = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (failed.outcome, len(upstream.dispatches)) == ("failure", 1)
    story = gate.audit.events(request_id=failed.request_id)
    assert [(e.kind, e.attempt) for e in story][2:] == [("intent", 2), ("outcome", 2)]
    assert gate.audit.open_intents() == ()


@pytest.mark.requirement("AUD-1")
async def test_an_intent_that_cannot_be_closed_is_told_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Gone(LateIntents):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            if events[0].kind == "outcome":
                raise OSError("PLANTED")
            return await super().record(events, **how)

    upstream = {"job_status": RecordedUpstream(answer())}
    gate = gate_of(contracts(effect="write"), upstream, store=Gone(1))
    lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    told = "its intent may stand open until the record takes events again: OSError"
    assert f"call {lost.request_id}: {told}" in caplog.text
    assert "PLANTED" not in caplog.text
