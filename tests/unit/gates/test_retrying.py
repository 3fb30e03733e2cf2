"""Whether another attempt is declared."""

from __future__ import annotations

import pytest
from tests.unit.gates.job_status import CONTRACT, contracts

from sluicegate.gates.retrying import honours_key

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
