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
