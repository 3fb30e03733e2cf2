"""What the record says of a call that runs is so: no operator frees it beside itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer, contracts

from sluicegate.adapters.host import HostAdapter
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.gate import Gate
from sluicegate.gates.operator_acts import find_end_of_run
from sluicegate.gates.outstanding import Outstanding
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ACC-4", "RET-2")

CALLER = Caller(subject="svc-deploy")
LOST = Receipt(adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.TIMEOUT)
HONOURS_KEY: dict[str, Any] = {
    "effect": "write",
    "fetch": {"http": {**CONTRACT["fetch"]["http"], "idempotency_header": "Idempotency-Key"}},  # type: ignore[index]
    "retry": {"attempts": 3, "budget_s": 9, "on": ["UPSTREAM_UNAVAILABLE"]},
}
STEADY = {
    "result": {name: part for name, part in dict(CONTRACT["result"]).items() if name != "fresh"}  # type: ignore[call-overload]
}
KEYED = {"idempotency": {"key": "derived", "keep_s": 600}, **STEADY}


class Asking(FixedClock):
    """Asks, whenever somebody sleeps on it, until when the call may be running."""

    def __init__(self) -> None:
        super().__init__()
        self.gate: Gate | None = None
        self.said: list[datetime | None] = []

    async def sleep(self, seconds: float) -> None:
        assert self.gate is not None
        self.said.append(find_end_of_run(self.gate.audit.events()))
        await super().sleep(seconds)


@pytest.mark.requirement("RET-3")
@pytest.mark.parametrize(("parts", "runs_s"), [({}, 3600), (KEYED, 9)], ids=["no key", "a key"])
async def test_between_two_attempts_a_call_runs(parts: dict[str, Any], runs_s: int) -> None:
    clock = Asking()
    begun = clock.now()
    upstream = RecordedUpstream(LOST, LOST, answer())
    gate = gate_of(contracts(**HONOURS_KEY, **parts), {"job_status": upstream}, clock=clock)
    clock.gate = gate
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, len(clock.slept)) == ("success", 2)
    # With a key it is one end for the whole call; without one each intent counts for itself.
    second = begun if parts else begun + timedelta(seconds=clock.slept[0])
    assert clock.said == [begun + timedelta(seconds=runs_s), second + timedelta(seconds=runs_s)]
    assert find_end_of_run(gate.audit.events()) is None


async def test_a_call_whose_last_attempt_is_lost_runs_no_more() -> None:
    gate = gate_of(contracts(**HONOURS_KEY), {"job_status": RecordedUpstream(LOST)})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert given.code == "OUTCOME_UNKNOWN"
    assert len(gate.audit.open_intents()) == 3  # type: ignore[attr-defined]
    assert find_end_of_run(gate.audit.events()) is None


HOSTED: dict[str, tuple[dict[str, Any], float, float]] = {
    # what the contract says beside its effect, how long the question takes, what the fetching has
    "no time is said": ({"fetch": {"host": {}}}, 0.0, 3600),
    "less than a call has": ({"fetch": {"host": {"timeout_s": 2}}}, 0.5, 2),
    "more than a call has": ({"fetch": {"host": {"timeout_s": 60}}}, 0.5, 59.5),
    "the longest": ({"fetch": {"host": {"timeout_s": 3600}}}, 4.0, 3596),
    "a form of fetch that the gate knows": ({"fetch": CONTRACT["fetch"]}, 0.0, 5),
    "and a budget that its attempts would have": (
        {
            "fetch": {"http": {**CONTRACT["fetch"]["http"], "timeout_s": 60}},  # type: ignore[index]
            "retry": {"attempts": 2, "budget_s": 9, "on": ["UPSTREAM_UNAVAILABLE"]},
        },
        0.0,
        60,
    ),
}


@pytest.mark.requirement("ARG-9")
@pytest.mark.parametrize("more", [{}, KEYED], ids=["no key", "a key"])
@pytest.mark.parametrize("case", HOSTED)
async def test_an_answer_is_accepted_as_long_as_the_record_says_that_the_call_may_run(
    case: str, more: dict[str, Any]
) -> None:
    parts, question_s, fetching_s = HOSTED[case]
    clock = FixedClock()

    class Slow(MemoryStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            ids = await super().record(events, **how)
            if events[0].kind == "intent":
                clock.advance(question_s)
            return ids

    async def answered_after(after_s: float) -> tuple[str | None, bool]:
        gate = gate_of(
            contracts(**{**STEADY, **parts, **more, "effect": "write"}),
            {"job_status": HostAdapter()},
            clock=clock,
            store=Slow(),
        )
        asked = await gate.check_call("job_status", ARGUMENTS, caller=CALLER)
        assert isinstance(asked, Outstanding)
        until = find_end_of_run(gate.audit.events())
        clock.advance(after_s)
        may_run = until is not None and clock.now() <= until
        return (await gate.check_result(asked, answer())).code, may_run

    assert await answered_after(fetching_s) == (None, True)
    assert (await answered_after(fetching_s + 0.001))[0] == "OUTCOME_UNKNOWN"
