"""One way to make an order to an adapter."""

from __future__ import annotations

import json
from collections.abc import Mapping

from sluicegate.gates.ports import Dispatch
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy")


def dispatch(
    arguments: Mapping[str, object] | None = None,
    *,
    timeout_s: float = 10.0,
    max_bytes: int = 65_536,
    caller: Caller = CALLER,
    attempt: int = 1,
    contract_digest: str = "sha256:0",
    tool: str = "job_status",
    idempotency_key: str | None = None,
) -> Dispatch:
    arguments = {} if arguments is None else arguments
    return Dispatch(
        tool=tool,
        request_id="req.J7q94MkP",
        arguments=arguments,
        arguments_text=json.dumps(arguments).encode(),
        caller=caller,
        attempt=attempt,
        timeout_s=timeout_s,
        max_bytes=max_bytes,
        contract_digest=contract_digest,
        idempotency_key=idempotency_key,
    )
