"""The headers that no contract sets are the same for the loader and for the adapter."""

from __future__ import annotations

import pytest
from tests.unit.contracts.folders import problems

from sluicegate.adapters.http import REQUEST_ID_HEADER
from sluicegate.adapters.http_settings import constant_headers
from sluicegate.contracts.contract import HttpFetch
from sluicegate.contracts.headers import GATE_HEADERS, SECRET_HEADERS
from sluicegate.errors import ConfigurationError


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize("name", sorted(GATE_HEADERS | SECRET_HEADERS))
def test_what_the_loader_refuses_the_adapter_refuses_too(name: str) -> None:
    http = {
        "method": "GET",
        "url": "https://x.example/",
        "timeout_s": 5,
        "headers": {name.title(): "1"},
    }
    found = problems({"fetch": {"http": http}})
    assert [problem.pointer for problem in found] == [f"/fetch/http/headers/{name.title()}"]
    fetch = HttpFetch(method="GET", url="https://x.example/", timeout_s=5, headers={name: "1"})
    with pytest.raises(ConfigurationError):
        constant_headers(fetch)


@pytest.mark.requirement("ENV-3")
def test_the_header_of_the_request_id_belongs_to_the_gate() -> None:
    assert REQUEST_ID_HEADER in GATE_HEADERS


@pytest.mark.requirement("ADP-1")
@pytest.mark.parametrize("name", sorted(SECRET_HEADERS))
def test_a_credential_may_stand_where_secrets_do(name: str) -> None:
    fetch = HttpFetch(
        method="GET",
        url="https://x.example/",
        timeout_s=5,
        credential="CI_TOKEN",
        credential_header=name,
    )
    assert name not in constant_headers(fetch)
