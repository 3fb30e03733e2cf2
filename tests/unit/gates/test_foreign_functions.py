"""A function of somebody else: bounded, never waited for longer than wished, its ending mapped."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from sluicegate.gates.foreign_functions import DaemonThreads, NoRoom, is_async, run_async

pytestmark = pytest.mark.requirement("ADP-4", "ACC-2")

ENDINGS: list[BaseException] = [
    ValueError("x"),
    SystemExit(3),
    asyncio.CancelledError(),
    StopIteration(),
    GeneratorExit(),
]


def name_of(error: BaseException) -> str:
    return type(error).__name__


def fail(error: BaseException) -> str:
    raise error


@pytest.mark.parametrize("error", ENDINGS, ids=name_of)
async def test_whatever_a_thread_raises_is_mapped_as_its_ending(error: BaseException) -> None:
    threads = DaemonThreads("f", 1)
    assert await threads.start(lambda: fail(error), name_of) == name_of(error)
    assert await threads.start(lambda: "next", name_of) == "next"


@pytest.mark.parametrize("error", ENDINGS[:3], ids=name_of)
async def test_whatever_a_coroutine_raises_is_mapped_as_its_ending(error: BaseException) -> None:
    async def work() -> str:
        return fail(error)

    assert await run_async(work, name_of) == name_of(error)


async def test_a_cancellation_of_the_running_task_is_obeyed() -> None:
    started = asyncio.Event()

    async def work() -> str:
        started.set()
        await asyncio.Event().wait()
        return "never"

    task = asyncio.create_task(run_async(work, name_of))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_threads_see_the_context_of_their_call_and_are_daemons() -> None:
    tenant: ContextVar[str] = ContextVar("tenant")
    tenant.set("acme")
    seen = DaemonThreads("f", 1).start(
        lambda: (tenant.get(), threading.current_thread().daemon), lambda error: ("", False)
    )
    assert await seen == ("acme", True)


async def test_beyond_the_limit_nothing_is_called_until_a_thread_ends() -> None:
    release = threading.Event()
    threads = DaemonThreads("f", 1)
    hanging = threads.start(lambda: str(release.wait(10)), name_of)
    with pytest.raises(NoRoom, match="1 earlier calls of f still run"):
        threads.start(lambda: "called", name_of)
    release.set()
    assert await hanging == "True"
    assert await threads.start(lambda: "called", name_of) == "called"


async def test_a_system_without_threads_refuses_and_takes_no_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads = DaemonThreads("f", 1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", lambda thread: fail(RuntimeError("no more")))
        for _ in range(2):
            with pytest.raises(NoRoom, match="no thread could be started"):
                threads.start(lambda: "called", name_of)
    assert await threads.start(lambda: "called", name_of) == "called"


def test_an_object_with_an_async_call_is_async() -> None:
    class Tool:
        async def __call__(self) -> None: ...

    async def tool() -> None: ...

    assert [is_async(each) for each in (Tool(), tool, name_of)] == [True, True, False]
