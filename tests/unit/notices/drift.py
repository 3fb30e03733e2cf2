"""One way to make a notice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sluicegate.gates.ports import Notice
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding

START = datetime(2026, 11, 30, 3, 0, 0, tzinfo=UTC)


def notice(
    number: int = 0,
    *,
    owner: str = "ci-platform",
    tool: str = "job_status",
    code: str = "MISSING",
    pointers: tuple[str, ...] = ("/run_id",),
    says: str = "",
) -> Notice:
    return Notice(
        owner=owner,
        tool=tool,
        contract_version="1.0.0",
        code=code,
        stage="conform",
        request_id=f"req.{number:08}",
        time=START + timedelta(seconds=number),
        findings=tuple(Finding(code=Code.MISSING, pointer=pointer) for pointer in pointers),
        says=says,
    )
