"""kill -9 of a gate that makes keyed writes: none is repeated, every open one is shown.

100 rounds by default; SLUICEGATE_FULL=1 runs 1,000 (``just crash``). Figures: --log-cli-level=INFO.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from tests.faults.audit_processes import kill_after, open_record
from tests.unit.gates.restart import ARGUMENTS, DONE, folder

from sluicegate.gates.ports import Dispatch
from sluicegate.opening.clock import SystemClock
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt

ROUNDS = 1_000 if os.environ.get("SLUICEGATE_FULL") else 100
ROUNDS_A_FILE = 50
LOG = logging.getLogger(__name__)
RANDOM = random.Random(20261130)
CALLER = Caller(subject="svc-deploy")
TRIED_AGAIN = 3


class Lasting(RecordedUpstream):
    """An upstream whose effects outlive the process: a line in a file for each write it is sent."""

    def __init__(self, path: Path) -> None:
        super().__init__(DONE)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        os.write(self._file, f"{dispatch.idempotency_key}\n".encode())
        await asyncio.sleep(0)
        return Receipt(adapter="lasting", adapter_version="1", endpoint="lasting", raw=DONE)


def act_until_killed(place: Path, first: int, pipe: int) -> None:
    """Make one keyed write after the other, four at a time; each answer goes into ``pipe``."""

    async def act() -> None:
        gate = gate_of(
            folder(idempotency={"key": "host", "keep_s": 86_400}),
            {"job_restart": Lasting(place / "sent"), "job_status": RecordedUpstream()},
            clock=SystemClock(),
            store=open_record(place),
        )

        async def call(number: int) -> None:
            while True:
                # Each key has arguments of its own, or one lost call would hold up all others.
                arguments = ARGUMENTS.replace("bluebird", f"job-{number}")
                given = await gate.call(
                    "job_restart", arguments, caller=CALLER, call_id=f"c-{number}"
                )
                os.write(pipe, f"{number} {given.code or given.outcome}\n".encode())
                number += 4

        await asyncio.gather(*(call(first + lane) for lane in range(4)))

    asyncio.run(act())


@pytest.mark.requirement("ACC-4", "AUD-1", "RET-2")
def test_no_keyed_write_is_repeated_when_the_gate_is_killed(tmp_path: Path) -> None:
    answered: Counter[str] = Counter()
    open_calls = sent = 0
    first = 0
    for number in range(ROUNDS):
        place = tmp_path / str(number // ROUNDS_A_FILE)
        if not place.exists():
            place.mkdir()
            first = 0
        lines = kill_after(
            partial(act_until_killed, place, first),
            RANDOM.randrange(1, 12),
            RANDOM.random() * 0.004,
        )
        answers = [(int(line.split()[0]), line.split()[1]) for line in lines]
        answered.update(code for _, code in answers)
        # What may have been cut off is called again under its key, and then what is new.
        first = max(0, max(made for made, _ in answers) - TRIED_AGAIN)
        if (number + 1) % ROUNDS_A_FILE and number + 1 < ROUNDS:
            continue
        writes = Counter((place / "sent").read_text().split())
        assert [key for key, times in writes.items() if times > 1] == []
        store = open_record(place)
        assert store.verify().broken_at is None
        events = list(store.events(tool="job_restart"))
        ended = {
            event.request_id
            for event in events
            if event.kind == "outcome" and event.outcome == "success" and event.attempt
        }
        intents = {event.request_id for event in events if event.kind == "intent"}
        shown = {event.request_id for event in store.open_intents()}
        assert intents - ended == shown
        # Each write that was sent is known to the record: it ended, or it is shown as open.
        assert len(writes) <= len(intents)
        assert len(writes) >= len(ended)
        for event in events:
            if "replays" in event.detail:
                assert json.loads(event.detail)["replays"] in ended
        open_calls += len(shown)
        sent += len(writes)
        store._writer.close(10)
    LOG.info(
        "%d rounds, %d writes sent, %d left open, answers %s", ROUNDS, sent, open_calls, answered
    )
    assert set(answered) <= {"success", "IN_PROGRESS", "OUTCOME_UNKNOWN"}
    assert answered["success"] > ROUNDS
    assert open_calls > 0
