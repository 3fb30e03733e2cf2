"""What real decision services do wrong: every fault ends as a refusal, with an event."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.test_http_upstreams import make_certificate
from tests.faults.upstreams import (
    Script,
    Upstream,
    answer,
    hanging_after,
    repeating,
    sending,
    serve,
)
from tests.unit.gates.job_status import ARGUMENTS, MANY, contracts
from tests.unit.gates.job_status import answer as upstream_answer

from sluicegate.access.authzen import EVALUATION_PATH, AuthzenAuthorizer
from sluicegate.access.authzen_answers import MAX_ANSWER_BYTES
from sluicegate.adapters.credentials import Credentials
from sluicegate.errors import ConfigurationError
from sluicegate.gates.envelopes import shape_envelope
from sluicegate.gates.ports import AccessQuery, Resource
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt

ALICE = Caller(subject="svc-deploy", tenant="team-a")
QUERY = AccessQuery(
    subject=ALICE,
    action="call",
    tool="job_status",
    resource=Resource(type="project", id="bluebird"),
    context={"tool": "job_status", "contract_digest": "sha256:0"},
)
ALLOW, DENY = b'{"decision": true}', b'{"decision": false}'
SECRET = "s3cret-of-the-decision-point"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """A busy machine must not turn an answer into a late one; tests of lateness say so."""
    if "hasty" not in request.fixturenames:
        for module in ("access.authzen", "gates.authorizing"):
            monkeypatch.setattr(f"sluicegate.{module}.DECISION_TIMEOUT_S", 30.0)


@pytest.fixture
def hasty() -> None:
    """The real deadline."""


def deciding(decide: Callable[[dict[str, object]], bool], upstream: list[Upstream]) -> Script:
    """Answer each question as ``decide`` says of its body."""

    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = json.loads(upstream[0].bodies[-1])
        writer.write(answer(ALLOW if decide(asked) else DENY))
        await writer.drain()

    return script


@pytest.mark.requirement("ACC-1", "ACC-2")
async def test_the_question_is_an_authzen_evaluation_and_its_id_is_the_decisions() -> None:
    async with serve(sending(answer(ALLOW))) as service:
        decision = await AuthzenAuthorizer(service.origin).decide(QUERY)
    assert (decision.allow, decision.errors, decision.obligations) == (True, (), ())
    assert service.heads[0].startswith(f"POST {EVALUATION_PATH} HTTP/1.1\r\n")
    assert decision.decision_id == service.header("x-request-id")
    assert decision.policy_version == service.origin + EVALUATION_PATH
    assert service.header("content-type") == "application/json"
    assert service.header("authorization") is None
    assert json.loads(service.bodies[0]) == {
        "subject": {"type": "caller", "id": "svc-deploy", "properties": {"tenant": "team-a"}},
        "action": {"name": "call"},
        "resource": {"type": "project", "id": "bluebird"},
        "context": {"tool": "job_status", "contract_digest": "sha256:0"},
    }


@pytest.mark.requirement("ACC-2")
async def test_without_a_tenant_and_a_resource_the_tool_is_asked_about() -> None:
    bare = AccessQuery(subject=Caller(subject="a"), action="call", tool="list", resource=None)
    async with serve(sending(answer(DENY))) as service:
        decision = await AuthzenAuthorizer(service.origin).decide(bare)
    assert (decision.allow, decision.errors) == (False, ())
    asked = json.loads(service.bodies[0])
    assert asked["subject"] == {"type": "caller", "id": "a"}
    assert asked["resource"] == {"type": "tool", "id": "list"}


@pytest.mark.requirement("ACC-2")
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("", EVALUATION_PATH),
        ("/", EVALUATION_PATH),
        ("/pdp/access/v1/evaluation", "/pdp/access/v1/evaluation"),
    ],
)
async def test_an_origin_means_the_standard_path_and_a_path_means_itself(
    path: str, asked: str
) -> None:
    async with serve(sending(answer(ALLOW))) as service:
        await AuthzenAuthorizer(service.origin + path).decide(QUERY)
    assert service.heads[0].split(" ")[1] == asked


FAULTY: dict[str, tuple[Script, str]] = {
    "nothing": (sending(), "exchange failed"),
    "no HTTP": (sending(b"true\r\n\r\n"), "exchange failed"),
    "shorter than announced": (sending(answer(ALLOW, length=100)), "exchange failed"),
    "HTML": (sending(answer(b"<html>", media_type="text/html")), "application/json"),
    "an error page": (sending(answer(ALLOW, status="500 Oops")), "status is 500"),
    "a refusal of our credential": (sending(answer(ALLOW, status="401 No")), "status is 401"),
    "a redirect": (
        sending(answer(ALLOW, "Location: /elsewhere", status="307 Elsewhere")),
        "status is 307",
    ),
    "the text true": (sending(answer(b'{"decision": "true"}')), "no boolean"),
    "no decision": (sending(answer(b"{}")), "missing"),
    "a decision twice": (
        sending(answer(b'{"decision": false, "decision": true}')),
        "DUPLICATE_MEMBER",
    ),
    "two lengths": (
        sending(answer(ALLOW, f"Content-Length: {len(ALLOW) + 1}")),
        "exchange failed",
    ),
    "a length and a coding": (
        sending(answer(ALLOW, "Transfer-Encoding: chunked")),
        "ambiguous|exchange failed",
    ),
    "two media types": (sending(answer(ALLOW, "Content-Type: text/html")), "ambiguous"),
    "packed": (sending(answer(ALLOW, "Content-Encoding: gzip")), "encoded"),
    "a huge body": (
        sending(answer(b" " * (MAX_ANSWER_BYTES + 1 - len(ALLOW)) + ALLOW)),
        "more than 65536 bytes",
    ),
    "huge headers": (sending(answer(ALLOW, f"X: {'x' * 200_000}")), "exchange failed"),
}
HANGING: dict[str, Script] = {
    "silence": hanging_after(),
    "a head without an end": hanging_after(b"HTTP/1.1 200 OK\r\n"),
    "a body that breaks off": hanging_after(answer(b'{"decision": tr', length=18)),
    "a body without an end": repeating(
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"1\r\n \r\n",
    ),
}


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize(("script", "said"), FAULTY.values(), ids=FAULTY)
async def test_an_answer_that_is_no_decision_is_an_error_and_is_not_asked_for_again(
    script: Script, said: str
) -> None:
    async with serve(script) as service:
        decision = await AuthzenAuthorizer(service.origin).decide(QUERY)
        assert decision.allow is False
        (error,) = decision.errors
        assert any(each in error for each in said.split("|")), error
        assert service.connections == 1


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize("script", HANGING.values(), ids=HANGING)
async def test_a_service_that_hangs_is_left_in_time_and_its_connection_closed(
    script: Script, hasty: None
) -> None:
    async with serve(script) as service:
        decision = await AuthzenAuthorizer(service.origin).decide(QUERY)
        assert (decision.allow, decision.errors) == (False, ("no answer within 0.24 s",))
        async with asyncio.timeout(5):
            await service.gone.wait()


@pytest.mark.requirement("ACC-1", "ADP-2")
async def test_a_handshake_that_hangs_is_left_in_time_and_its_connection_closed(
    hasty: None,
) -> None:
    async with serve(hanging_after()) as service:
        url = service.origin.replace("http:", "https:")
        decision = await AuthzenAuthorizer(url).decide(QUERY)
        assert decision.errors == ("no answer within 0.24 s",)
        async with asyncio.timeout(5):
            await service.gone.wait()


@pytest.mark.requirement("ADP-5")
@pytest.mark.parametrize("secret", ["a\r\nX: b", "a\0", "schlüssel", "a\tb"])
async def test_a_credential_that_no_header_can_carry_is_never_sent(secret: str) -> None:
    async with serve(sending(answer(ALLOW))) as service:
        decision = await AuthzenAuthorizer(service.origin, read_credential=lambda: secret).decide(
            QUERY
        )
        assert decision.errors == ("the credential holds what no header can carry",)
        assert service.connections == 0


@pytest.mark.requirement("ACC-1")
async def test_an_answer_of_exactly_the_limit_is_a_decision() -> None:
    whole = b" " * (MAX_ANSWER_BYTES - len(ALLOW)) + ALLOW
    async with serve(sending(answer(whole))) as service:
        assert (await AuthzenAuthorizer(service.origin).decide(QUERY)).allow is True


@pytest.mark.requirement("ACC-1")
async def test_a_service_that_is_not_there_is_an_error() -> None:
    decision = await AuthzenAuthorizer("http://127.0.0.1:1").decide(QUERY)
    assert decision.errors == ("the exchange failed: ConnectError",)


@pytest.mark.requirement("ACC-1")
async def test_a_subject_that_is_no_text_is_never_sent() -> None:
    odd = AccessQuery(
        subject=Caller(subject="svc-\ud800"), action="call", tool="job_status", resource=None
    )
    async with serve(sending(answer(ALLOW))) as service:
        with pytest.raises(UnicodeEncodeError):
            await AuthzenAuthorizer(service.origin).decide(odd)
        assert service.connections == 0


@pytest.mark.requirement("ADP-2", "ACC-2")
async def test_proxy_variables_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with serve(sending(answer(ALLOW))) as service:
        assert (await AuthzenAuthorizer(service.origin).decide(QUERY)).allow is True


@pytest.mark.requirement("ADP-2", "ACC-2")
async def test_tls_is_checked_against_the_named_authority_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, context = make_certificate(tmp_path, "ours")
    other, _ = make_certificate(tmp_path, "other")
    monkeypatch.setenv("SSL_CERT_FILE", str(ours))  # the environment cannot widen the trust
    async with serve(sending(answer(ALLOW)), ssl=context) as service:
        origin = service.origin.replace("http:", "https:")
        assert (await AuthzenAuthorizer(origin, ca_file=str(ours)).decide(QUERY)).allow is True
        for url, ca_file in (
            (origin, str(other)),
            (origin, None),
            (origin.replace("127.0.0.1", "localhost"), str(ours)),
        ):
            refused = await AuthzenAuthorizer(url, ca_file=ca_file).decide(QUERY)
            assert refused.errors == ("the exchange failed: ConnectError",)
        assert len(service.heads) == 1


def test_an_authority_that_cannot_be_read_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="ca_file"):
        AuthzenAuthorizer("https://127.0.0.1:1", ca_file="/nowhere/ca.pem")


@pytest.mark.requirement("ADP-5")
async def test_the_credential_is_read_anew_and_stands_in_its_header_and_nowhere_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    environment = {"PDP_TOKEN": SECRET}
    credentials = Credentials(environ=environment)
    echo = answer(b'{"decision": false, "context": {"reason_admin": "%s"}}' % SECRET.encode())
    async with serve(sending(echo)) as service:
        authorizer = AuthzenAuthorizer(
            service.origin, read_credential=lambda: credentials.read("PDP_TOKEN")
        )
        gate = gate_of(contracts(), {"job_status": RecordedUpstream()}, authorizer=authorizer)
        given = await gate.call("job_status", ARGUMENTS, caller=ALICE)
        assert service.header("authorization") == f"Bearer {SECRET}"
        environment["PDP_TOKEN"] = "another"
        decision = await authorizer.decide(QUERY)
        assert service.header("authorization") == "Bearer another"
    events = list(gate.audit.events())
    assert SECRET not in f"{given} {events} {decision} {authorizer!r} {caplog.text}"


def unreadable() -> str:
    raise LookupError(SECRET)


ROWS: dict[str, tuple[Script | None, Callable[[], str] | None]] = {
    "down": (None, None),
    "slow": (hanging_after(), None),
    "lying": (sending(answer(b'{"decision": "true"}')), None),
    "raising": (sending(answer(ALLOW)), unreadable),
    "a credential that no header can carry": (sending(answer(ALLOW)), lambda: "a\r\nX: b"),
}


@pytest.mark.requirement("ACC-1", "RES-9")
@pytest.mark.parametrize(("script", "credential"), ROWS.values(), ids=ROWS)
async def test_a_decision_service_that_fails_is_a_refusal_with_its_event(
    script: Script | None, credential: Callable[[], str] | None, hasty: None
) -> None:
    upstream = RecordedUpstream(upstream_answer())

    async def call(origin: str) -> None:
        authorizer = AuthzenAuthorizer(origin, read_credential=credential)
        gate = gate_of(contracts(), {"job_status": upstream}, authorizer=authorizer)
        given = await gate.call("job_status", ARGUMENTS, caller=ALICE)
        assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
        (event,) = gate.audit.events(request_id=given.request_id)
        assert (event.kind, event.stage, event.code) == ("refused", "authorize", "PDP_UNAVAILABLE")
        assert SECRET not in f"{given} {event}"

    if script is None:
        await call("http://127.0.0.1:1")
    else:
        async with serve(script) as service:
            await call(service.origin)
    assert upstream.dispatches == []


@pytest.mark.requirement("ACC-1")
async def test_an_obligation_that_is_not_understood_denies() -> None:
    obliged = answer(b'{"decision": true, "context": {"obligations": [{"id": "mfa"}]}}')
    async with serve(sending(obliged)) as service:
        authorizer = AuthzenAuthorizer(service.origin)
        gate = gate_of(contracts(), {"job_status": RecordedUpstream()}, authorizer=authorizer)
        given = await gate.call("job_status", ARGUMENTS, caller=ALICE)
        (event,) = gate.audit.events(request_id=given.request_id)
    assert (given.outcome, given.code, event.code) == ("refused", "DENIED", "DENIED")
    assert event.decision_id == service.header("x-request-id")


WREN_AND_ROBIN = '{"projects": ["wren", "robin"]}'


@pytest.mark.requirement("ACC-2", "ARG-6")
async def test_each_resource_of_a_list_is_decided_and_a_denial_does_not_say_which() -> None:
    services: list[Upstream] = []
    denied = {"robin"}

    def decide(asked: dict[str, object]) -> bool:
        resource = asked["resource"]
        assert isinstance(resource, dict)
        return resource["id"] not in denied

    upstream = RecordedUpstream(b'{"state": "failed"}')
    async with serve(deciding(decide, services)) as service:
        services.append(service)
        authorizer = AuthzenAuthorizer(service.origin)
        gate = gate_of(MANY, {"job_status": upstream}, authorizer=authorizer)
        refusals = []
        for projects in (["robin", "wren"], ["wren", "robin"], ["wren", "robin", "finch"]):
            given = await gate.call("job_status", json.dumps({"projects": projects}), caller=ALICE)
            told = shape_envelope(given.envelope)
            told.pop("request_id")
            refusals.append(told)
        assert upstream.dispatches == []
        denied.clear()
        asked_before = service.connections
        allowed = await gate.call("job_status", WREN_AND_ROBIN, caller=ALICE)
        assert allowed.outcome == "success"
        assert service.connections == asked_before + 2
    assert refusals[0] == refusals[1] == refusals[2]
    assert "robin" not in json.dumps(refusals)
    assert refusals[0]["error"]["code"] == "DENIED"


@pytest.mark.requirement("ACC-2")
async def test_no_decision_is_kept_for_another_caller_or_another_call() -> None:
    services: list[Upstream] = []

    def decide(asked: dict[str, object]) -> bool:
        subject = asked["subject"]
        assert isinstance(subject, dict)
        return subject["id"] == "svc-deploy"

    upstream = RecordedUpstream(upstream_answer())
    async with serve(deciding(decide, services)) as service:
        services.append(service)
        authorizer = AuthzenAuthorizer(service.origin)
        gate = gate_of(contracts(), {"job_status": upstream}, authorizer=authorizer)
        outcomes = [
            (await gate.call("job_status", ARGUMENTS, caller=Caller(subject=subject))).outcome
            for subject in ("svc-deploy", "svc-other", "svc-deploy")
        ]
        assert outcomes == ["success", "refused", "success"]
        assert service.connections == 3


@pytest.mark.requirement("RET-2", "ENV-1")
@pytest.mark.parametrize(
    ("decisions", "attempts", "code"),
    [([True, False], 1, "DENIED"), ([True, True], 2, "UPSTREAM_DENIED")],
    ids=["denied the second time", "allowed the second time"],
)
async def test_a_refusal_upstream_asks_for_one_new_decision_and_never_loops(
    decisions: list[bool], attempts: int, code: str
) -> None:
    services: list[Upstream] = []
    waiting = iter(decisions)
    forbidden = Receipt(
        adapter="recorded",
        adapter_version="1",
        endpoint="recorded",
        status=403,
        content_type="application/json",
    )
    upstream = RecordedUpstream(forbidden)
    async with serve(deciding(lambda asked: next(waiting), services)) as service:
        services.append(service)
        authorizer = AuthzenAuthorizer(service.origin)
        gate = gate_of(contracts(), {"job_status": upstream}, authorizer=authorizer)
        given = await gate.call("job_status", ARGUMENTS, caller=ALICE)
        assert service.connections == 2
    # Something ran: what would refuse ends as a failure, and the true code goes to the operator.
    assert (given.outcome, given.code) == ("failure", "UPSTREAM_UNAVAILABLE")
    assert len(upstream.dispatches) == attempts
    last = list(gate.audit.events(request_id=given.request_id))[-1]
    assert (last.kind, last.code) == ("outcome", code)
