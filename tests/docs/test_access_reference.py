"""What the page about access shows is what is read and what is sent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.faults.upstreams import answer, sending, serve

from sluicegate.access.authzen import AuthzenAuthorizer
from sluicegate.access.cedar import CedarAuthorizer
from sluicegate.access.cedar_folder import load_cedar
from sluicegate.contracts.loading import load
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.ports import AccessQuery, Resource
from sluicegate.values.callers import Caller

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "access.md").read_text("utf-8")
BLOCKS = re.findall(r"(?ms)^```\w*\n(.*?)^```$", PAGE)
QUERY = AccessQuery(
    subject=Caller(subject="svc-deploy", tenant="acme"),
    action="call",
    tool="job_status",
    resource=Resource(type="project", id="bluebird"),
    context={"tool": "job_status", "contract_digest": "sha256:…"},
)


def block(word: str) -> str:
    (found,) = [text for text in BLOCKS if word in text]
    return str(found)


@pytest.mark.requirement("ACC-2")
async def test_the_cedar_example_loads_and_decides() -> None:
    authorizer = load_cedar(
        "policies",
        {
            "policies/schema.cedarschema": block("appliesTo").encode(),
            "policies/runs.cedar": block("permit (").encode(),
        },
    )
    assert isinstance(authorizer, CedarAuthorizer), authorizer
    assert authorizer.find_unfit("job_status", "project") is None
    assert authorizer.find_unfit("list_projects", None) is None
    assert (await authorizer.decide(QUERY)).allow is True


@pytest.mark.requirement("ACC-2")
async def test_the_authzen_example_is_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sluicegate.access.authzen.DECISION_TIMEOUT_S", 30.0)
    async with serve(sending(answer(b'{"decision": false}'))) as service:
        await AuthzenAuthorizer(service.origin).decide(QUERY)
    assert json.loads(service.bodies[0]) == json.loads(block('"subject"'))


def test_the_settings_that_are_shown_are_taken() -> None:
    shown = [text for text in BLOCKS if text.startswith("access:")]
    assert len(shown) == 2
    for text in shown:
        assert isinstance(load({"sluicegate.yaml": text.encode()}, resolve=None), ContractSet)
