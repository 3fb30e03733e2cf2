"""A destructive tool that rests on the state of a job, and the tool that tells that state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.unit.gates.job_status import CONTRACT

from sluicegate.contracts.served import ContractSet
from sluicegate.testing import contracts_of

ARGUMENTS = '{"project_id": "bluebird", "run_id": "run_A1b2C3d4E5f6"}'
DONE = json.dumps({"restarted": "run_A1b2C3d4E5f6"}).encode()
PROOF: dict[str, Any] = {
    "tool": "job_status",
    "bind": {"/project_id": "/project_id", "/run_id": "/run_id"},
    "where": {"/state": "failed"},
    "max_age_s": 60,
    "once": True,
}
STATUS: dict[str, Any] = {
    **CONTRACT,
    "result": {
        **CONTRACT["result"],  # type: ignore[dict-item]
        "agent": ["/project_id", "/run_id", "/state", "/observed_at"],
        "operator": [],
    },
}
RESTART: dict[str, Any] = {
    "sluicegate": 1,
    "tool": "job_restart",
    "version": "1.0.0",
    "owner": "ci-platform",
    "description": "Restart one failed CI run of one project.",
    "effect": "write",
    "arguments": CONTRACT["arguments"],
    "fetch": {
        "http": {"method": "POST", "url": "http://127.0.0.1:9/runs/{/run_id}", "timeout_s": 5}
    },
    "result": {
        "schema": {
            "type": "object",
            "properties": {"restarted": {"type": "string", "pattern": "^run_[A-Za-z0-9]{12,48}$"}},
            "required": ["restarted"],
            "additionalProperties": False,
        },
        "bind": {"/restarted": "/run_id"},
        "agent": ["/restarted"],
    },
    "errors": {"UPSTREAM_UNAVAILABLE": {"retryable": True}},
}


def folder(
    *,
    settings: Mapping[str, Any] | None = None,
    status: Mapping[str, Any] | None = None,
    **restart: Any,
) -> ContractSet:
    """Load both contracts, whole parts of them changed."""
    return contracts_of(
        {
            "sluicegate.yaml": json.dumps(settings or {}),
            "job_status/contract.json": json.dumps({**STATUS, **(status or {})}),
            "job_restart/contract.json": json.dumps({**RESTART, **restart}),
        }
    )
