"""Events as a gate would record them, for the tests of the stores."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from sluicegate.gates.events import AuditEvent, EventKind, Kept, Outcome

NOW = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)

INTENT = AuditEvent(
    kind=EventKind.INTENT,
    time=NOW,
    request_id="req.00000001",
    attempt=1,
    outcome=Outcome.PENDING,
    tool="restart",
    contract_version="1.0.0",
    contract_digest="sha256:aa",
    caller_subject="svc-deploy",
    caller_tenant="t-1",
    arguments={"project_id": "bluebird"},
)


def intent(request_id: str = "req.00000001", **members: object) -> AuditEvent:
    return replace(INTENT, request_id=request_id, **members)  # type: ignore[arg-type]


def outcome(
    request_id: str = "req.00000001", became: Outcome = Outcome.SUCCESS, **members: object
) -> AuditEvent:
    return intent(request_id, kind=EventKind.OUTCOME, outcome=became, **members)


def resolution(request_id: str = "req.00000001") -> AuditEvent:
    return intent(
        request_id,
        kind=EventKind.OPERATOR,
        attempt=0,
        outcome=Outcome.DONE,
        arguments=None,
        detail={"resolves": request_id, "as": "done"},
    )


def kept(content: bytes, kind: str = "raw", days: float | None = 30) -> tuple[Kept, ...]:
    return (Kept(kind=kind, content=content, keep_days=days),)
