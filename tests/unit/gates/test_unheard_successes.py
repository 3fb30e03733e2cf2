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
