"""kill -9 of two gates that share their keys, and of the Redis: no keyed write is sent twice.

40 rounds by default; SLUICEGATE_FULL=1 runs 1,000 (``just crash``). Figures: --log-cli-level=INFO.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import select
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.faults.audit_processes import fork
from tests.redis_servers import RedisServer, run_redis
from tests.sharing import share
from tests.unit.gates.restart import ARGUMENTS, DONE, folder

from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import Dispatch
from sluicegate.opening.clock import SystemClock
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt

ROUNDS = 1_000 if os.environ.get("SLUICEGATE_FULL") else 40
ROUNDS_A_FILE = 20
REDIS_DIES = 0.2
LOG = logging.getLogger(__name__)
RANDOM = random.Random(20261130)
CALLER = Caller(subject="svc-deploy")
GATES = ("one", "other")
LANES = 4
TRIED_AGAIN = 6
RUNS_S = 0.4
LASTING: dict[str, Any] = {
    "idempotency": {"key": "host", "keep_s": 86_400},
    # Short enough for a key whose gate is dead to be tried again in its file.
    "retry": {"attempts": 2, "budget_s": RUNS_S, "on": []},
}
LATER = ("IN_PROGRESS", "UNAVAILABLE")


class Lasting(RecordedUpstream):
    """An upstream whose effects outlive the process: a line in a file for each write it is sent."""

    def __init__(self, path: Path, gate: str) -> None:
        super().__init__(DONE)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._gate = gate

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        line = f"{dispatch.idempotency_key} {dispatch.request_id} {self._gate}\n"
        os.write(self._file, line.encode())
        await asyncio.sleep(0)
        return Receipt(adapter="lasting", adapter_version="1", endpoint="lasting", raw=DONE)

    async def close(self) -> None:
        os.close(self._file)


@dataclass(frozen=True, kw_only=True)
class Place:
    """One Redis, one ring of keys, a record for each gate, and what was sent."""

    folder: Path
    server: RedisServer
    keys: AuditKeys = field(default_factory=draw_keys)

    def record(self, gate: str) -> SqliteStore:
        return SqliteStore(self.folder / f"{gate}.db", self.keys)

    async def open(self, gate: str) -> Gate:
        clock = SystemClock()
        return gate_of(
            folder(**LASTING),
            {
                "job_restart": Lasting(self.folder / "sent", gate),
                "job_status": RecordedUpstream(),
            },
            clock=clock,  # type: ignore[arg-type]
            store=await share(self.record(gate), self.server.address, self.keys, clock.now),
        )

    def sent(self) -> list[tuple[str, str, str]]:
        """Key, request and gate of each write that was sent."""
        lines = (self.folder / "sent").read_text().splitlines()
        return [(key, request_id, gate) for key, request_id, gate in map(str.split, lines)]


async def say(gate: Gate, number: int) -> str:
    # Each key has arguments of its own, or one lost call would hold up all others.
    arguments = ARGUMENTS.replace("bluebird", f"job-{number}")
    given = await gate.call("job_restart", arguments, caller=CALLER, call_id=f"c-{number}")
    if '"replayed"' in given.to_json():
        return "replayed"
    return given.code or given.outcome


def act_until_killed(place: Place, name: str, first: int, pipe: int) -> None:
    """Make one keyed write after the other; each answer goes into ``pipe``."""

    async def act() -> None:
        gate = await place.open(name)

        async def call(number: int) -> None:
            while True:
                os.write(pipe, f"{number} {await say(gate, number)}\n".encode())
                number += LANES

        await asyncio.gather(*(call(first + lane) for lane in range(LANES)))

    asyncio.run(act())


class Child:
    """One gate as a process, and what it has answered so far."""

    def __init__(self, place: Place, name: str, first: int) -> None:
        self.read, write = os.pipe()
        self.process = fork(lambda: act_until_killed(place, name, first, write))
        os.close(write)
        self.received = b""

    def hear(self, answers: int, seconds: float) -> None:
        """Wait for so many answers, then so long."""
        while self.received.count(b"\n") < answers:
            chunk = os.read(self.read, 65_536)
            assert chunk, "the child died by itself"
            self.received += chunk
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0 and select.select(
            [self.read], [], [], left
        )[0]:
            self.received += os.read(self.read, 65_536)

    def kill(self) -> list[tuple[int, str]]:
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        while chunk := os.read(self.read, 65_536):
            self.received += chunk
        os.close(self.read)
        lines = self.received.decode().splitlines()
        return [(int(line.split()[0]), line.split()[1]) for line in lines]


def kill_both(place: Place, first: int) -> list[tuple[int, str]]:
    """Run both gates over the same keys, and kill them, and in some rounds the Redis, anywhere."""
    children = [Child(place, name, first) for name in GATES]
    RANDOM.shuffle(children)
    children[0].hear(RANDOM.randrange(1, 8), RANDOM.random() * 0.01)
    dies = RANDOM.random() < REDIS_DIES
    if dies:
        place.server.kill()
        children[1].hear(0, RANDOM.random() * 0.01)
    answers = children[0].kill()
    children[1].hear(0, RANDOM.random() * 0.01)
    answers += children[1].kill()
    if dies:
        place.server.start()
    return answers


async def call_all_again(place: Place, numbers: range) -> Counter[str]:
    """Call every key at both gates until no answer says that it may run, or could not."""
    heard: Counter[str] = Counter()
    gates = [await place.open(name) for name in GATES]
    for number in numbers:
        for gate in gates:
            deadline = time.monotonic() + 20
            while (said := await say(gate, number)) in LATER:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)
            heard[said] += 1
    for gate in gates:
        await gate.close()
    return heard


def hold_to_the_records(place: Place) -> tuple[int, int]:
    """See that nothing was sent twice and all of it is shown; how much was sent, and is open."""
    sent = place.sent()
    assert [key for key, times in Counter(key for key, *_ in sent).items() if times > 1] == []
    shown = 0
    for name in GATES:
        store = place.record(name)
        assert store.verify().broken_at is None
        events = list(store.events(tool="job_restart"))
        intents = {event.request_id for event in events if event.kind == "intent"}
        ended = {
            event.request_id
            for event in events
            if event.kind == "outcome" and event.outcome != "unknown" and event.attempt
        }
        left_open = {event.request_id for event in store.open_intents()}
        assert intents - ended == left_open
        # Each write that was sent is known to the record of its gate: it ended, or is shown.
        assert {request_id for _, request_id, gate in sent if gate == name} <= intents
        shown += len(left_open)
        store._writer.close(10)
    return len(sent), shown


@pytest.mark.requirement("ACC-4", "AUD-1", "RET-2")
def test_no_keyed_write_is_repeated_when_gates_and_redis_are_killed(tmp_path: Path) -> None:
    answered: Counter[str] = Counter()
    again: Counter[str] = Counter()
    sent = left_open = 0
    for number in range(ROUNDS // ROUNDS_A_FILE):
        home = tmp_path / str(number)
        with run_redis(home / "redis") as server:
            place = Place(folder=home, server=server)
            first = highest = 0
            for _ in range(ROUNDS_A_FILE):
                answers = kill_both(place, first)
                answered.update(said for _, said in answers)
                highest = max([highest, *(made for made, _ in answers)])
                # What may have been cut off is called again under its key, and then what is new.
                first = max(0, highest - TRIED_AGAIN)
            hold_to_the_records(place)
            again.update(asyncio.run(call_all_again(place, range(highest + LANES))))
            count, shown = hold_to_the_records(place)
        sent += count
        left_open += shown
    LOG.info(
        "%d rounds, %d writes sent, %d intents left open, answers %s, afterwards %s",
        *(ROUNDS, sent, left_open, dict(answered), dict(again)),
    )
    assert set(again) <= {"success", "replayed", "OUTCOME_UNKNOWN"}
    assert answered["success"] > ROUNDS
    assert answered["replayed"] > 0
    assert left_open > 0
