"""A Python function as an upstream: its own objects, a deadline, an encoded value."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar

import pytest
from tests.unit.adapters.dispatches import dispatch

from sluicegate.adapters import python
from sluicegate.adapters.python import PythonAdapter
from sluicegate.contracts.contract import PythonFetch, PythonName
from sluicegate.errors import ConfigurationError
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ADP-4")

FETCH = PythonFetch(function=PythonName("acme.tools", "job_status"), timeout_s=10)


def adapter(function: Callable[..., object]) -> PythonAdapter:
    return PythonAdapter(FETCH, function)


async def call(function: Callable[..., object], *, timeout_s: float = 10.0) -> Receipt:
    return await adapter(function).fetch(dispatch({"run_id": "r1"}, timeout_s=timeout_s))


async def test_a_value_comes_back_as_json_bytes_with_provenance() -> None:
    receipt = await call(lambda run_id: {"id": run_id, "n": (1, 2)})
    expected = ("python", "acme.tools:job_status", b'{"id": "r1", "n": [1, 2]}', None, True)
    assert expected == (
        receipt.adapter,
        receipt.endpoint,
        receipt.raw,
        receipt.fault,
        receipt.dispatched,
    )


async def test_an_async_function_is_awaited() -> None:
    async def tool(*, run_id: str) -> dict[str, str]:
        await asyncio.sleep(0)
        return {"id": run_id}

    class Tool:
        async def __call__(self, run_id: str) -> dict[str, str]:
            return await tool(run_id=run_id)

    assert (await call(tool)).raw == b'{"id": "r1"}'
    assert (await call(Tool())).raw == b'{"id": "r1"}'


async def test_a_sync_function_does_not_run_on_the_loops_thread() -> None:
    receipt = await call(lambda run_id: threading.current_thread() is threading.main_thread())
    assert receipt.raw == b"false"


async def test_a_function_sees_the_context_of_its_call() -> None:
    tenant: ContextVar[str] = ContextVar("tenant")
    tenant.set("acme")
    assert (await call(lambda run_id: tenant.get())).raw == b'"acme"'


async def test_a_function_cannot_change_the_validated_arguments() -> None:
    def spoil(ids: list[str]) -> int:
        ids.append("other")
        return len(ids)

    question = dispatch({"ids": ["a"]})
    assert (await adapter(spoil).fetch(question)).raw == b"2"
    assert question.arguments == {"ids": ["a"]}


async def test_integers_of_the_arguments_are_exact() -> None:
    receipt = await adapter(lambda n: n).fetch(dispatch({"n": 2**70}))
    assert str(2**70).encode() == receipt.raw


@pytest.mark.requirement("RES-1")
async def test_what_a_tool_raises_is_for_the_operator() -> None:
    def broken(run_id: str) -> None:
        raise LookupError("no such run")

    receipt = await call(broken)
    assert (receipt.fault, receipt.dispatched, receipt.raw) == (Fault.RAISED, True, b"")
    assert receipt.diagnostics.rstrip().endswith(b"LookupError: no such run")


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


RAISED = [
    SystemExit(3),
    asyncio.CancelledError(),
    UnprintableError(),
    TimeoutError(),
    StopIteration(),
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
async def test_whatever_a_tool_raises_ends_that_call_only(error: BaseException) -> None:
    async def raise_async(run_id: str) -> None:
        raise error

    def raise_sync(run_id: str) -> None:
        raise error

    assert Fault.RAISED is (await call(raise_async)).fault
    assert Fault.RAISED is (await call(raise_sync)).fault


async def test_an_endless_exception_text_is_bounded() -> None:
    def broken(run_id: str) -> None:
        raise ValueError("x" * 1_000_000)

    assert len((await call(broken)).diagnostics) == 16_384


@pytest.mark.parametrize("value", [float("nan"), {1: 2}, b"{}", {"a": "\ud800"}, object()])
async def test_a_value_that_is_no_json_is_refused(value: object) -> None:
    receipt = await call(lambda run_id: value)
    assert (receipt.fault, receipt.dispatched, receipt.raw) == (Fault.NOT_JSON, True, b"")


@pytest.mark.requirement("RES-1")
async def test_a_value_beyond_the_limit_is_too_large() -> None:
    asked = adapter(lambda: "x" * 8)
    assert None is (await asked.fetch(dispatch(max_bytes=10))).fault
    assert Fault.TOO_LARGE is (await asked.fetch(dispatch(max_bytes=9))).fault


async def test_arguments_that_do_not_fit_call_nothing() -> None:
    called = []
    receipt = await call(lambda other: called.append(other))
    assert (receipt.fault, receipt.dispatched, called) == (Fault.RAISED, False, [])


@pytest.mark.requirement("ADP-2")
async def test_a_sync_function_past_its_deadline_is_left_alone() -> None:
    release = threading.Event()
    receipt = await call(lambda run_id: release.wait(10), timeout_s=0.05)
    release.set()
    assert (receipt.fault, receipt.dispatched) == (Fault.TIMEOUT, True)


@pytest.mark.requirement("ADP-2")
async def test_an_async_function_past_its_deadline_is_cancelled_and_not_waited_for() -> None:
    stubborn = asyncio.Event()
    cancelled = asyncio.Event()

    async def tool(run_id: str) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.set()
        await stubborn.wait()
        return "late"

    receipt = await call(tool, timeout_s=0.05)
    assert Fault.TIMEOUT is receipt.fault
    await asyncio.wait_for(cancelled.wait(), 5)
    stubborn.set()


@pytest.mark.requirement("ADP-2")
async def test_a_cancelled_call_cancels_its_function() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def tool(run_id: str) -> None:
        started.set()
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    running = asyncio.ensure_future(call(tool))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(cancelled.wait(), 5)


async def test_too_many_calls_that_never_end_refuse_further_ones_before_they_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(python, "MAX_RUNNING", 2)
    release = threading.Event()
    asked = adapter(lambda: release.wait(10))
    for _ in range(2):
        assert Fault.TIMEOUT is (await asked.fetch(dispatch(timeout_s=0.02))).fault
    refused = await asked.fetch(dispatch(timeout_s=0.02))
    assert (refused.fault, refused.dispatched) == (Fault.UNREACHABLE, False)
    release.set()
    receipt = refused
    for _ in range(1000):
        receipt = await asked.fetch(dispatch())
        if receipt.fault is None:
            break
        await asyncio.sleep(0.001)
    assert receipt.raw == b"true"


async def test_a_coroutine_of_a_sync_function_is_refused_and_closed() -> None:
    async def tool() -> int:
        return 1

    receipt = await call(lambda run_id: tool())
    assert Fault.NOT_JSON is receipt.fault


def test_what_has_no_signature_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match=r"acme.tools:job_status"):
        adapter(min)
