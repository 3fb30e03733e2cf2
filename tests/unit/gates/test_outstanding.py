"""A host that fetches for itself: in time, in a place, and while the gate is open."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer, contracts, let_in

from sluicegate.adapters.host import HostAdapter
from sluicegate.errors import MisuseError
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.gate import Gate
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AccessQuery, Decision
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import FixedClock, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ARG-9")

CALLER = Caller(subject="svc-deploy")
STEADY = {
    "result": {name: part for name, part in dict(CONTRACT["result"]).items() if name != "fresh"}  # type: ignore[call-overload]
}


def host_gate(
    clock: FixedClock | None = None,
    *,
    store: MemoryStore | None = None,
    fetch: dict[str, object] | None = None,
    effect: str = "read",
    in_flight: int | None = None,
) -> Gate:
    served = contracts(fetch=fetch or {"host": {"timeout_s": 2}}, effect=effect, **STEADY)
    if in_flight is not None:
        limits = replace(served.settings.limits, in_flight=in_flight)
        served = replace(served, settings=replace(served.settings, limits=limits))
    return gate_of(served, {"job_status": HostAdapter()}, clock=clock, store=store)


async def ask(gate: Gate) -> Outstanding:
    asked = await gate.check_call("job_status", ARGUMENTS, caller=CALLER)
    assert isinstance(asked, Outstanding)
    return asked


def last_code(gate: Gate, request_id: str) -> tuple[str, str | None]:
    event = list(gate.audit.events(request_id=request_id))[-1]
    return event.outcome, event.code


@pytest.mark.requirement("ADP-2", "ENV-1")
@pytest.mark.parametrize(
    ("after_s", "effect", "code", "recorded"),
    [
        (2.0, "read", None, ("success", None)),
        (2.001, "read", "UPSTREAM_UNAVAILABLE", ("failure", "UPSTREAM_TIMEOUT")),
        (86_400, "read", "UPSTREAM_UNAVAILABLE", ("failure", "UPSTREAM_TIMEOUT")),
        (2.0, "write", None, ("success", None)),
        (2.001, "write", "OUTCOME_UNKNOWN", ("unknown", "UPSTREAM_TIMEOUT")),
    ],
)
async def test_an_answer_after_what_the_host_is_granted_is_no_answer(
    after_s: float, effect: str, code: str | None, recorded: tuple[str, str | None]
) -> None:
    clock = FixedClock()
    gate = host_gate(clock, effect=effect)
    outstanding = await ask(gate)
    clock.advance(after_s)
    given = await gate.check_result(outstanding, answer())
    assert given.code == code
    assert last_code(gate, given.request_id) == recorded


@pytest.mark.parametrize(("after_s", "code"), [(3600.0, None), (3600.001, "UPSTREAM_UNAVAILABLE")])
async def test_without_a_declared_time_the_longest_one_counts(
    after_s: float, code: str | None
) -> None:
    clock = FixedClock()
    gate = host_gate(clock, fetch={"host": {}})
    outstanding = await ask(gate)
    clock.advance(after_s)
    assert (await gate.check_result(outstanding, answer())).code == code


async def test_what_is_granted_runs_from_the_end_of_the_question() -> None:
    clock = FixedClock()

    class Slow(MemoryStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            clock.advance(0.9)
            return await super().record(events, **how)

    gate = host_gate(clock, store=Slow())
    outstanding = await ask(gate)
    clock.advance(1.9)
    assert (await gate.check_result(outstanding, answer())).outcome == "success"


async def test_a_fault_that_the_host_saw_itself_stays_that_fault() -> None:
    clock = FixedClock()
    gate = host_gate(clock, effect="write")
    outstanding = await ask(gate)
    clock.advance(3)
    unreached = Receipt(
        adapter="host",
        adapter_version="1",
        endpoint="host",
        fault=Fault.UNREACHABLE,
        dispatched=False,
    )
    given = await gate.check_result(outstanding, unreached)
    assert given.code == "UPSTREAM_UNAVAILABLE"
    assert last_code(gate, given.request_id) == ("failure", "UPSTREAM_UNAVAILABLE")


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("effect", ["read", "write"])
async def test_a_clock_that_cannot_be_read_accepts_no_answer(effect: str) -> None:
    class Breaking(FixedClock):
        broken = False

        def monotonic(self) -> float:
            if self.broken:
                raise OSError("clock")
            return super().monotonic()

    clock = Breaking()
    gate = host_gate(clock, effect=effect)
    outstanding = await ask(gate)
    clock.broken = True
    given = await gate.check_result(outstanding, answer())
    expected = "OUTCOME_UNKNOWN" if effect == "write" else "UPSTREAM_UNAVAILABLE"
    assert (given.outcome, given.code) == ("failure", expected)
    assert last_code(gate, given.request_id)[1] == "INTERNAL"


async def test_a_closed_gate_takes_no_answer_and_spends_nothing() -> None:
    gate = host_gate()
    outstanding = await ask(gate)
    await gate.close()
    for _ in range(2):
        with pytest.raises(MisuseError, match="closed"):
            await gate.check_result(outstanding, answer())


class HeldStore(MemoryStore):
    """Holds the first outcome back until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self.held, self.release = asyncio.Event(), asyncio.Event()
        self.closed_early = False

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        if events[0].kind == "outcome" and not self.held.is_set():
            self.held.set()
            await self.release.wait()
        return await super().record(events, **how)

    async def close(self) -> None:
        self.closed_early = not self.release.is_set()
        await super().close()


