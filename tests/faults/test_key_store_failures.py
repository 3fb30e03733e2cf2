"""Gates that share their keys through Redis: whatever fails, nothing runs twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis
from tests.faults.audit_processes import fork
from tests.redis_servers import RedisServer, run_redis
from tests.sharing import PATIENCE_S, share
from tests.unit.gates.restart import ARGUMENTS, DONE, folder
from tests.unit.gates.test_idempotency import FRESH
from tests.unit.gates.test_identical_writes import Held
from tests.waiting import until

from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.forwarding import ForwardingStore
from sluicegate.gates.gate import Gate
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AuditStore, Clock, Dispatch
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.opening.clock import SystemClock
from sluicegate.opening.key_stores import connect
from sluicegate.opening.redis_places import CONNECT_S
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.shared_keys import SharedKeysStore
from sluicegate.stores.shared_keys_table import Claim, KeyTable
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ACC-4", "RES-9")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
LOST = Receipt(adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.TIMEOUT)
OTHER = ARGUMENTS.replace("A1b2C3d4E5f6", "Z9y8X7w6V5u4")
LONG_S = 60


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with run_redis(tmp_path / "redis") as running:
        yield running


class Yard:
    """Gates with records of their own over one upstream and one Redis."""

    def __init__(self, server: RedisServer, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.keys: AuditKeys = draw_keys()
        self.clock = FixedClock()
        self.upstream = RecordedUpstream(DONE)
        self.opened: list[Gate] = []

    async def open(
        self,
        record: AuditStore | None = None,
        upstream: RecordedUpstream | None = None,
        patience_s: float = PATIENCE_S,
        **restart: Any,
    ) -> Gate:
        store = record or SqliteStore(self.folder / f"{len(self.opened)}.db", self.keys)
        shared = await share(
            store, self.server.address, self.keys, self.clock.now, patience_s=patience_s
        )
        gate = gate_of(
            folder(**{"idempotency": {"key": "host", "keep_s": 600}, **restart}),
            {"job_restart": upstream or self.upstream, "job_status": RecordedUpstream()},
            clock=self.clock,
            store=shared,
        )
        self.opened.append(gate)
        return gate

    def claims(self, gate: Gate) -> dict[str, Claim]:
        assert isinstance(gate._means.store, SharedKeysStore)
        return gate._means.store._claims


@pytest.fixture
async def yard(server: RedisServer, tmp_path: Path) -> AsyncIterator[Yard]:
    made = Yard(server, tmp_path)
    yield made
    for gate in made.opened:
        await gate.close()


async def act(
    gate: Gate, call_id: str = "c-1", arguments: str = ARGUMENTS, caller: Caller = CALLER
) -> dict[str, Any]:
    given = await gate.call("job_restart", arguments, caller=caller, call_id=call_id)
    shown: dict[str, Any] = json.loads(given.to_json())
    return shown


async def said(gate: Gate, call_id: str = "c-1", arguments: str = ARGUMENTS) -> str:
    shown = await act(gate, call_id, arguments)
    if shown.get("replayed"):
        return "replayed"
    return str(shown["error"]["code"]) if "error" in shown else str(shown["outcome"])


async def is_replayed(gate: Gate, call_id: str, arguments: str) -> bool:
    return await said(gate, call_id, arguments) == "replayed"


# --- as long as nothing fails ---------------------------------------------------------------------


async def test_what_one_gate_did_another_gives_again(yard: Yard) -> None:
    one, other = await yard.open(), await yard.open()
    first, again = await act(one), await act(other)
    assert again == {**first, "request_id": again["request_id"], "replayed": True}
    assert len(yard.upstream.dispatches) == 1
    event = list(other.audit.events())[-1]
    assert json.loads(event.detail) == {"replays": first["request_id"]}
    assert await said(other, arguments=OTHER) == "KEY_REUSED"
    assert await said(other, "c-2") == "success"


async def test_the_key_of_another_caller_is_another_key_at_every_gate(yard: Yard) -> None:
    one, other = await yard.open(), await yard.open()
    for caller in (CALLER, Caller(subject="svc-deploy"), Caller(subject="x", tenant="team-a")):
        assert "replayed" not in await act(one, caller=caller)
        assert (await act(other, caller=caller))["replayed"] is True


async def test_while_one_gate_runs_a_call_another_is_told_so_and_then_that_nobody_knows(
    yard: Yard,
) -> None:
    held = Held(DONE)
    one, other = await yard.open(upstream=held), await yard.open()
    running = asyncio.ensure_future(act(one))
    await held.asked.wait()
    assert await said(other) == "IN_PROGRESS"
    yard.clock.advance(LONG_S)
    assert await said(other) == "OUTCOME_UNKNOWN"
    held.release.set()
    await running
    assert len(held.dispatches) + len(yard.upstream.dispatches) == 1


@pytest.mark.requirement("RET-2")
async def test_what_one_gate_lost_no_other_makes(yard: Yard) -> None:
    one = await yard.open(upstream=RecordedUpstream(LOST))
    other = await yard.open()
    assert [await said(one), await said(other)] == ["OUTCOME_UNKNOWN"] * 2
    assert yard.upstream.dispatches == []


async def test_a_kept_answer_is_given_by_another_gate_only_while_it_is_fresh(yard: Yard) -> None:
    kept = json.dumps({"restarted": "run_A1b2C3d4E5f6", "at": "2026-11-30T12:00:00Z"}).encode()
    one = await yard.open(upstream=RecordedUpstream(kept), result=FRESH)
    other = await yard.open(result=FRESH)
    assert await said(one) == "success"
    yard.clock.advance(60)
    assert await said(other) == "replayed"
    yard.clock.advance(1)
    assert await said(other) == "KEY_REUSED"
    assert yard.upstream.dispatches == []


async def test_what_another_version_selected_no_other_gate_gives_again(yard: Yard) -> None:
    one, newer = await yard.open(), await yard.open(version="2.0.0")
    assert [await said(one), await said(newer)] == ["success", "KEY_REUSED"]


@pytest.mark.requirement("ARG-9")
async def test_a_key_is_held_while_a_host_fetches_for_itself(yard: Yard) -> None:
    one, other = await yard.open(), await yard.open()
    asked = await one.check_call("job_restart", ARGUMENTS, caller=CALLER, call_id="c-1")
    assert isinstance(asked, Outstanding)
    assert await said(other) == "IN_PROGRESS"
    await one.check_result(asked, DONE)
    assert await said(other) == "replayed"
    assert yard.upstream.dispatches == []


@pytest.mark.requirement("ARG-7")
async def test_of_many_callers_at_two_gates_one_makes_the_write(yard: Yard) -> None:
    gates = [await yard.open(), await yard.open()]
    for number in range(5):
        name = f"c-{number}"
        arguments = ARGUMENTS.replace("bluebird", f"job-{number}")
        ends = Counter(
            await asyncio.gather(*(said(gates[each % 2], name, arguments) for each in range(80)))
        )
        # A machine that is loaded may be too slow for some of them: those are refused.
        assert ends["success"] <= 1
        assert set(ends) <= {"success", "replayed", "IN_PROGRESS", "UNAVAILABLE"}
        for gate in gates:
            await until(partial(is_replayed, gate, name, arguments))
        assert len(yard.upstream.dispatches) == number + 1


# --- Redis fails before anything is sent ----------------------------------------------------------


async def refusal(gate: Gate, call_id: str = "c-1") -> tuple[str, str]:
    """What the agent sees, and what the record says of it."""
    shown = await act(gate, call_id)
    return f"{shown['outcome']} {shown['error']['code']}", list(gate.audit.events())[-1].kind


async def test_a_key_store_that_is_down_is_a_refusal_until_it_is_back(yard: Yard) -> None:
    one, other = await yard.open(), await yard.open()
    assert await said(one) == "success"
    yard.server.kill()
    for gate in (one, other):
        assert (await act(gate, "c-2"))["error"]["code"] == "UNAVAILABLE"
    assert len(yard.upstream.dispatches) == 1
    yard.server.start()
    assert [await said(other), await said(one, "c-2")] == ["replayed", "success"]


async def test_a_key_store_that_is_slow_is_a_refusal_in_time(yard: Yard) -> None:
    gate = await yard.open(patience_s=0.25)
    await said(gate, "c-0")
    yard.server.hold()
    began = time.monotonic()
    shown = await act(gate)
    took_s = time.monotonic() - began
    yard.server.let_go()
    assert (shown["outcome"], shown["error"]["code"]) == ("refused", "UNAVAILABLE")
    assert took_s < 5
    assert len(yard.upstream.dispatches) == 1


@pytest.mark.requirement("AUD-1")
async def test_a_call_that_is_cancelled_while_its_key_is_reserved_leaves_nothing(
    yard: Yard,
) -> None:
    one, other = await yard.open(patience_s=1), await yard.open()
    yard.server.hold()
    calling = asyncio.ensure_future(act(one))
    await until(lambda: bool(yard.claims(one)))
    calling.cancel()
    await asyncio.wait([calling])
    await one._means.owing.settle()
    yard.server.let_go()
    assert list(one.audit.events(tool="job_restart")) == []
    heard = ["IN_PROGRESS"]

    async def is_over() -> bool:
        heard.append(await said(other))
        return heard[-1] != "IN_PROGRESS"

    await until(is_over, within_s=30)  # given back without anybody asking this gate
    assert heard[-1] == "success"
    assert yard.claims(one) == {}


NOT_FOUND = Receipt(
    adapter="recorded",
    adapter_version="1",
    endpoint="recorded",
    raw=b"{}",
    status=404,
    content_type="application/json",
)


class LateOutcomes(ForwardingStore):
    """Commits an outcome, and returns only when it is let go."""

    def __init__(self, store: AuditStore) -> None:
        super().__init__(store)
        self.committed = asyncio.Event()

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        ids = await super().record(events, terms=terms)
        if events[-1].kind is EventKind.OUTCOME and not self.committed.is_set():
            self.committed.set()
            await asyncio.Event().wait()
        return ids


@pytest.mark.parametrize("while_", ["it is recorded", "Redis is told"])
async def test_a_caller_that_leaves_at_the_end_of_its_call_leaves_no_key_dispatched(
    yard: Yard, while_: str
) -> None:
    """The end is a failure that frees the key: another gate makes the call without any help."""
    record = LateOutcomes(SqliteStore(yard.folder / "late.db", yard.keys))
    if while_ != "it is recorded":
        record.committed.set()
    upstream = Acting(yard.server.hold, NOT_FOUND)
    one = await yard.open(record, upstream, patience_s=5)
    other = await yard.open()
    calling = asyncio.ensure_future(act(one))
    if while_ == "it is recorded":
        await record.committed.wait()
    else:
        await until(lambda: len(list(record.events(tool="job_restart"))) == 2)
        await until(lambda: not yard.claims(one))  # Redis is being asked
    calling.cancel()
    await asyncio.wait([calling])
    yard.server.kill()  # what it had not read is gone
    yard.server.start()
    assert list(record.open_intents()) == []
    heard: list[str] = []

    async def is_free() -> bool:
        heard.append(await said(other))
        return heard[-1] != "IN_PROGRESS"

    await until(is_free)
    assert heard[-1] == "success"


REPLIES = {
    "a yes": b"+OK\r\n",
    "a number": b":1\r\n",
    "nothing": b"$-1\r\n",
    "an empty list": b"*0\r\n",
    "a word alone": b"*1\r\n$8\r\nreserved\r\n",
    "the reply to another": b"*3\r\n$8\r\nreserved\r\n" + b"$12\r\nreq.another0\r\n" * 2,
    "a refusal of another": b"*3\r\n$7\r\nrunning\r\n" + b"$12\r\nreq.another0\r\n" * 2,
    "a done of nobody": b"*3\r\n$4\r\ndone\r\n$12\r\nreq.another0\r\n$0\r\n\r\n",
    "no protocol": b"HTTP/1.1 200 OK\r\n\r\n",
    "an error": b"-ERR PLANTED\r\n",
    "an end": b"",
}


@pytest.mark.parametrize("case", REPLIES)
@pytest.mark.parametrize("looked_at", [True, False], ids=["new connection", "known connection"])
async def test_a_key_store_that_lies_is_a_refusal(
    yard: Yard, case: str, looked_at: bool, caplog: pytest.LogCaptureFixture
) -> None:
    lies: list[asyncio.Task[Any]] = []

    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        lies.append(asyncio.current_task())  # type: ignore[arg-type]
        while REPLIES[case] and await reader.read(4096):
            writer.write(REPLIES[case])
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    fake = await asyncio.start_server(lie, "127.0.0.1", 0)
    port = fake.sockets[0].getsockname()[1]
    gate = await yard.open()
    shared = gate._means.store
    assert isinstance(shared, SharedKeysStore)
    known = shared._table
    if looked_at:
        lying = connect(f"redis://127.0.0.1:{port}/0", CONNECT_S)
    else:  # as where a server begins to lie after it was looked at
        lying = Redis(port=port, protocol=2, socket_timeout=CONNECT_S, retry=None)
    shared._table = KeyTable(lying, b"ring", patience_s=CONNECT_S)
    shown = await act(gate)
    fake.close()
    await shared._table.close()
    await asyncio.gather(*lies, return_exceptions=True)
    shared._table = known
    assert (shown["outcome"], shown["error"]["code"]) == ("refused", "UNAVAILABLE")
    assert yard.upstream.dispatches == []
    assert "PLANTED" not in caplog.text


class PanicError(BaseException):
    """What native code raises when it panics: no Exception."""


@pytest.mark.parametrize("error", [PanicError("PLANTED"), ValueError("PLANTED")], ids=repr)
async def test_a_key_store_that_raises_anything_is_a_refusal(
    yard: Yard,
    error: BaseException,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    gate = await yard.open()

    async def fail(*arguments: object) -> object:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(Redis, "eval", fail)
        shown = await act(gate)
    assert (shown["outcome"], shown["error"]["code"]) == ("refused", "UNAVAILABLE")
    assert yard.upstream.dispatches == []
    assert "PLANTED" not in caplog.text
    assert await said(gate) == "success"


# --- Redis is killed between the steps ------------------------------------------------------------


class Between(ForwardingStore):
    """Does something right before, or right behind, the commit of an intent or of an outcome."""

    def __init__(self, store: AuditStore, when: str, do: Callable[[], None]) -> None:
        super().__init__(store)
        self._when, self._do = when, do

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        kind = events[-1].kind
        if self._when == f"before the {kind}":
            self._once()
        ids = await super().record(events, terms=terms)
        if self._when == f"behind the {kind}":
            self._once()
        return ids

    def _once(self) -> None:
        self._when = ""
        self._do()


class Acting(RecordedUpstream):
    """Does something as soon as it is sent to."""

    def __init__(self, do: Callable[[], None], *received: bytes | Receipt) -> None:
        super().__init__(*received)
        self._do = do

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        self._do()
        return await super().fetch(dispatch)


STEPS = {
    # when it is killed → what this gate says, and another then, and another when it is over
    "before the reservation": ("UNAVAILABLE", "success", "replayed"),
    "before the intent": ("UNAVAILABLE", "IN_PROGRESS", "success"),
    "behind the intent": ("UNAVAILABLE", "IN_PROGRESS", "success"),
    "while it is sent": ("success", "IN_PROGRESS", "OUTCOME_UNKNOWN"),
    "before the outcome": ("success", "IN_PROGRESS", "OUTCOME_UNKNOWN"),
    "behind the outcome": ("success", "IN_PROGRESS", "OUTCOME_UNKNOWN"),
}


@pytest.mark.requirement("RET-2", "AUD-1")
@pytest.mark.parametrize("step", STEPS)
async def test_whenever_redis_is_killed_nothing_runs_twice_and_all_of_it_is_shown(
    yard: Yard, step: str, tmp_path: Path
) -> None:
    own, then, at_last = STEPS[step]
    kill = yard.server.kill
    record = SqliteStore(tmp_path / "killed.db", yard.keys)
    upstream = Acting(kill if step == "while it is sent" else lambda: None, DONE)
    one = await yard.open(Between(record, step, kill), upstream)
    other = await yard.open()
    if step == "before the reservation":
        kill()
    assert await said(one) == own
    await one._means.owing.settle()
    yard.server.start()
    assert await said(other) == then
    yard.clock.advance(LONG_S)
    assert await said(other) == at_last
    assert len(upstream.dispatches) + len(yard.upstream.dispatches) == 1
    # Whoever opens the first record again tells Redis what became of the call.
    await yard.open(record)
    assert await said(other) == "replayed"
    assert [event.request_id for event in record.open_intents()] == []
    assert len(upstream.dispatches) + len(yard.upstream.dispatches) == 1


@pytest.mark.requirement("RET-2", "AUD-1")
@pytest.mark.parametrize("step", list(STEPS)[1:])
async def test_a_redis_that_is_back_at_once_stops_nothing(
    yard: Yard, step: str, tmp_path: Path
) -> None:
    def restart() -> None:
        yard.server.kill()
        yard.server.start()

    record = SqliteStore(tmp_path / "killed.db", yard.keys)
    upstream = Acting(restart if step == "while it is sent" else lambda: None, DONE)
    one = await yard.open(Between(record, step, restart), upstream)
    other = await yard.open()
    assert [await said(one), await said(other), await said(one)] == [
        "success",
        "replayed",
        "replayed",
    ]
    assert len(upstream.dispatches) + len(yard.upstream.dispatches) == 1


# --- a gate that is held, as a process ------------------------------------------------------------

RUNS_S = 1.5


class Lasting(RecordedUpstream):
    """A line in a file for each write that is sent, whichever process sends it."""

    def __init__(self, path: Path) -> None:
        super().__init__(DONE)
        self.path = path

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        with self.path.open("a") as file:
            file.write(f"{os.getpid()}\n")
        return await super().fetch(dispatch)


async def open_on_system_time(
    address: str, record: AuditStore, keys: AuditKeys, sent: Path
) -> Gate:
    clock: Clock = SystemClock()
    parts: dict[str, Any] = {
        "idempotency": {"key": "host", "keep_s": 600},
        "retry": {"attempts": 2, "budget_s": RUNS_S, "on": []},
    }
    return gate_of(
        folder(**parts),
        {"job_restart": Lasting(sent), "job_status": RecordedUpstream()},
        clock=clock,  # type: ignore[arg-type]
        store=await share(record, address, keys, clock.now),
    )


@pytest.mark.requirement("RET-2", "AUD-1")
async def test_a_gate_that_is_held_before_it_sends_finds_its_key_taken_over(
    yard: Yard, tmp_path: Path
) -> None:
    """SIGSTOP between the commit of the intent and the dispatch, SIGCONT when another ran it."""
    sent = tmp_path / "sent"
    read, write = os.pipe()

    def stop_oneself() -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    def work() -> None:
        async def run() -> None:
            record = Between(
                SqliteStore(tmp_path / "slow.db", yard.keys), "behind the intent", stop_oneself
            )
            gate = await open_on_system_time(yard.server.address, record, yard.keys, sent)
            os.write(write, (await said(gate)).encode())
            await gate.close()

        asyncio.run(run())

    child = fork(work)
    os.close(write)
    _, status = os.waitpid(child, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    gate = await open_on_system_time(
        yard.server.address, SqliteStore(tmp_path / "fast.db", yard.keys), yard.keys, sent
    )
    heard: list[str] = []

    async def is_over() -> bool:
        heard.append(await said(gate))
        return heard[-1] != "IN_PROGRESS"

    await until(is_over, within_s=30)
    os.kill(child, signal.SIGCONT)
    _, status = os.waitpid(child, 0)
    assert (os.waitstatus_to_exitcode(status), set(heard)) == (0, {"IN_PROGRESS", "success"})
    assert os.read(read, 100) == b"UNAVAILABLE"
    os.close(read)
    assert sent.read_text().split() == [str(os.getpid())]
    slow = SqliteStore(tmp_path / "slow.db", yard.keys)
    assert [(event.kind, event.outcome) for event in slow.events(tool="job_restart")] == [
        ("intent", "pending"),
        ("outcome", "refused"),
    ]
    await slow.close()
    await gate.close()
