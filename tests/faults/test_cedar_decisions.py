"""What Cedar policies do wrong, seen through the gate: every fault is a refusal, with an event."""

from __future__ import annotations

import json

import cedarpy
import pytest
from tests.unit.access.cedar_documents import ENTITIES, SCHEMA, documents
from tests.unit.access.test_cedar import ERRING, unjudged
from tests.unit.gates.job_status import ARGUMENTS, MANY, answer, contracts

from sluicegate.access.cedar import CedarAuthorizer
from sluicegate.access.cedar_folder import load_cedar
from sluicegate.gates.envelopes import shape_envelope
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

PERMIT = "permit (principal, action, resource);"
SVC = Caller(subject="svc-deploy")


def loaded(**changed: str | None) -> CedarAuthorizer:
    authorizer = load_cedar("policies", documents(**changed))
    assert isinstance(authorizer, CedarAuthorizer), authorizer
    return authorizer


ROWS: dict[str, tuple[CedarAuthorizer, Caller]] = {
    "down: a schema that does not know the tool": (
        loaded(
            schema__cedarschema=SCHEMA.replace("action job_status", "action job_stop"),
            runs__cedar=PERMIT,
        ),
        SVC,
    ),
    **{
        f"lying: Allow beside {what}": (unjudged(f"{PERMIT}\n{forbid}"), SVC)
        for what, forbid in ERRING.items()
    },
}


@pytest.mark.requirement("ACC-1", "ACC-2", "RES-9")
@pytest.mark.parametrize(("authorizer", "caller"), ROWS.values(), ids=ROWS)
async def test_policies_that_fail_are_a_refusal_with_its_event(
    authorizer: CedarAuthorizer, caller: Caller
) -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream}, authorizer=authorizer)
    given = await gate.call("job_status", ARGUMENTS, caller=caller)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (event.kind, event.stage, event.code) == ("refused", "authorize", "PDP_UNAVAILABLE")
    assert upstream.dispatches == []


class PanicError(BaseException):
    """What native code raises when it panics: no Exception."""


@pytest.mark.requirement("ACC-1", "ACC-2", "RES-9")
async def test_an_engine_that_panics_is_a_refusal_with_its_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def panic(*_: object, **__: object) -> object:
        raise PanicError("at the disco")

    monkeypatch.setattr(cedarpy, "is_authorized", panic)
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream}, authorizer=loaded(runs__cedar=PERMIT))
    given = await gate.call("job_status", ARGUMENTS, caller=SVC)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (event.kind, event.code) == ("refused", "PDP_UNAVAILABLE")
    assert upstream.dispatches == []


@pytest.mark.requirement("ACC-1", "ACC-2")
async def test_policies_that_decide_too_late_have_not_decided(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sluicegate.gates.authorizing.DECISION_TIMEOUT_S", -1.0)  # every one
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream}, authorizer=loaded())
    given = await gate.call("job_status", ARGUMENTS, caller=SVC)
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (given.code, event.code) == ("UNAVAILABLE", "PDP_UNAVAILABLE")
    assert upstream.dispatches == []


@pytest.mark.requirement("ACC-2", "ARG-6")
async def test_each_resource_of_a_list_is_decided_and_a_denial_does_not_say_which() -> None:
    entities = json.loads(ENTITIES)
    entities.append({**entities[0], "uid": {"type": "project", "id": "wren"}})
    upstream = RecordedUpstream(b'{"state": "failed"}')
    authorizer = loaded(entities__json=json.dumps(entities))
    gate = gate_of(MANY, {"job_status": upstream}, authorizer=authorizer)
    told = []
    for projects in (["bluebird", "attic"], ["attic", "bluebird"], ["wren", "attic", "wren"]):
        given = await gate.call("job_status", json.dumps({"projects": projects}), caller=SVC)
        told.append({**shape_envelope(given.envelope), "request_id": ""})
    assert upstream.dispatches == []
    assert told[0] == told[1] == told[2]
    assert told[0]["error"] == {"code": "DENIED", "retryable": False}
    allowed = await gate.call("job_status", '{"projects": ["bluebird", "wren"]}', caller=SVC)
    assert allowed.outcome == "success"


@pytest.mark.requirement("ACC-2")
async def test_no_decision_is_kept_for_another_caller() -> None:
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())}, authorizer=loaded())
    outcomes = [
        (await gate.call("job_status", ARGUMENTS, caller=Caller(subject=subject))).outcome
        for subject in ("svc-deploy", "svc-other", "svc-deploy")
    ]
    assert outcomes == ["success", "refused", "success"]
