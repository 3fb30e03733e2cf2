"""What went wrong once: each a sentence about what must hold."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime

import pytest
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer, contracts, let_in

from sluicegate.errors import MisuseError
from sluicegate.gates.gate import Gate
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AccessQuery, Decision, Dispatch
from sluicegate.gates.serving import Serving
from sluicegate.gates.tenure import Opened
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

CALLER = Caller(subject="svc-deploy", tenant="t-1")
KEYED = {
    "effect": "write",
    "fetch": {
        "http": {
            "method": "POST",
            "url": "http://127.0.0.1:9/{/run_id}",
            "timeout_s": 5,
            "idempotency_header": "Idempotency-Key",
        }
    },
    "retry": {"attempts": 3, "budget_s": 10, "on": ["UPSTREAM_UNAVAILABLE"]},
}


def http(raw: bytes = b"", *, status: int | None = 200, fault: Fault | None = None) -> Receipt:
    return Receipt(
        adapter="http",
        adapter_version="1",
        endpoint="e",
        raw=raw,
        status=status,
        content_type="application/json",
        fault=fault,
    )


@pytest.mark.requirement("RET-2")
async def test_a_write_that_the_upstream_keys_is_repeated_under_the_same_key() -> None:
    upstream = RecordedUpstream(http(fault=Fault.TIMEOUT, status=None), http(answer()))
    gate = gate_of(contracts(**KEYED), {"job_status": upstream})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER, call_id="toolu_1")
    assert given.outcome == "success"
    assert len({dispatch.idempotency_key for dispatch in upstream.dispatches}) == 1
    assert len(upstream.dispatches) == 2
    assert gate.audit.open_intents() == ()


@pytest.mark.requirement("RET-2")
async def test_a_later_refusal_does_not_close_what_an_earlier_attempt_left_open() -> None:
    upstream = RecordedUpstream(
        http(fault=Fault.TIMEOUT, status=None), http(fault=Fault.UNREACHABLE, status=None)
    )
    gate = gate_of(contracts(**KEYED), {"job_status": upstream})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("failure", "OUTCOME_UNKNOWN")
    assert {e.request_id for e in gate.audit.open_intents()} == {given.request_id}


@pytest.mark.requirement("RET-2")
async def test_keys_of_other_callers_tools_and_calls_never_meet() -> None:
    long = "toolu_" + "x" * 80
    upstream = RecordedUpstream(http(answer()))
    gate = gate_of(contracts(**KEYED), {"job_status": upstream})
    for caller, call_id in (
        (CALLER, long + "1"),
        (CALLER, long + "2"),
        (Caller(subject="svc-deploy", tenant="t-2"), long + "1"),
        (CALLER, None),
        (CALLER, None),
    ):
        await gate.call("job_status", ARGUMENTS, caller=caller, call_id=call_id)
    keys = [dispatch.idempotency_key for dispatch in upstream.dispatches]
    assert len(set(keys)) == len(keys) == 5


@pytest.mark.requirement("ARG-8", "ADP-1")
async def test_arguments_that_cannot_stand_in_the_address_end_as_repeated() -> None:
    unfit = Receipt(
        adapter="http",
        adapter_version="1",
        endpoint="e",
        fault=Fault.BAD_ARGUMENT,
        dispatched=False,
    )
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(unfit)})
    seen = [(await gate.call("job_status", ARGUMENTS, caller=CALLER)).code for _ in range(3)]
    assert seen == ["INVALID_ARGUMENTS", "INVALID_ARGUMENTS", "REPEATED_INVALID_CALL"]
    assert gate.audit.open_intents() == ()


@pytest.mark.requirement("RET-1")
async def test_waiting_for_a_place_counts_against_the_deadline() -> None:
    release = asyncio.Event()

    class Busy(RecordedUpstream):
        async def fetch(self, dispatch: Dispatch) -> Receipt:
            await release.wait()
            return await super().fetch(dispatch)

    served = contracts()
    gate = gate_of(served, {"job_status": Busy(answer())})
    await let_in(gate, 1)
    first = asyncio.create_task(gate.call("job_status", ARGUMENTS, caller=CALLER))
    await asyncio.sleep(0)
    waited = await gate.call("job_status", ARGUMENTS, caller=CALLER, deadline_s=0.05)
    assert (waited.outcome, waited.code) == ("refused", "UPSTREAM_UNAVAILABLE")
    event = list(gate.audit.events(request_id=waited.request_id))[-1]
    assert (event.stage, event.code) == ("retry", "BUDGET_SPENT")
    release.set()
    assert (await first).outcome == "success"


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("hand", ["now", "monotonic"])
async def test_a_clock_that_cannot_be_read_refuses(hand: str) -> None:
    class Broken(FixedClock):
        def now(self) -> datetime:
            if hand == "now":
                raise OSError("clock")
            return super().now()

        def monotonic(self) -> float:
            if hand == "monotonic":
                raise OSError("clock")
            return super().monotonic()

    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream}, clock=Broken())
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert upstream.dispatches == []


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize(("resources", "code"), [(8, None), (40, "UNAVAILABLE")])
async def test_resources_are_asked_about_side_by_side_within_one_quarter_of_a_second(
    resources: int, code: str | None
) -> None:
    asked = most = 0

    class Slow:
        async def decide(self, query: AccessQuery) -> Decision:
            nonlocal asked, most
            asked += 1
            most = max(most, asked)
            await asyncio.sleep(0.06)
            asked -= 1
            return Decision(allow=True, decision_id="d")

    rule = {"type": "project", "id": "/project_id"}
    several = {**CONTRACT["arguments"], "resource": [rule] * resources}  # type: ignore[dict-item]
    gate = gate_of(
        contracts(arguments=several), {"job_status": RecordedUpstream(answer())}, authorizer=Slow()
    )
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.code, most) == (code, 8)


@pytest.mark.requirement("ACC-2")
async def test_a_list_without_items_names_no_resource_and_is_denied() -> None:
    arguments = {
        "schema": {
            "type": "object",
            "properties": {
                "project_id": {"type": "string", "pattern": "^[a-z]{3,9}$"},
                "run_id": {"type": "string", "pattern": "^run_[A-Za-z0-9]{12,48}$"},
                "ids": {"type": "array", "items": {"type": "integer"}, "maxItems": 9},
            },
            "required": ["project_id", "run_id", "ids"],
            "additionalProperties": False,
        },
        "resource": [{"type": "account", "id": "/ids"}],
    }
    gate = gate_of(contracts(arguments=arguments), {"job_status": RecordedUpstream(answer())})
    seen = []
    for ids in ([], [7]):
        text = json.dumps({**json.loads(ARGUMENTS), "ids": ids})
        seen.append((await gate.call("job_status", text, caller=CALLER)).code)
    assert seen == ["DENIED", None]


@pytest.mark.requirement("AUD-2", "ACC-1")
async def test_a_refused_call_leaves_a_digest_of_its_text_and_the_decision() -> None:
    class Denying:
        async def decide(self, query: AccessQuery) -> Decision:
            return Decision(allow=False, decision_id="d-7")

    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())}, authorizer=Denying())
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    (event,) = gate.audit.events(request_id=given.request_id)
    assert event.decision_id == "d-7"
    assert event.raw_hmac is not None
    assert event.raw_bytes == len(ARGUMENTS)


@pytest.mark.requirement("AUD-4", "AUD-5")
@pytest.mark.parametrize("carrier", ["bare", "envelope", "map"])
async def test_what_is_masked_is_not_in_custody_whatever_carries_it(carrier: str) -> None:
    secret = "2026-11-30T11:59:31Z"
    data = answer(observed_at=secret)
    raw = data
    upstream_part: dict[str, object] = {}
    if carrier == "envelope":
        upstream_part = {"upstream": {"envelope": True}}
        raw = json.dumps(
            {
                "tool": "x",
                "request_id": "req.J7q94MkP",
                "outcome": "success",
                "data": json.loads(data),
            }
        ).encode()
    if carrier == "map":
        names = ("project_id", "run_id", "state", "observed_at")
        upstream_part = {"upstream": {"map": {name: f"/{name}" for name in names}}}
        raw = answer(observed_at=secret, project_id="copperhead")
    if carrier == "bare":
        raw = answer(observed_at=secret, project_id="copperhead")
    served = contracts(mask={"result": ["/observed_at"]}, **upstream_part)
    gate = gate_of(served, {"job_status": RecordedUpstream(raw)})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    event = list(gate.audit.events(request_id=given.request_id))[-1]
    assert event.outcome == "failure"
    if carrier == "map":
        assert event.raw_ref is None
    else:
        kept = await gate.audit.reveal(
            event.raw_ref or "", who="op", reason="test", now=FixedClock().now()
        )
        assert secret.encode() not in kept
        assert "masked" in kept.decode()


@pytest.mark.requirement("CON-3")
async def test_a_reload_swaps_who_may_call_with_the_contracts_and_closes_no_shared_adapter() -> (
    None
):
    class Closing(RecordedUpstream):
        closed = 0

        async def close(self) -> None:
            self.closed += 1

    class Denying:
        async def decide(self, query: AccessQuery) -> Decision:
            return Decision(allow=False, decision_id="d")

    shared = Closing(answer())
    first = gate_of(contracts(), {"job_status": shared})
    second = gate_of(contracts(), {"job_status": shared}, authorizer=Denying())

    def reopen(before: object) -> Opened:
        return Opened(serving=second._serving, means=second._means)

    gate = Gate(first._means, first._serving, reopen=reopen)
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).outcome == "success"
    assert await gate.reload() == ()
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).code == "DENIED"
    assert shared.closed == 0


@pytest.mark.requirement("ARG-5", "ARG-9")
async def test_an_outstanding_call_hands_out_nothing_that_the_answer_is_bound_to() -> None:
    gate = gate_of(contracts(), {"job_status": RecordedUpstream()})
    outstanding = await gate.check_call("job_status", ARGUMENTS, caller=CALLER)
    assert isinstance(outstanding, Outstanding)
    assert [name for name in dir(outstanding) if not name.startswith("_")] == [
        "arguments",
        "request_id",
        "spend",
    ]
    assert outstanding.arguments is not outstanding.arguments


def test_a_serving_set_is_a_value() -> None:
    serving = gate_of(contracts(), {"job_status": RecordedUpstream()})._serving
    assert isinstance(serving, Serving)
    with pytest.raises(AttributeError):
        serving.lines = {}  # type: ignore[misc]


async def test_arguments_and_callers_of_the_wrong_kind_say_what_to_pass() -> None:
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())})
    with pytest.raises(MisuseError, match=r"json\.dumps"):
        await gate.call("job_status", {"project_id": "bluebird"}, caller=CALLER)  # type: ignore[call-overload]
    with pytest.raises(MisuseError, match="Caller"):
        await gate.call("job_status", ARGUMENTS, caller="svc-deploy")  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("caller", "said"),
    [
        (Caller(subject=""), r"`subject` of a Caller is empty"),
        (Caller(subject=5), r"`subject` of a Caller is a text"),  # type: ignore[arg-type]
        (Caller(subject="a\0"), r"`subject` of a Caller is a text without NUL"),
        (Caller(subject="a\ud800"), r"`subject` of a Caller is a text without NUL"),
        (Caller(subject="a" * 1_025), r"`subject` of a Caller has 1,025 bytes in UTF-8: at most 1"),
        (Caller(subject="é" * 513), r"`subject` of a Caller has 1,026 bytes"),
        (Caller(subject="a", tenant="a" * 10_000_000), r"`tenant` of a Caller has 10,000,000 byte"),
        (Caller(subject="a", session="a" * 1_025), r"`session` of a Caller has 1,025 bytes"),
    ],
    ids=lambda value: repr(value)[:32],
)
async def test_a_caller_that_cannot_be_recorded_is_misuse_and_told_why(
    caller: Caller, said: str
) -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream})
    with pytest.raises(MisuseError, match=f"^{said}"):
        await gate.call("job_status", ARGUMENTS, caller=caller)
    with pytest.raises(MisuseError, match=f"^{said}"):
        gate.tool_definitions(caller=caller)
    assert upstream.dispatches == []


async def test_a_name_of_the_longest_length_is_recorded() -> None:
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())})
    longest = Caller(subject="é" * 512, tenant="a" * 1_024, session="a" * 1_024)
    given = await gate.call("job_status", ARGUMENTS, caller=longest, call_id="a" * 1_024)
    assert given.outcome == "success"


@pytest.mark.requirement("AUD-1")
async def test_closing_waits_for_the_calls_in_flight() -> None:
    release = asyncio.Event()

    class Busy(RecordedUpstream):
        async def fetch(self, dispatch: Dispatch) -> Receipt:
            release.set()
            await asyncio.sleep(0)
            return await super().fetch(dispatch)

    gate = gate_of(contracts(), {"job_status": Busy(answer())})
    running = asyncio.create_task(gate.call("job_status", ARGUMENTS, caller=CALLER))
    await release.wait()
    await gate.close()
    assert (await running).outcome == "success"
    with pytest.raises(MisuseError, match="closed"):
        await gate.call("job_status", ARGUMENTS, caller=CALLER)
