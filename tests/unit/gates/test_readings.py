"""A source that hangs holds up who waits for it, in one thread, and nobody else."""

from __future__ import annotations

import asyncio
import threading

import pytest
from tests.unit.checks import signing
from tests.unit.gates.test_signed_answers import Signed, signed

from sluicegate.checks.authentication_keys import PublicKeys
from sluicegate.gates import authenticating
from sluicegate.gates.readings import SharedReading

pytestmark = pytest.mark.requirement("RES-9")
MANY = 48
"""More than the loop's own threads, which are at most 32."""


class Source:
    """Reads a number that grows, or hangs at a gate that the test opens."""

    def __init__(self) -> None:
        self.opened, self.begun = threading.Event(), threading.Semaphore(0)
        self.running = self.most = self.count = 0

    def read(self) -> int:
        self.running += 1
        self.most = max(self.most, self.running)
        self.count += 1
        count = self.count
        self.begun.release()
        assert self.opened.wait(20)
        self.running -= 1
        return count


async def begun(source: Source) -> None:
    assert await asyncio.to_thread(source.begun.acquire, timeout=20)


async def test_who_asks_while_one_reads_is_given_what_was_read_after_the_question() -> None:
    source = Source()
    reading = SharedReading("number", source.read)
    first = asyncio.create_task(reading.read())
    await begun(source)
    late = [asyncio.create_task(reading.read()) for _ in range(MANY)]
    await asyncio.sleep(0)
    source.opened.set()
    assert await first == 1
    assert await asyncio.gather(*late) == [2] * MANY
    assert await reading.read() == 3
    assert source.most == 1


async def test_who_gives_up_takes_the_reading_from_nobody_else() -> None:
    source = Source()
    reading = SharedReading("number", source.read)
    waiting = [asyncio.create_task(reading.read()) for _ in range(3)]
    await begun(source)
    for each in waiting[:2]:  # the first reads, the second and third share the next
        each.cancel()
    source.opened.set()
    assert await waiting[2] == 2


async def test_what_the_source_raises_is_raised_for_each_who_waits_and_ends_nothing() -> None:
    given = iter([LookupError("no")])

    def read() -> int:
        for error in given:
            raise error
        return 1

    reading = SharedReading("number", read)
    with pytest.raises(LookupError):
        await reading.read()
    assert await reading.read() == 1


async def test_a_waiting_loop_that_was_closed_leaves_the_source_to_the_next_loop() -> None:
    source = Source()
    reading = SharedReading("number", source.read)

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await reading.read()

    await asyncio.to_thread(asyncio.run, give_up())
    later = asyncio.create_task(reading.read())
    await asyncio.sleep(0)
    source.opened.set()
    assert await later == 2


@pytest.mark.requirement("RES-6")
async def test_keys_that_hang_refuse_their_calls_and_hold_up_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(authenticating, "KEYS_WITHIN_S", 0.05)
    opened = threading.Event()
    reading = list[threading.Thread]()

    def hang() -> PublicKeys:
        reading.append(threading.current_thread())
        assert opened.wait(20)
        return signing.public(signing.ED25519)

    gate = Signed(signed())
    gate.keys.read = hang
    seen = await asyncio.gather(*(gate.call() for _ in range(MANY)))
    async with asyncio.timeout(5):
        unrelated = await asyncio.to_thread(threading.current_thread)
    begun_by = [*reading]
    opened.set()
    assert set(seen) == {("UNAVAILABLE", "internal", "INTERNAL")}
    assert len(begun_by) == 1
    assert unrelated not in begun_by
    assert gate.upstream.dispatches == []
    monkeypatch.setattr(authenticating, "KEYS_WITHIN_S", 20)
    assert await gate.call() == ("success", None, None)
