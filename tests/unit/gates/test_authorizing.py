"""A decision counts only if it came in time, whatever kept the gate from cutting it off."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, MANY, answer, contracts

from sluicegate.access.python import FunctionAuthorizer
from sluicegate.gates.authorizing import DECISION_TIMEOUT_S, Permitted, authorize
from sluicegate.gates.call_gate import CallLadder, Prepared
from sluicegate.gates.ports import AccessQuery, Authorizer, Decision
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

CALLER = Caller(subject="svc-deploy", tenant="team-a")
LATE_S = DECISION_TIMEOUT_S + 0.05


async def hold_up_the_loop(query: AccessQuery) -> bool:
    time.sleep(LATE_S)
    return True


async def swallow_the_cancellation(query: AccessQuery) -> bool:
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        return True
    return False


async def await_what_was_cancelled(query: AccessQuery) -> bool:
    helper = asyncio.ensure_future(asyncio.Event().wait())
    helper.cancel()
    await helper
    return True


class Plain:
    """A decision point of its own making, without the port's function between."""

    def __init__(self, decide: Callable[[AccessQuery], Awaitable[bool]]) -> None:
        self._decide = decide

    async def decide(self, query: AccessQuery) -> Decision:
        return Decision(allow=await self._decide(query), decision_id="d-1")


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize(
    "decide",
    [hold_up_the_loop, swallow_the_cancellation, await_what_was_cancelled],
    ids=lambda function: function.__name__,
)
@pytest.mark.parametrize("plain", [True, False], ids=["port", "function"])
async def test_a_decision_that_is_late_or_cancels_itself_is_none(
    decide: Callable[[AccessQuery], Awaitable[bool]], plain: bool
) -> None:
    authorizer: Authorizer = Plain(decide) if plain else FunctionAuthorizer(decide, name="a:b")
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream}, authorizer=authorizer)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (event.kind, event.code) == ("refused", "PDP_UNAVAILABLE")
    assert upstream.dispatches == []


@pytest.mark.requirement("ACC-1")
async def test_a_call_that_is_cancelled_while_it_is_decided_ends_as_cancelled() -> None:
    asked = asyncio.Event()

    class Slow:
        async def decide(self, query: AccessQuery) -> Decision:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    gate = gate_of(contracts(), {"job_status": RecordedUpstream()}, authorizer=Slow())
    calling = asyncio.create_task(gate.call("job_status", ARGUMENTS, caller=CALLER))
    await asked.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling


class Saying:
    """A decision point that says what it was given."""

    def __init__(self, **said: object) -> None:
        self._said = said

    async def decide(self, query: AccessQuery) -> Decision:
        return Decision(decision_id="d-1", policy_version="v-7", **self._said)  # type: ignore[arg-type]


@pytest.mark.requirement("ACC-1", "AUD-2")
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"allow": True}, None),
        ({"allow": False, "reason": "row SECRET-REASON denies"}, "DENIED"),
        ({"allow": True, "obligations": ("obligation 1",)}, "DENIED"),
        ({"allow": True, "errors": ("SECRET-REASON",)}, "PDP_UNAVAILABLE"),
    ],
    ids=["allowed", "denied", "obliged", "error"],
)
async def test_the_event_names_the_decision_and_the_policies_it_was_taken_by(
    said: dict[str, object], code: str | None
) -> None:
    gate = gate_of(
        contracts(), {"job_status": RecordedUpstream(answer())}, authorizer=Saying(**said)
    )
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    event = next(iter(gate.audit.events(request_id=given.request_id)))
    assert (event.code, event.decision_id) == (code, "d-1")
    assert json.loads(event.detail)["policy"] == "v-7"
    assert "SECRET-REASON" not in event.detail  # what it says of itself may quote arguments


