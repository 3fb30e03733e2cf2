"""One way to make a stored event."""

from __future__ import annotations

from dataclasses import replace

from sluicegate.gates.events import StoredEvent

_PLAIN = StoredEvent(
    seq=1,
    event_id="019aaaaa-0000-7000-8000-000000000001",
    time="2026-11-30T03:00:00.000000Z",
    kind="intent",
    request_id="req.J7q94MkP",
    attempt=1,
    outcome="pending",
    tool="job_status",
    contract_version="1.0.0",
    contract_digest="sha256:ab",
    caller_subject="svc-deploy",
    caller_tenant=None,
    session=None,
    call_id=None,
    adapter="http",
    adapter_version="1",
    endpoint="GET https://ci.example/runs/{/run_id}",
    upstream_status=None,
    stage=None,
    code=None,
    agent_code=None,
    schema_pointer=None,
    decision_id="table:1",
    trace_id=None,
    arguments_hmac="aa",
    arguments_ref=None,
    raw_hmac=None,
    raw_bytes=None,
    raw_ref=None,
    returned_hmac=None,
    findings="[]",
    masked="[]",
    detail="{}",
    previous="00",
    link="01",
)


def stored(**changes: object) -> StoredEvent:
    return replace(_PLAIN, **changes)  # type: ignore[arg-type]


def outcome(**changes: object) -> StoredEvent:
    return stored(**{"kind": "outcome", "seq": 2, "decision_id": None, **changes})
