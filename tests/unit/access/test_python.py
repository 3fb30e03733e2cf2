"""A Python function as the decision point: only its own True allows."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from sluicegate.access.python import MAX_RUNNING, FunctionAuthorizer
from sluicegate.gates.ports import AccessQuery, Decision, Resource
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("ACC-1", "ACC-2")

QUERY = AccessQuery(
    subject=Caller(subject="svc-deploy"),
    action="call",
    tool="job_status",
    resource=Resource(type="project", id="bluebird"),
)


def ask(function: Callable[[AccessQuery], object]) -> FunctionAuthorizer:
    return FunctionAuthorizer(function, name="acme.access:decide", new_id=lambda: "d1")


@pytest.mark.parametrize("allow", [True, False])
async def test_a_boolean_is_the_decision(allow: bool) -> None:
    async def decide(query: AccessQuery) -> bool:
        return allow

    for function in (decide, lambda query: allow):
        decision = await ask(function).decide(QUERY)
        expected = Decision(
            allow=allow,
            decision_id="d1",
            reason="acme.access:decide decided",
            policy_version="acme.access:decide",
        )
        assert expected == decision


async def test_the_function_gets_the_whole_query() -> None:
    seen: list[AccessQuery] = []
    await ask(lambda query: seen.append(query) or True).decide(QUERY)
    assert seen == [QUERY]


async def test_a_decision_is_handed_on_as_it_is() -> None:
    made = Decision(allow=True, decision_id="theirs", obligations=("log",), errors=("x",))
    assert made is await ask(lambda query: made).decide(QUERY)


@pytest.mark.parametrize("value", [None, 1, "true", [True], {"allow": True}, 0], ids=repr)
async def test_what_only_looks_like_true_never_becomes_a_decision(value: object) -> None:
    decided: object = await ask(lambda query: value).decide(QUERY)
    assert decided is value
    assert not isinstance(decided, Decision)


async def test_what_the_function_raises_is_raised() -> None:
    def broken(query: AccessQuery) -> bool:
        raise LookupError("no such caller")

    with pytest.raises(LookupError, match="no such caller"):
        await ask(broken).decide(QUERY)


async def test_a_sync_function_does_not_hold_up_the_loop() -> None:
    threads: list[threading.Thread] = []

    def decide(query: AccessQuery) -> bool:
        threads.append(threading.current_thread())
        return True

    await ask(decide).decide(QUERY)
    assert threading.main_thread() is not threads[0]


async def test_functions_that_hang_are_bounded_and_leave_the_threads_of_the_loop_alone() -> None:
    hang = threading.Event()
    started = threading.Semaphore(0)

    def decide(query: AccessQuery) -> bool:
        started.release()
        return hang.wait(30)

    authorizer = ask(decide)
    hanging = [asyncio.ensure_future(authorizer.decide(QUERY)) for _ in range(MAX_RUNNING)]
    try:
        # The loop's own threads are free, so this very wait can run there.
        await asyncio.to_thread(lambda: [started.acquire() for _ in range(MAX_RUNNING)])
        for task in hanging[1:]:
            task.cancel()
        with pytest.raises(RuntimeError, match="still run"):
            await authorizer.decide(QUERY)
    finally:
        hang.set()
    assert (await hanging[0]).allow is True


async def test_a_thread_that_has_ended_makes_room() -> None:
    authorizer = ask(lambda query: True)
    for _ in range(2 * MAX_RUNNING):
        assert (await authorizer.decide(QUERY)).allow is True


@pytest.mark.parametrize("raised", [SystemExit(0), asyncio.CancelledError(), StopIteration()])
async def test_no_exception_of_the_function_passes_for_an_exit_or_a_cancellation(
    raised: BaseException,
) -> None:
    def broken(query: AccessQuery) -> bool:
        raise raised

    with pytest.raises(RuntimeError):
        await ask(broken).decide(QUERY)


@pytest.mark.parametrize("raised", [SystemExit(0), asyncio.CancelledError()])
async def test_nor_does_one_of_an_async_function(raised: BaseException) -> None:
    async def broken(query: AccessQuery) -> bool:
        raise raised

    with pytest.raises(RuntimeError, match=r"acme\.access:decide raised"):
        await ask(broken).decide(QUERY)
