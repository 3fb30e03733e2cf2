"""Group commit against one commit an event, with 64 callers, on the same store and disk.

    python benchmarks/audit_commit.py [--rounds 5] [--seconds 2] [--custody] [--folder DIR]

Both variants append the same events through the same writer with synchronous FULL; the second one
lets a single caller at a time into the queue, so that each commit carries one event. The two take
turns in one run, and the figure to keep is their ratio: rates are those of this disk and hour.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from sluicegate.gates.events import AuditEvent, EventKind, Kept, Outcome
from sluicegate.stores.keys import draw_keys
from sluicegate.stores.sqlite import SqliteStore

CALLERS = 64
ANSWER = json.dumps(
    {"project_id": "bluebird", "run_id": "run_J7q94MkPabcd", "state": "succeeded"}
).encode()
RETURNED = json.loads(ANSWER)


def make_event(number: int, *, custody: bool) -> AuditEvent:
    """Return the outcome event of a small accepted answer, as a gate records it."""
    arguments = {"project_id": "bluebird", "run_id": f"run_{number:012}"}
    return AuditEvent(
        kind=EventKind.OUTCOME,
        time=datetime.now(UTC),
        request_id=f"req.{number:012}",
        attempt=1,
        outcome=Outcome.SUCCESS,
        tool="job_status",
        contract_version="1.0.0",
        contract_digest="sha256:" + "0" * 64,
        caller_subject="svc-deploy",
        adapter="http",
        adapter_version="1",
        endpoint="https://ci.example/projects/{/project_id}/runs/{/run_id}",
        upstream_status="200",
        decision_id="table:1",
        arguments=arguments,
        raw=ANSWER,
        returned=RETURNED,
        kept=_kept(arguments) if custody else (),
    )


def _kept(arguments: dict[str, str]) -> tuple[Kept, ...]:
    return (Kept(kind="arguments", content=json.dumps(arguments).encode(), keep_days=30),)


async def measure(
    store: SqliteStore,
    seconds: float,
    turn: Callable[[], AbstractAsyncContextManager[object]],
    *,
    custody: bool,
) -> tuple[float, list[float]]:
    """Return (events a second, seconds each caller waited) with 64 callers."""
    began = time.perf_counter()
    waits: list[float] = []

    async def call() -> None:
        while time.perf_counter() - began < seconds:
            asked = time.perf_counter()
            async with turn():
                await store.record([make_event(len(waits), custody=custody)])
            waits.append(time.perf_counter() - asked)

    calls: list[Awaitable[None]] = [call() for _ in range(CALLERS)]
    await asyncio.gather(*calls)
    return len(waits) / (time.perf_counter() - began), waits


async def compare(folder: Path, rounds: int, seconds: float, *, custody: bool) -> list[float]:
    """Print one line a round and return the ratios."""
    ratios = []
    for number in range(rounds):
        store = SqliteStore(folder / f"{number}.db", draw_keys())
        one_at_a_time = asyncio.Lock()
        single, single_waits = await measure(
            store, seconds, lambda lock=one_at_a_time: lock, custody=custody
        )
        group, group_waits = await measure(store, seconds, nullcontext, custody=custody)
        report = store.verify()
        await store.close()
        if report.broken_at is not None:
            raise SystemExit(f"the chain is broken at {report.broken_at}: {report.problem}")
        ratios.append(group / single)
        print(
            f"one commit an event {single:7.0f}/s (p50 {_ms(single_waits, 50):6.1f} ms)   "
            f"group commit {group:7.0f}/s (p50 {_ms(group_waits, 50):5.1f}, "
            f"p99 {_ms(group_waits, 99):5.1f} ms)   ratio {group / single:4.1f}"
        )
    return ratios


def _ms(waits: list[float], percentile: int) -> float:
    return statistics.quantiles(waits, n=100)[percentile - 1] * 1000


def main() -> int:
    """Run the comparison; 0 when group commit wins."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--custody", action="store_true", help="keep the arguments, encrypted, too")
    parser.add_argument("--folder", type=Path, default=None, help="a folder on the disk to measure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        ratios = asyncio.run(
            compare(Path(folder), options.rounds, options.seconds, custody=options.custody)
        )
    print(
        f"ratio group commit / one commit an event: median {statistics.median(ratios):.1f}"
        f" ({min(ratios):.1f}-{max(ratios):.1f}, {len(ratios)} rounds, {CALLERS} callers)"
    )
    return 0 if statistics.median(ratios) > 1 else 1


if __name__ == "__main__":
    sys.exit(main())
