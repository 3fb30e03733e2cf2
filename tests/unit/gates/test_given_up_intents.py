"""Calls that end while their intent is being recorded: an outcome stands behind an intent alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts
from tests.unit.stores.test_sqlite_writer import held

from sluicegate.gates.events import AuditEvent, begins_something
from sluicegate.gates.forwarding import ForwardingStore
from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.keys import draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("AUD-1")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
WRITE: dict[str, Any] = {"effect": "write"}


async def give_up(calling: asyncio.Task[Any], gate: Gate) -> None:
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await finish(gate)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0)


async def finish(gate: Gate) -> None:
    await gate._means.owing.settle()


class Attended(ForwardingStore):
    """A record whose attendant is waited for before an intent, after it, or in its place."""

    def __init__(self, *, commits: bool, after: BaseException | None = None) -> None:
        super().__init__(MemoryStore())
        self._commits, self._after = commits, after
        self.waiting = asyncio.Event()

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> Sequence[str]:
        if not begins_something(events) or self.waiting.is_set():
            return await super().record(events, **how)
        if self._commits:
            await super().record(events, **how)
        self.waiting.set()
        if self._after is not None:
            raise self._after
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.parametrize("parts", [{}, WRITE], ids=["read", "write"])
async def test_a_call_that_is_cancelled_leaves_an_outcome_where_its_intent_stands(
    parts: dict[str, Any], commits: bool
) -> None:
    store = Attended(commits=commits)
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(**parts), {"job_status": upstream}, store=store)
    calling = asyncio.create_task(gate.call("job_status", ARGUMENTS, caller=CALLER))
    await store.waiting.wait()
    await give_up(calling, gate)
    told = [(event.kind, event.outcome) for event in gate.audit.events(tool="job_status")]
    assert told == ([("intent", "pending"), ("outcome", "failure")] if commits else [])
    assert (list(gate.audit.open_intents()), upstream.dispatches) == ([], [])
    again = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert again.outcome == "success"


@pytest.mark.parametrize("commits", [False, True])
async def test_a_record_that_fails_at_an_intent_has_one_event_or_two(commits: bool) -> None:
    store = Attended(commits=commits, after=AuditUnavailable("no commit within 10 s"))
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())}, store=store)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    await finish(gate)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    told = [
        (event.kind, event.outcome, event.code) for event in gate.audit.events(tool="job_status")
    ]
    refused = ("refused", "AUDIT_UNAVAILABLE")
    assert told == (
        [("intent", "pending", None), ("outcome", *refused)] if commits else [("refused", *refused)]
    )


class Losing(MemoryStore):
    """Commits an intent and loses the word of it, and takes no end of it until it is well."""

    def __init__(self) -> None:
        super().__init__()
        self.is_well = True

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        if self.is_well:
            return await super().record(events, **how)
        if begins_something(events):
            await super().record(events, **how)
        raise AuditUnavailable("no commit within 10 s")


@pytest.mark.requirement("RET-2")
async def test_an_end_that_stands_is_not_written_again_where_nobody_was_told_of_it() -> None:
    """As where the record has it, and a second sink takes it not."""

    class Silent(MemoryStore):
        is_well = True

        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            ids = await super().record(events, **how)
            if not self.is_well:
                raise AuditUnavailable("the second sink took nothing")
            return ids

    store = Silent()
    gate = gate_of(contracts(**WRITE), {"job_status": RecordedUpstream(answer())}, store=store)
    await gate.call("job_status", "{}", caller=CALLER)  # which records the set of contracts
    store.is_well = False
    lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    await finish(gate)
    store.is_well = True
    await gate.call("job_status", "{}", caller=CALLER)
    await finish(gate)
    story = [(e.kind, e.outcome) for e in store.events(request_id=lost.request_id)]
    assert story == [("intent", "pending"), ("outcome", "refused")]


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize("then", ["another call", "the gate closes"])
async def test_an_intent_that_could_not_be_closed_is_closed_once_the_record_is_well(
    then: str,
) -> None:
    store = Losing()
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(**WRITE), {"job_status": upstream}, store=store)
    await gate.call("job_status", "{}", caller=CALLER)  # which records the set of contracts
    store.is_well = False
    lost = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    await finish(gate)
    assert (lost.code, len(store.open_intents())) == ("UNAVAILABLE", 1)
    store.is_well = True
    if then == "another call":
        await gate.call("job_status", "{}", caller=CALLER)
        await until(lambda: store.open_intents() == ())
        again = await gate.call("job_status", ARGUMENTS, caller=CALLER)
        assert (again.outcome, len(upstream.dispatches)) == ("success", 1)
    else:
        store.close = kept_open  # type: ignore[method-assign]
        await gate.close()
        assert store.open_intents() == ()
    story = [(e.kind, e.outcome) for e in store.events(request_id=lost.request_id)]
    assert story == [("intent", "pending"), ("outcome", "refused")]


async def kept_open() -> None:
    """Read after its gate has closed."""


async def test_an_intent_that_waits_for_the_lock_of_its_file_is_dropped_with_its_call(
    tmp_path: Path,
) -> None:
    store = SqliteStore(tmp_path / "a.db", draw_keys())
    gate = gate_of(contracts(**WRITE), {"job_status": RecordedUpstream(answer())}, store=store)
    writer = store._writer
    try:
        await gate.call("job_status", "{}", caller=CALLER)  # which records the set of contracts
        with held(store):
            # What the writer has in hand while it waits for the file is not dropped.
            first = asyncio.create_task(gate.call("job_status", ARGUMENTS, caller=CALLER))
            await until(lambda: bool(writer._queued_bytes) and writer._queue.empty())
            other = Caller(subject="svc-other", tenant="team-a")
            calling = asyncio.create_task(gate.call("job_status", ARGUMENTS, caller=other))
            await until(lambda: not writer._queue.empty())
            calling.cancel()
            await asyncio.wait([calling])
        assert (await first).outcome == "success"
        await finish(gate)
        told = [(event.kind, event.caller_subject) for event in store.events(tool="job_status")]
        assert told[1:] == [("intent", "svc-deploy"), ("outcome", "svc-deploy")]
        assert store.verify().broken_at is None
    finally:
        await gate.close()
