"""The bytes that a model gets: one of three shapes, and nothing beside them."""

from __future__ import annotations

import pytest

from sluicegate.gates.answers import Answer
from sluicegate.gates.envelopes import Envelope, Failure, Needs, Refused, Success
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.requests import RequestId

ID = RequestId("req.J7q94MkP")
HEAD = b'{"tool":"job_status","request_id":"req.J7q94MkP",'


@pytest.mark.requirement("ENV-1", "RES-8")
@pytest.mark.parametrize(
    ("envelope", "rest"),
    [
        pytest.param(
            Success(tool="job_status", request_id=ID, data={"n": "é"}),
            '"outcome":"success","data":{"n":"é"}}',
            id="success",
        ),
        pytest.param(
            Success(tool="job_status", request_id=ID, data={}, replayed=True),
            '"outcome":"success","data":{},"replayed":true}',
            id="replayed",
        ),
        pytest.param(
            Failure(tool="job_status", request_id=ID, code="INVALID_RESPONSE", retryable=False),
            '"outcome":"failure","error":{"code":"INVALID_RESPONSE","retryable":false}}',
            id="failure",
        ),
        pytest.param(
            Refused(
                tool="job_status",
                request_id=ID,
                code="INVALID_ARGUMENTS",
                retryable=True,
                findings=(
                    Finding(
                        code=Code.LENGTH,
                        pointer="/run_id",
                        schema_pointer="/properties/run_id/minLength",
                        keyword="minLength",
                        limit="3",
                        received_size=1,
                        offset=9,
                        line=1,
                        column=10,
                        expected="at least 3 characters",
                        received="string",
                        hint="see job_list",
                    ),
                    Finding(code=Code.MISSING, pointer="/project_id"),
                ),
            ),
            '"outcome":"refused","error":{"code":"INVALID_ARGUMENTS","retryable":true,"findings":['
            '{"code":"LENGTH","pointer":"/run_id","expected":"at least 3 characters",'
            '"received":"string","hint":"see job_list"},'
            '{"code":"MISSING","pointer":"/project_id"}]}}',
            id="findings hold five members at most",
        ),
        pytest.param(
            Refused(
                tool="job_status",
                request_id=ID,
                code="EVIDENCE_REQUIRED",
                retryable=True,
                needs=Needs(tool="a", arguments={"b": 1}),
            ),
            '"outcome":"refused","error":{"code":"EVIDENCE_REQUIRED","retryable":true,'
            '"needs":{"tool":"a","arguments":{"b":1}}}}',
            id="needs",
        ),
    ],
)
def test_an_envelope_is_exactly_these_bytes(envelope: Envelope, rest: str) -> None:
    assert Answer(envelope=envelope).to_json().encode() == HEAD + rest.encode()


def test_what_no_answer_may_hold_is_not_written() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        Answer(envelope=Success(tool="job_status", request_id=ID, data=float("nan"))).to_json()
