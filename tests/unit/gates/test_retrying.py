"""Whether another attempt is declared, and what a later one says of an earlier one."""

from __future__ import annotations

import pytest
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer, contracts

from sluicegate.gates.envelopes import shape_envelope
from sluicegate.gates.retrying import honours_key
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

CALLER = Caller(subject="svc-deploy", tenant="team-a")

HTTP: dict[str, object] = {"method": "POST", "url": "http://127.0.0.1:9/runs", "timeout_s": 5}


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize(
    ("fetch", "honoured"),
    [
        ({"http": {**HTTP, "idempotency_header": "Idempotency-Key"}}, True),
        ({"http": HTTP}, False),
        ({"host": {}}, False),
        ({"command": {"argv": ["true"], "timeout_s": 5}}, False),
    ],
    ids=["http with a header", "http", "host", "command"],
)
def test_only_an_http_upstream_with_a_header_honours_a_key(
    fetch: dict[str, object], honoured: bool
) -> None:
    contract = contracts(**{**CONTRACT, "fetch": fetch}).contracts["job_status"]
    assert honours_key(contract) is honoured


WRITE: dict[str, object] = {
    "effect": "write",
    "fetch": {"http": {**HTTP, "idempotency_header": "Idempotency-Key"}},
    "errors": {"BUSY": {"retryable": True}, "UPSTREAM_UNAVAILABLE": {"retryable": True}},
    "retry": {"attempts": 2, "budget_s": 10, "on": ["UPSTREAM_UNAVAILABLE"]},
}


def answered(raw: bytes = b"{}", *, status: int = 200, fault: Fault | None = None) -> Receipt:
    return Receipt(
        adapter="http",
        adapter_version="1",
        endpoint="recorded",
        raw=raw,
        status=status,
        fault=fault,
        content_type="application/json",
    )


@pytest.mark.requirement("RET-2", "AUD-1")
@pytest.mark.parametrize(
    ("upstream", "second"),
    [
        ({"status": {"5xx": "BUSY"}}, answered(status=503)),
        ({"status": {"429": "BUSY"}}, answered(status=429)),
        ({}, answered(status=409)),
        (
            {"mcp": True, "tool_failed": "BUSY"},
            answered(b'{"content":[{"type":"text","text":"x"}],"isError":true}'),
        ),
        ({}, answered(b"<html>")),
    ],
    ids=["a mapped 503", "a mapped 429", "an unmapped 409", "the tool failed", "no JSON"],
)
async def test_no_refusal_of_a_later_attempt_closes_a_write_that_an_earlier_one_lost(
    upstream: dict[str, object], second: Receipt
) -> None:
    recorded = RecordedUpstream(answered(fault=Fault.TIMEOUT), second)
    served = contracts(**WRITE, upstream=upstream)
    gate = gate_of(served, {"job_status": recorded})
    lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    again = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert shape_envelope(lost.envelope)["error"] == {"code": "OUTCOME_UNKNOWN", "retryable": False}
    assert (again.outcome, again.code) == ("refused", "OUTCOME_UNKNOWN")
    assert len(recorded.dispatches) == 2
    assert {e.request_id for e in gate.audit.open_intents()} == {lost.request_id}


@pytest.mark.requirement("RET-2")
async def test_a_later_attempt_that_succeeds_closes_a_write_that_an_earlier_one_lost() -> None:
    recorded = RecordedUpstream(answered(fault=Fault.TIMEOUT), answered(answer()))
    gate = gate_of(contracts(**WRITE), {"job_status": recorded})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert given.outcome == "success"
    assert gate.audit.open_intents() == ()


@pytest.mark.requirement("RET-2")
async def test_a_mapped_answer_to_the_only_attempt_says_what_became_of_a_write() -> None:
    recorded = RecordedUpstream(answered(status=503))
    served = contracts(**WRITE, upstream={"status": {"5xx": "BUSY"}})
    gate = gate_of(served, {"job_status": recorded})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("failure", "BUSY")
    assert gate.audit.open_intents() == ()
