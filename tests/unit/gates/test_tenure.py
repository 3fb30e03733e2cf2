"""A set and its means are swapped whole: what is in force, what is still held, what is let go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts, let_go
from tests.unit.gates.test_identical_writes import Held
from tests.unit.gates.test_registering import coded

from sluicegate.contracts.problems import Problem
from sluicegate.errors import MisuseError
from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.gate import Gate
from sluicegate.gates.places import Places
from sluicegate.gates.ports import AccessQuery, AuditUnavailable, Decision
from sluicegate.gates.serving import Line
from sluicegate.gates.tenure import Opened
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.replays_memory import MemoryReplays
from sluicegate.testing import Notices, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("CON-3")

CALLER = Caller(subject="svc-deploy")
Reopen = Callable[[Opened], Opened | tuple[Problem, ...]]


def nothing() -> None:
    """What most adapters do besides when they are closed."""


class Closing(RecordedUpstream):
    closed = 0
    on_close: Callable[[], None] = staticmethod(nothing)

    async def close(self) -> None:
        self.closed += 1
        self.on_close()


class HeldClosing(Held, Closing):
    """An upstream that is being asked until it is let go."""


class Told(Notices):
    closed = 0

    def close(self) -> None:
        self.closed += 1


class Denying:
    async def decide(self, query: AccessQuery) -> Decision:
        return Decision(allow=False, decision_id="d")


def set_of(upstream: RecordedUpstream, **limits: int) -> Opened:
    made = gate_of(contracts(), {"job_status": upstream}, notices=Told())
    settings = made.contracts.settings
    if limits:
        settings = replace(settings, limits=replace(settings.limits, **limits))
    serving = replace(made._serving, contracts=replace(made.contracts, settings=settings))
    return Opened(serving=serving, means=made._means)


def gate_that(first: Opened, reopen: Reopen, author: Any = None) -> Gate:
    return Gate(first.means, first.serving, reopen=reopen, author=author)


def swap_for(*later: Opened) -> Reopen:
    """Open these in turn, over the record and the clock of what is served."""
    following = iter(later)

    def reopen(before: Opened) -> Opened:
        opened = next(following)
        notifier, authorizer = opened.means.notifier, opened.means.authorizer
        means = replace(before.means, notifier=notifier, authorizer=authorizer)
        return Opened(serving=opened.serving, means=means)

    return reopen


async def said(gate: Gate) -> str | None:
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    return given.code or given.outcome


def closed(opened: Opened) -> tuple[int, int]:
    """How often its adapter and its notifier were closed."""
    adapter, notifier = opened.serving.lines["job_status"].adapter, opened.means.notifier
    assert isinstance(adapter, Closing)
    assert isinstance(notifier, Told)
    return adapter.closed, notifier.closed


async def test_what_was_in_force_is_let_go_after_the_last_call_that_holds_it() -> None:
    held = HeldClosing(answer())
    first, second = set_of(held), set_of(Closing(answer()))
    gate = gate_that(first, swap_for(second))
    running = asyncio.create_task(said(gate))
    await held.asked.wait()
    assert await gate.reload() == ()
    assert await said(gate) == "success"
    assert (closed(first), closed(second)) == ((0, 0), (0, 0))
    held.release.set()
    assert await running == "success"
    await let_go(gate)
    assert (closed(first), closed(second)) == ((1, 1), (0, 0))
    await gate.close()
    assert (closed(first), closed(second)) == ((1, 1), (1, 1))


async def test_a_notifier_that_stays_in_force_is_closed_with_the_gate_alone() -> None:
    first, second = set_of(Closing(answer())), set_of(Closing(answer()))
    second = replace(second, means=replace(second.means, notifier=first.means.notifier))
    gate = gate_that(first, swap_for(second))
    await gate.reload()
    await let_go(gate)
    assert closed(first) == (1, 0)
    await gate.close()
    assert closed(second) == (1, 1)


async def test_a_call_is_decided_by_what_it_began_with() -> None:
    """It waits for the record of the set while another one comes into force."""
    waiting, release = asyncio.Event(), asyncio.Event()

    class Slow(MemoryStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            if events[0].kind is EventKind.CONTRACTS and not waiting.is_set():
                waiting.set()
                await release.wait()
            return await super().record(events, **how)

    first, second = set_of(Closing(answer())), set_of(Closing(answer()))
    first = replace(first, means=replace(first.means, store=Slow()))
    second = replace(second, means=replace(second.means, authorizer=Denying()))
    gate = gate_that(first, swap_for(second))
    running = asyncio.create_task(said(gate))
    await waiting.wait()
    assert await gate.reload() == ()
    release.set()
    assert (await running, await said(gate)) == ("success", "DENIED")


@pytest.mark.parametrize(
    ("limit", "runs"), [(1, False), (2, True)], ids=["the same", "a wider one"]
)
async def test_a_swap_lets_in_no_more_calls_than_the_limit(limit: int, runs: bool) -> None:
    held = HeldClosing(answer())
    first, second = set_of(held, in_flight=1), set_of(Closing(answer()), in_flight=limit)
    gate = gate_that(first, swap_for(second))
    running = asyncio.create_task(said(gate))
    await held.asked.wait()
    await gate.reload()
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER, deadline_s=0.05)
    assert given.code == (None if runs else "UPSTREAM_UNAVAILABLE")
    held.release.set()
    await running


@pytest.mark.requirement("RES-9")
async def test_a_swap_that_cannot_be_recorded_lets_go_of_what_was_opened() -> None:
    class Unwilling(MemoryStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            if events[0].detail.get("set") == "swapped":
                raise AuditUnavailable("disk full")
            return await super().record(events, **how)

    first, second = set_of(Closing(answer())), set_of(Closing(answer()))
    first = replace(first, means=replace(first.means, store=Unwilling()))
    gate = gate_that(first, swap_for(second))
    with pytest.raises(AuditUnavailable):
        await gate.reload()
    await let_go(gate)
    assert (closed(first), closed(second)) == ((0, 0), (1, 1))
    assert await said(gate) == "success"


@pytest.mark.requirement("CON-3", "AUD-1")
async def test_behind_a_swap_of_which_nobody_was_told_the_record_says_what_is_in_force() -> None:
    """The record may have it: then its last word on the sets would be of one that never served."""

    class Late(MemoryStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            ids = await super().record(events, **how)
            if events[0].detail.get("set") == "swapped":
                raise AuditUnavailable("no commit within 10 s")
            return ids

    store = Late()
    first, second = set_of(Closing(answer())), set_of(Closing(answer()))
    first = replace(first, means=replace(first.means, store=store))
    gate = gate_that(first, swap_for(second))
    assert await said(gate) == "success"
    with pytest.raises(AuditUnavailable):
        await gate.reload()
    assert await said(gate) == "success"
    sets = [
        json.loads(event.detail)["set"] for event in store.events() if event.kind == "contracts"
    ]
    assert sets == ["opened", "swapped", "opened"]


async def test_of_two_reloads_at_once_the_later_reading_is_in_force() -> None:
    sets = [set_of(Closing(answer())) for _ in range(3)]
    inside = 0

    def reopen(before: Opened) -> Opened:
        nonlocal inside
        inside += 1
        assert inside == 1
        opened = turns(before)
        inside -= 1
        return opened

    turns = swap_for(*sets[1:])
    gate = gate_that(sets[0], reopen)
    assert await asyncio.gather(gate.reload(), gate.reload()) == [(), ()]
    await let_go(gate)
    assert gate.contracts is sets[2].serving.contracts
    assert [closed(each) for each in sets] == [(1, 1), (1, 1), (0, 0)]


async def test_a_reload_that_is_cancelled_lets_go_of_what_it_opens() -> None:
    opening, release = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    first, second = set_of(Closing(answer())), set_of(Closing(answer()))

    def reopen(before: Opened) -> Opened:
        loop.call_soon_threadsafe(opening.set)
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result(10)
        return swap_for(second)(before)

    gate = gate_that(first, reopen)
    reloading = asyncio.create_task(gate.reload())
    await opening.wait()
    reloading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reloading
    release.set()
    await gate.close()
    assert (closed(first), closed(second)) == ((1, 1), (1, 1))


async def test_a_gate_that_was_closed_opens_nothing() -> None:
    first = set_of(Closing(answer()))
    gate = gate_that(first, swap_for())
    await gate.close()
    with pytest.raises(MisuseError, match="this gate is closed"):
        await gate.reload()
    await gate.close()
    assert closed(first) == (1, 1)


def author(function: Callable[..., object], parts: Mapping[str, Any]) -> Line:
    return coded(parts["name"])


@pytest.mark.requirement("CON-7")
async def test_a_function_that_is_registered_while_a_swap_is_recorded_is_served() -> None:
    recording, release = asyncio.Event(), asyncio.Event()

    class Slow(MemoryStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            if events[0].detail.get("set") == "swapped" and not recording.is_set():
                recording.set()
                await release.wait()
            return await super().record(events, **how)

    first, second = set_of(Closing(answer())), set_of(Closing(answer()))
    first = replace(first, means=replace(first.means, store=Slow()))
    gate = gate_that(first, swap_for(second), author)
    reloading = asyncio.create_task(gate.reload())
    await recording.wait()
    gate.tool(name="coded")(print)
    release.set()
    assert await reloading == ()
    assert sorted(gate.contracts.contracts) == ["coded", "job_status"]


@pytest.mark.requirement("CON-7")
async def test_a_call_that_began_before_a_function_was_registered_keeps_its_adapter() -> None:
    held = HeldClosing(answer())
    first, second = set_of(held), set_of(Closing(answer()))
    gate = gate_that(first, swap_for(second), author)
    running = asyncio.create_task(said(gate))
    await held.asked.wait()
    gate.tool(name="coded")(print)
    await gate.reload()
    assert closed(first) == (0, 0)
    held.release.set()
    assert await running == "success"
    await let_go(gate)
    assert closed(first) == (1, 1)


@pytest.mark.requirement("CON-7")
async def test_of_two_old_sets_that_end_at_once_each_thing_is_closed_once() -> None:
    held = HeldClosing(answer())
    first, second = set_of(held), set_of(Closing(answer()))
    gate = gate_that(first, swap_for(second), author)
    before = asyncio.create_task(said(gate))
    await held.asked.wait()
    held.asked.clear()
    gate.tool(name="coded")(print)  # another set over the same adapter and notifier
    behind = asyncio.create_task(said(gate))
    await held.asked.wait()
    await gate.reload()
    held.release.set()
    assert await asyncio.gather(before, behind) == ["success", "success"]
    await let_go(gate)
    assert (closed(first), closed(second)) == ((1, 1), (0, 0))
    await gate.close()
    assert (closed(first), closed(second)) == ((1, 1), (1, 1))


async def test_what_a_cancelled_reload_opens_over_an_old_notifier_closes_it_once() -> None:
    opening, release = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    first, second, late = (set_of(Closing(answer())) for _ in range(3))
    late = replace(late, means=replace(late.means, notifier=first.means.notifier))

    def reopen(before: Opened) -> Opened:
        if opening.is_set():
            return swap_for(second)(before)
        loop.call_soon_threadsafe(opening.set)
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result(10)
        return swap_for(late)(before)

    gate = gate_that(first, reopen)
    reloading = asyncio.create_task(gate.reload())
    await opening.wait()
    reloading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reloading
    assert await gate.reload() == ()
    await let_go(gate)
    assert closed(first) == (0, 0)  # something is being opened that may have its notifier
    release.set()
    await gate.close()
    assert [closed(each) for each in (first, late, second)] == [(1, 1), (1, 1), (1, 1)]


class Slow(Closing):
    """Closes only when it is let go."""

    def __init__(self, *received: bytes) -> None:
        super().__init__(*received)
        self.closing, self.may_close = asyncio.Event(), asyncio.Event()

    async def close(self) -> None:
        self.closing.set()
        await self.may_close.wait()
        await super().close()


@pytest.mark.requirement("RET-1")
async def test_no_call_waits_for_what_is_let_go_behind_it_and_closing_does() -> None:
    ends: list[str] = []
    slow, last = Slow(answer()), Closing(answer())
    slow.on_close, last.on_close = partial(ends.append, "let go"), partial(ends.append, "in force")
    held = HeldClosing(answer())
    first, second, third = set_of(held), set_of(slow), set_of(last)
    gate = gate_that(first, swap_for(second, third))
    running = asyncio.create_task(said(gate))
    await held.asked.wait()
    await gate.reload()
    await gate.reload()  # what it swapped out is being closed
    await slow.closing.wait()
    held.release.set()
    assert await running == "success"
    closing = asyncio.create_task(gate.close())
    await asyncio.sleep(0)  # it has begun, and goes on before whom the event wakes
    slow.may_close.set()
    await closing
    assert ends == ["let go", "in force"]
    assert [closed(each) for each in (first, second, third)] == [(1, 1), (1, 1), (1, 1)]


async def test_closing_goes_on_without_who_asked_for_it_and_is_one_for_all() -> None:
    held = HeldClosing(answer())
    first = set_of(held)
    gate = gate_that(first, swap_for())
    running = asyncio.create_task(said(gate))
    await held.asked.wait()
    gone, stays = asyncio.create_task(gate.close()), asyncio.create_task(gate.close())
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert (stays.done(), closed(first)) == (False, (0, 0))
    held.release.set()
    assert await running == "success"
    await stays
    await gate.close()
    assert closed(first) == (1, 1)


@pytest.mark.requirement("RES-6")
async def test_a_memory_of_signed_answers_that_was_opened_for_nothing_is_closed() -> None:
    class Replays(MemoryReplays):
        closed = 0

        async def close(self) -> None:
            self.closed += 1

    class Unwilling(MemoryStore):
        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            raise AuditUnavailable("disk full")

    opened = Replays()
    first, second = set_of(Closing(answer())), set_of(Closing(answer()))
    first = replace(first, means=replace(first.means, store=Unwilling(), replays=None))

    def reopen(before: Opened) -> Opened:
        return replace(second, means=replace(before.means, replays=opened))

    gate = gate_that(first, reopen)
    with pytest.raises(AuditUnavailable):
        await gate.reload()
    await let_go(gate)
    assert (opened.closed, closed(second)[0]) == (1, 1)


@pytest.mark.parametrize(
    ("limits", "most"), [((3, 2, 3, 2, 3), 3), ((3, 1), 1), ((1, 3), 3)], ids=str
)
async def test_so_many_calls_run_at_once_as_the_limit_in_force_says(
    limits: tuple[int, ...], most: int
) -> None:
    places = Places(limits[0])
    for _ in range(limits[0]):
        await places.take()
    for limit in limits[1:]:
        await places.resize(limit)
    for _ in range(limits[0]):
        places.give_back()
    waiting = [asyncio.create_task(places.take()) for _ in range(5)]
    await asyncio.sleep(0)
    assert sum(each.done() for each in waiting) == most
    for each in waiting:
        each.cancel()
