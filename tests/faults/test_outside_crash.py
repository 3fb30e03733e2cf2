"""kill -9 and several processes at once: heads and second sink stay whole, and miss nothing."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.faults.audit_processes import fork, make_event, open_record

from sluicegate.contracts.settings import AuditSettings, HeadsSettings
from sluicegate.gates.ports import AuditStore
from sluicegate.opening.second_sinks import put_beside
from sluicegate.opening.signing import open_public_keys, sign_as_it_grows
from sluicegate.stores.heads import MAX_LINE_BYTES, read_heads
from sluicegate.stores.heads_check import compare_heads
from sluicegate.stores.heads_file import find_heads_file
from sluicegate.stores.sqlite import SqliteStore

SETTINGS = AuditSettings(
    also="file:away/events.jsonl", heads=HeadsSettings(to="file:away/heads.jsonl", every_events=3)
)
ROUNDS = 100 if os.environ.get("SLUICEGATE_FULL") else 12
PROCESSES, EACH = 4, 30
RANDOM = random.Random(20261130)


def attended(store: SqliteStore, folder: Path) -> AuditStore:
    beside = put_beside(store, SETTINGS, folder)
    return sign_as_it_grows(beside, SETTINGS, folder, lambda: datetime.now(UTC))


async def record(folder: Path, count: int, pipe: int | None = None) -> None:
    """Record from four callers; each acknowledged id goes into ``pipe`` at once."""
    store = attended(open_record(folder), folder)

    async def call(first: int) -> None:
        for number in range(first, count, 4):
            for name in await store.record([make_event(number)]):
                if pipe is not None:
                    os.write(pipe, name.encode() + b"\n")

    await asyncio.gather(*[call(first) for first in range(4)])
    await store.close()


def demand_whole(folder: Path) -> int:
    """See that sink and heads say what the record says; return how many events there are."""
    store = open_record(folder)
    try:
        assert store.verify().problem is None
        stored = [(event.seq, event.link) for event in store.events()]
        lines = (folder / "away" / "events.jsonl").read_text().splitlines()
        copied = [(line["seq"], line["link"]) for line in map(json.loads, lines)]
        assert copied == stored
        file = find_heads_file(SETTINGS, folder)
        heads = read_heads(
            file.lines(max_bytes=MAX_LINE_BYTES), open_public_keys(SETTINGS, folder, file)
        )
        report = compare_heads(heads, store.events())
        assert (report.problem, report.signed_seq) == (None, stored[-1][0])
        return len(stored)
    finally:
        store._writer.close(10)


def kill_after(folder: Path, acknowledgements: int) -> list[str]:
    """Start a child, kill it after so many acknowledgements, and return their ids."""
    read, write = os.pipe()
    child = fork(lambda: asyncio.run(record(folder, 1_000_000, write)))
    os.close(write)
    received = b""
    while received.count(b"\n") < acknowledgements:
        chunk = os.read(read, 4_096)
        assert chunk, "the child died by itself"
        received += chunk
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while chunk := os.read(read, 65_536):
        received += chunk
    os.close(read)
    return received.decode().split()


@pytest.mark.requirement("AUD-3")
def test_what_was_acknowledged_is_in_both_sinks_after_a_kill(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()  # nobody makes it
    for _ in range(ROUNDS):
        acknowledged = kill_after(tmp_path, RANDOM.randrange(1, 20))
        copied = {
            json.loads(line)["event_id"]
            for line in (tmp_path / "away" / "events.jsonl").read_bytes().split(b"\n")[:-1]
        }
        assert set(acknowledged) - copied == set()
        asyncio.run(record(tmp_path, 4))  # whoever comes next makes up for the rest
        demand_whole(tmp_path)


@pytest.mark.requirement("AUD-3")
def test_several_processes_share_sink_and_heads_without_a_gap(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()  # nobody makes it
    asyncio.run(record(tmp_path, 4))
    children = [fork(lambda: asyncio.run(record(tmp_path, EACH))) for _ in range(PROCESSES)]
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [
        0
    ] * PROCESSES
    assert demand_whole(tmp_path) == 4 + PROCESSES * EACH