@pytest.mark.requirement("ACC-1", "RES-9")
@pytest.mark.parametrize(
    "said",
    [{"reason": 5}, {"policy_version": object()}, {"errors": (KeyError("x"),)}, {"errors": 7}],
    ids=["reason", "version", "error", "errors"],
)
async def test_a_decision_whose_texts_are_none_is_no_decision(said: dict[str, object]) -> None:
    class Odd:
        async def decide(self, query: AccessQuery) -> Decision:
            made: dict[str, object] = {"allow": True, "decision_id": "d-1", **said}
            return Decision(**made)  # type: ignore[arg-type]

    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream}, authorizer=Odd())
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (given.code, event.code, upstream.dispatches) == ("UNAVAILABLE", "PDP_UNAVAILABLE", [])


@pytest.mark.requirement("ACC-1", "AUD-4")
async def test_why_a_call_was_denied_is_kept_in_custody() -> None:
    authorizer = Saying(allow=False, reason="row 3 denies")
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())}, authorizer=authorizer)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    (event,) = gate.audit.events(request_id=given.request_id)
    ref = json.loads(event.detail)["custody"]["engine"]
    now = datetime.now(UTC)
    assert await gate.audit.reveal(ref, who="o", reason="r", now=now) == b"row 3 denies"


class Deciding:
    """A decision point that gives, or raises, one of ``given`` for each question."""

    def __init__(self, *given: Decision | Exception) -> None:
        self._given = iter(given)

    async def decide(self, query: AccessQuery) -> Decision:
        given = next(self._given)
        if isinstance(given, Exception):
            raise given
        return given


def decision(number: int, *, allow: bool = True, **more: Any) -> Decision:
    return Decision(allow=allow, decision_id=f"d-{number}", policy_version=f"v-{number}", **more)


PROJECTS = '{"projects": ["wren", "robin", "finch"]}'


@pytest.mark.requirement("ACC-2", "AUD-2")
async def test_of_several_resources_every_decision_is_known_and_the_first_one_speaks() -> None:
    contract = MANY.contracts["job_status"]
    prepared = CallLadder(contract).climb(PROJECTS.encode(), CALLER)
    assert isinstance(prepared, Prepared)
    point = Deciding(decision(1), decision(2), decision(3))
    permitted = await authorize(prepared, contract, CALLER, point, FixedClock())
    assert isinstance(permitted, Permitted)
    assert (permitted.decision_id, permitted.policy_version) == ("d-1", "v-1")
    assert permitted.decision_ids == ("d-1", "d-2", "d-3")


REFUSED: dict[str, tuple[list[Decision | Exception], tuple[str, str | None], dict[str, object]]] = {
    "the first is denied": (
        [decision(1, allow=False)],
        ("DENIED", "d-1"),
        {"policy": "v-1", "resource": "project at /projects/0"},
    ),
    "the second is denied": (
        [decision(1), decision(2, allow=False)],
        ("DENIED", "d-2"),
        {
            "policy": "v-2",
            "resource": "project at /projects/1",
            "decisions": ["d-1", "d-2"],
        },
    ),
    "the third errs": (
        [decision(1), decision(2), decision(3, errors=("odd",))],
        ("PDP_UNAVAILABLE", "d-3"),
        {
            "policy": "v-3",
            "resource": "project at /projects/2",
            "decisions": ["d-1", "d-2", "d-3"],
        },
    ),
    "the second is none": (
        [decision(1), ConnectionError("down")],
        ("PDP_UNAVAILABLE", None),
        {"resource": "project at /projects/1", "decisions": ["d-1"]},
    ),
    "the second is obliged": (
        [decision(1), decision(2, obligations=("log",)), decision(3)],
        ("DENIED", "d-2"),
        {
            "policy": "v-2",
            "resource": "project at /projects/1",
            "decisions": ["d-1", "d-2", "d-3"],
        },
    ),
}


@pytest.mark.requirement("ACC-2", "AUD-2")
@pytest.mark.parametrize("case", REFUSED)
async def test_a_refusal_names_every_decision_that_was_taken_for_it(case: str) -> None:
    given, expected, detail = REFUSED[case]
    gate = gate_of(MANY, {"job_status": RecordedUpstream()}, authorizer=Deciding(*given))
    told = await gate.call("job_status", PROJECTS, caller=CALLER)
    (event,) = gate.audit.events(request_id=told.request_id)
    assert (event.code, event.decision_id) == expected
    recorded = json.loads(event.detail)
    recorded.pop("custody", None)
    assert recorded == detail


