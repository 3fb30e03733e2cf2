"""What custody keeps, and what it must not."""

from __future__ import annotations

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy")
MASKED = {"mask": {"arguments": ["/run_id"]}}


@pytest.mark.requirement("AUD-5")
async def test_a_masked_argument_is_not_kept_through_the_answer_that_quotes_it() -> None:
    quoting = answer(maintenance=True)
    other = answer(run_id="run_ZZZZZZZZZZZZ", maintenance=True)
    refs = []
    for raw in (quoting, other):
        gate = gate_of(contracts(**MASKED), {"job_status": RecordedUpstream(raw)})
        given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
        refs.append(list(gate.audit.events(request_id=given.request_id))[-1].raw_ref)
    assert refs[0] is None
    assert refs[1] is not None


@pytest.mark.requirement("AUD-5")
async def test_a_refused_call_is_not_kept_where_an_argument_is_masked() -> None:
    gate = gate_of(contracts(**MASKED), {"job_status": RecordedUpstream(answer())})
    given = await gate.call("job_status", '{"runid": "run_A1b2C3d4E5f6"}', caller=CALLER)
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (event.kind, event.arguments_ref) == ("refused", None)
