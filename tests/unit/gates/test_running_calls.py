"""What the record says of a call that runs is so: no operator frees it beside itself."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer, contracts

from sluicegate.gates.gate import Gate
from sluicegate.gates.operator_acts import find_end_of_run
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