@pytest.mark.requirement("ARG-5", "AUD-2")
async def test_a_denial_between_two_attempts_is_named_where_the_call_ends() -> None:
    lost = Receipt(
        adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.TIMEOUT
    )
    retry = {"attempts": 2, "budget_s": 5, "on": ["UPSTREAM_UNAVAILABLE"]}
    gate = gate_of(
        contracts(retry=retry),
        {"job_status": RecordedUpstream(lost)},
        authorizer=Deciding(decision(1), decision(2, allow=False)),
    )
    told = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    *_, event = gate.audit.events(request_id=told.request_id)
    assert (event.kind, event.code, event.decision_id) == ("outcome", "DENIED", "d-2")
    assert json.loads(event.detail)["policy"] == "v-2"


@pytest.mark.requirement("ACC-2", "AUD-2")
async def test_the_intent_of_a_call_about_several_resources_names_every_decision() -> None:
    gate = gate_of(
        MANY,
        {"job_status": RecordedUpstream(b'{"state": "failed"}')},
        authorizer=Deciding(decision(1), decision(2), decision(3)),
    )
    told = await gate.call("job_status", PROJECTS, caller=CALLER)
    intent, _ = gate.audit.events(request_id=told.request_id)
    assert (told.outcome, intent.decision_id) == ("success", "d-1")
    assert json.loads(intent.detail) == {"policy": "v-1", "decisions": ["d-1", "d-2", "d-3"]}


@pytest.mark.requirement("ACC-1", "AUD-4")
async def test_an_obligation_is_told_as_the_reason_of_the_denial() -> None:
    said = decision(1, reason="the service allows", obligations=("log",))
    gate = gate_of(
        contracts(), {"job_status": RecordedUpstream(answer())}, authorizer=Deciding(said)
    )
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    (event,) = gate.audit.events(request_id=given.request_id)
    ref = json.loads(event.detail)["custody"]["engine"]
    kept = await gate.audit.reveal(ref, who="o", reason="r", now=datetime.now(UTC))
    assert (given.code, kept) == (
        "DENIED",
        b"it is allowed with obligations, and none is understood",
    )


class Minded:
    """Decides each project in its own way."""

    def __init__(self, **ways: object) -> None:
        self.ways = ways

    async def decide(self, query: AccessQuery) -> Decision:
        assert query.resource is not None
        way = self.ways[query.resource.id]
        if way == "hangs":
            await asyncio.Event().wait()
        if isinstance(way, Exception):
            raise way
        return Decision(allow=way == "allows", decision_id=f"d-{query.resource.id}")


BESIDE_A_DENIAL: dict[str, object] = {
    "late": "hangs",
    "raised": ConnectionError("down"),
    "allowed": "allows",
}


@pytest.mark.requirement("ACC-1", "ARG-6")
@pytest.mark.parametrize("beside", BESIDE_A_DENIAL)
@pytest.mark.parametrize("denied", ["wren", "finch"])
async def test_a_denial_stands_whatever_becomes_of_the_other_questions(
    denied: str, beside: str
) -> None:
    ways = {"wren": BESIDE_A_DENIAL[beside], "robin": "allows", "finch": BESIDE_A_DENIAL[beside]}
    point = Minded(**{**ways, denied: "denies"})
    gate = gate_of(MANY, {"job_status": RecordedUpstream()}, authorizer=point)
    told = await gate.call("job_status", PROJECTS, caller=CALLER)
    (event,) = gate.audit.events(request_id=told.request_id)
    detail = json.loads(event.detail)
    place = f"project at /projects/{['wren', 'robin', 'finch'].index(denied)}"
    assert (told.code, event.decision_id, detail["resource"]) == ("DENIED", f"d-{denied}", place)
    assert {"d-robin", f"d-{denied}"} <= set(detail["decisions"])
