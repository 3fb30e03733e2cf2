"""One alarm for all who wait for a commit."""

import asyncio

import pytest

from sluicegate.stores.patience import Patience


class LateError(Exception):
    """What the impatient are told."""


@pytest.mark.requirement("AUD-1")
def test_who_waits_too_long_is_told_and_who_is_served_in_time_is_not() -> None:
    async def wait() -> list[object]:
        patience = Patience(0.05, LateError)
        loop = asyncio.get_running_loop()
        futures = [loop.create_future() for _ in range(5)]
        for future in futures:
            patience.watch(future)
        futures[1].set_result("in time")
        futures[3].cancel()
        return await asyncio.gather(*futures, return_exceptions=True)

    told = asyncio.run(wait())
    assert [type(each) for each in told] == [
        LateError,
        str,
        LateError,
        asyncio.CancelledError,
        LateError,
    ]


@pytest.mark.requirement("AUD-1")
def test_each_one_has_the_whole_span_whenever_it_came() -> None:
    async def wait() -> tuple[float, float]:
        patience = Patience(0.1, LateError)
        loop = asyncio.get_running_loop()
        first, second = loop.create_future(), loop.create_future()
        begun = loop.time()
        patience.watch(first)
        await asyncio.wait([first], timeout=0.05)
        patience.watch(second)
        second_begun = loop.time()
        await asyncio.gather(first, return_exceptions=True)
        waited = loop.time() - begun
        await asyncio.gather(second, return_exceptions=True)
        return waited, loop.time() - second_begun

    assert min(asyncio.run(wait())) >= 0.1


@pytest.mark.requirement("AUD-1")
def test_a_loop_that_was_idle_is_watched_again() -> None:
    async def wait() -> object:
        patience = Patience(0.02, LateError)
        loop = asyncio.get_running_loop()
        served = loop.create_future()
        patience.watch(served)
        served.set_result(None)
        await asyncio.sleep(0.05)  # the alarm rings for nobody
        left = loop.create_future()
        patience.watch(left)
        return (await asyncio.gather(left, return_exceptions=True))[0]

    assert isinstance(asyncio.run(wait()), LateError)