@pytest.mark.requirement("AUD-1")
async def test_closing_waits_for_an_answer_that_is_being_judged() -> None:
    store = HeldStore()
    gate = host_gate(store=store)
    outstanding = await ask(gate)
    judging = asyncio.create_task(gate.check_result(outstanding, answer()))
    await store.held.wait()
    closing = asyncio.create_task(gate.close())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not closing.done()
    store.release.set()
    assert (await judging).outcome == "success"
    await closing
    assert not store.closed_early


async def test_an_answer_waits_for_a_place_and_the_hosts_own_fetching_holds_none() -> None:
    store = HeldStore()
    clock = FixedClock()
    gate = host_gate(clock, store=store, in_flight=1)
    first = await ask(gate)
    judging = asyncio.create_task(gate.check_result(first, answer()))
    await store.held.wait()
    asking = asyncio.create_task(gate.check_call("job_status", ARGUMENTS, caller=CALLER))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not asking.done()
    store.release.set()
    assert (await judging).outcome == "success"
    second = await asking
    assert isinstance(second, Outstanding)
    third = await ask(gate)  # the second still waits for its answer, and holds no place
    for outstanding in (third, second):
        assert (await gate.check_result(outstanding, answer())).outcome == "success"


@pytest.mark.requirement("RET-1")
async def test_time_in_the_queue_makes_no_answer_late() -> None:
    store = HeldStore()
    clock = FixedClock()
    gate = host_gate(clock, store=store, in_flight=2)
    first, second = await asyncio.gather(ask(gate), ask(gate))
    await let_in(gate, 1)
    tasks = [asyncio.create_task(gate.check_result(each, answer())) for each in (first, second)]
    await store.held.wait()
    clock.advance(60)
    store.release.set()
    assert [(await task).outcome for task in tasks] == ["success", "success"]


@pytest.mark.requirement("AUD-1")
async def test_an_answer_that_is_cancelled_while_it_waits_closes_its_intent() -> None:
    gate = host_gate(effect="write", in_flight=1)
    outstanding = await ask(gate)
    await gate._tenure.places.take()
    waiting = asyncio.create_task(gate.check_result(outstanding, answer()))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await gate._means.owing.settle()
    assert last_code(gate, outstanding.request_id) == ("unknown", "UPSTREAM_TIMEOUT")


async def test_a_question_that_finds_no_place_in_time_is_refused() -> None:
    class Denying:
        async def decide(self, query: AccessQuery) -> Decision:
            raise AssertionError

    served = contracts(retry={"attempts": 2, "budget_s": 0.02, "on": ["UPSTREAM_UNAVAILABLE"]})
    gate = gate_of(served, {"job_status": HostAdapter()}, authorizer=Denying())
    await let_in(gate, 0)
    asked = await gate.check_call("job_status", ARGUMENTS, caller=CALLER)
    assert not isinstance(asked, Outstanding)
    assert (asked.outcome, asked.code) == ("refused", "UPSTREAM_UNAVAILABLE")
    assert last_code(gate, asked.request_id) == ("refused", "BUDGET_SPENT")


async def test_the_answer_of_another_gates_call_is_misuse_and_spends_nothing() -> None:
    first, second = host_gate(), host_gate()
    outstanding = await ask(first)
    with pytest.raises(MisuseError, match="of another gate"):
        await second.check_result(outstanding, answer())
    assert list(second.audit.events(request_id=outstanding.request_id)) == []
    assert (await first.check_result(outstanding, answer())).outcome == "success"


@pytest.mark.parametrize(
    "received",
    ["{}", None, 5, bytearray(b"{}"), memoryview(b"{}")],
    ids=lambda received: type(received).__name__,
)
async def test_what_is_neither_bytes_nor_a_receipt_is_misuse_and_spends_nothing(
    received: Any,
) -> None:
    gate = host_gate()
    outstanding = await ask(gate)
    with pytest.raises(MisuseError, match="as bytes, or a Receipt"):
        await gate.check_result(outstanding, received)
    assert (await gate.check_result(outstanding, answer())).outcome == "success"


async def test_a_refusal_is_no_outstanding_call() -> None:
    gate = host_gate()
    refused: Any = await gate.check_call("job_status", "{}", caller=CALLER)
    with pytest.raises(MisuseError, match="check_call"):
        await gate.check_result(refused, answer())


RECEIVED = Receipt(adapter="host", adapter_version="1", endpoint="GET /jobs", raw=answer())


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("adapter", 5),
        ("adapter", "a\0"),
        ("adapter_version", 5),
        ("adapter_version", None),
        ("adapter_version", "é" * 513),
        ("endpoint", b"GET /jobs"),
        ("endpoint", "a\ud800"),
        ("endpoint", "a" * 4_097),
        ("raw", "{}"),
        ("raw", None),
        ("diagnostics", "lost"),
        ("fault", "timeout"),
        ("dispatched", 1),
        ("from_cache", None),
        ("status", "200"),
        ("status", True),
        ("exit_code", 1.0),
        ("content_type", b"application/json"),
        ("content_encoding", 5),
        ("retry_after_s", "5"),
        ("headers", {"ETag": "x"}),
        ("headers", (("ETag", b"x"),)),
        ("headers", ("ETag",)),
    ],
    ids=lambda value: repr(value)[:24],
)
async def test_a_receipt_with_a_member_of_another_type_is_misuse_and_spends_nothing(
    member: str, value: Any
) -> None:
    gate = host_gate()
    outstanding = await ask(gate)
    with pytest.raises(MisuseError, match=f"^`{member}` of a Receipt"):
        await gate.check_result(outstanding, replace(RECEIVED, **{member: value}))
    assert (await gate.check_result(outstanding, RECEIVED)).outcome == "success"
