"""How much a replay of many stored answers grows the process that runs it.

    python benchmarks/replay_memory.py [--answers 100000] [--processes 2] [--folder DIR]

A record is filled with answers of which a third was refused; then the contract changes, and all of
them are judged again. Sizes are what the kernel says is resident, so they are those of this system.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sluicegate.gates.events import AuditEvent, EventKind, Kept, Outcome
from sluicegate.opening.folder import open_folder_store
from sluicegate.opening.replaying import Question, replay

SETTINGS = "retention: {accepted: {days: 7}, daily_bytes: 1000000000}\n"
CONTRACT = """\
sluicegate: 1
tool: job_status
version: 1.1.0
owner: ci-platform
description: State of one CI run.
effect: read
arguments:
  schema:
    type: object
    properties: {run_id: {type: string, pattern: "^run_[0-9]{1,9}$"}}
    required: [run_id]
    additionalProperties: false
fetch: {http: {method: GET, url: "https://ci.example/runs/{/run_id}", timeout_s: 5}}
result:
  schema:
    type: object
    properties:
      run_id: {type: string, pattern: "^run_[0-9]{1,9}$"}
      state: {enum: [succeeded, odd]}
      note: {type: string, maxLength: 64}
    required: [run_id, state, note]
    additionalProperties: false
  bind: {/run_id: /run_id}
  agent: [/run_id, /state]
"""
BATCH = 500


def make_events(number: int, now: datetime) -> tuple[AuditEvent, AuditEvent]:
    """Return intent and outcome of one call, judged by a version that knew other states."""
    arguments = {"run_id": f"run_{number}"}
    state = ["failed", "succeeded", "odd"][number % 3]
    raw = json.dumps({**arguments, "state": state, "note": f"n{number}"}).encode()
    is_refused = state == "odd"
    sent = Kept(kind="arguments", content=json.dumps(arguments).encode(), keep_days=7)
    request_id, moment = f"req.{number:08d}", now + timedelta(microseconds=number)
    return (
        AuditEvent(
            kind=EventKind.INTENT,
            outcome=Outcome.PENDING,
            time=moment,
            request_id=request_id,
            attempt=1,
            tool="job_status",
            caller_subject="svc",
            arguments=arguments,
            kept=(sent,),
        ),
        AuditEvent(
            kind=EventKind.OUTCOME,
            outcome=Outcome.FAILURE if is_refused else Outcome.SUCCESS,
            time=moment,
            request_id=request_id,
            attempt=1,
            tool="job_status",
            caller_subject="svc",
            upstream_status="200",
            stage="conform" if is_refused else None,
            code="ENUM" if is_refused else None,
            arguments=arguments,
            raw=raw,
            kept=(Kept(kind="raw", content=raw, keep_days=7),),
        ),
    )


async def fill(folder: Path, answers: int) -> None:
    """Write the record."""
    store, now = open_folder_store(folder), datetime.now(UTC)
    try:
        for start in range(0, answers, BATCH):
            numbers = range(start, min(start + BATCH, answers))
            await store.record([event for n in numbers for event in make_events(n, now)])
    finally:
        await store.close()


def fill_apart(folder: Path, answers: int) -> None:
    """Write the record in the process that was started for it."""
    asyncio.run(fill(folder, answers))


def resident_mb() -> float:
    """Return what this process has resident, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure(folder: Path, answers: int, processes: int) -> None:
    """Fill, replay and print the figures."""
    (folder / "job_status").mkdir(parents=True)
    (folder / "sluicegate.yaml").write_text(SETTINGS)
    (folder / "job_status" / "contract.yaml").write_text(CONTRACT)
    # Apart: what filling leaves behind in memory would hide what the replay takes.
    filling = multiprocessing.get_context("spawn").Process(
        target=fill_apart, args=(folder, answers)
    )
    filling.start()
    filling.join()
    question = Question(tool="job_status", against="current", who="benchmark", reason="measure")
    before = most = resident_mb()

    def watch(_: int) -> None:
        nonlocal most
        most = max(most, resident_mb())

    began = time.perf_counter()
    found = replay(
        folder, question, processes=processes, now=datetime.now(UTC), python=False, tell=watch
    )
    took = time.perf_counter() - began
    print(f"{found.tally.replayed} answers judged again in {took:.1f} s by {processes} processes")
    print(f"changed: {sum(found.tally.total().values())}")
    print(
        f"resident before {before:.1f} MB, at most {most:.1f} MB: grown by {most - before:.1f} MB"
    )


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="Where the record is written.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as scratch:
        measure(Path(scratch) / "contracts", given.answers, given.processes)


if __name__ == "__main__":
    main()
