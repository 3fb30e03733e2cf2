"""What is closed as a failure, and what is an order to end."""

from __future__ import annotations

import asyncio

import pytest

from sluicegate.gates.failures import is_failure, text_of


class Panic(BaseException):
    """As an engine written in Rust raises it."""


class Exit(SystemExit):
    """An order of its own name."""


EXPECTED = {
    Panic: True,
    ValueError: True,
    TimeoutError: True,
    StopIteration: True,
    KeyboardInterrupt: False,
    SystemExit: False,
    Exit: False,
    GeneratorExit: False,
    asyncio.CancelledError: False,
}


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("kind", EXPECTED, ids=lambda kind: kind.__name__)
def test_all_but_orders_to_end_are_failures(kind: type[BaseException]) -> None:
    assert is_failure(kind("text")) is EXPECTED[kind]


@pytest.mark.requirement("RES-9")
async def test_a_cancellation_that_nobody_asked_of_this_task_is_a_failure() -> None:
    assert is_failure(asyncio.CancelledError())


@pytest.mark.requirement("RES-9")
async def test_a_cancellation_of_the_running_task_is_an_order() -> None:
    judged: list[bool] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            judged.append(is_failure(error))
            raise

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert judged == [False]


class MuteError(Exception):
    """Its own text is a failure."""

    def __repr__(self) -> str:
        raise Panic


@pytest.mark.requirement("RES-9")
def test_a_failure_whose_text_fails_is_named_by_its_type() -> None:
    assert [text_of(error) for error in (ValueError("x"), MuteError())] == [
        "ValueError('x')",
        "MuteError",
    ]
