"""Two gates' stores on one chain in PostgreSQL, 32 callers each: throughput, waits, and exactness.

    python benchmarks/postgres.py [--seconds 60] [--processes 2] [--callers 32]

Each caller records the intent of a call, waits for its commit, and records the outcome, without
end. Every fourth intent spends a quota that callers of one number share, in all processes. Then
every acknowledged event must stand once, the chain must hold, and each quota must be spent to the
last attempt and no further. The server is that of SLUICEGATE_POSTGRES, or the one on
127.0.0.1:5432.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
from audit_commit import make_event

from sluicegate.gates.events import AuditEvent, EventKind, Outcome
from sluicegate.gates.terms import NO_TERMS, Allowance, TermRefused, Terms
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_ledger import next_month
from sluicegate.stores.postgres_migrations import prepare_chain
from sluicegate.stores.postgres_place import Place, find_place
from sluicegate.stores.postgres_session import connect

SERVER = os.environ.get("SLUICEGATE_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
EVERY = 4


def make_intent(number: int, request_id: str) -> AuditEvent:
    """Return the intent of a small call, as a gate records it."""
    event = make_event(number, custody=False)
    return replace(
        event,
        kind=EventKind.INTENT,
        outcome=Outcome.PENDING,
        request_id=request_id,
        raw=None,
        returned=None,
    )


async def call_until(
    store: PostgresStore, caller: int, seconds: float, quota: int
) -> tuple[list[str], list[float], int, int]:
    """Return (event ids, seconds a record waited, attempts on the quota, those it allowed)."""
    ids: list[str] = []
    waits: list[float] = []
    tried = allowed = 0
    allowance = Allowance(key=f"{caller:064x}", count=quota, window_s=86_400)
    until = time.perf_counter() + seconds
    number = 0
    while time.perf_counter() < until:
        number += 1
        request_id = f"req.{os.getpid()}.{caller}.{number}"
        limited = number % EVERY == 0
        terms = Terms(allowances=(allowance,)) if limited else NO_TERMS
        intent = make_intent(number, request_id)
        tried += limited
        try:
            began = time.perf_counter()
            ids += await store.record([intent], terms=terms)
            waits.append(time.perf_counter() - began)
        except TermRefused:
            continue
        allowed += limited
        outcome = replace(make_event(number, custody=False), request_id=request_id)
        began = time.perf_counter()
        ids += await store.record([outcome])
        waits.append(time.perf_counter() - began)
    return ids, waits, tried, allowed


async def run_gate(
    place: Place, keys: AuditKeys, callers: int, seconds: float, quota: int
) -> dict[str, object]:
    """Return what one process measured."""
    store = PostgresStore(place, keys)
    done = await asyncio.gather(
        *[call_until(store, caller, seconds, quota) for caller in range(callers)]
    )
    await store.close()
    return {
        "ids": [name for ids, *_ in done for name in ids],
        "waits": [wait for _, waits, *_ in done for wait in waits],
        "tried": [tried for *_, tried, _ in done],
        "allowed": [allowed for *_, allowed in done],
    }


def fork_gate(place: Place, keys: AuditKeys, options: argparse.Namespace) -> int:
    """Start one process; return the pipe that yields what it measured."""
    read, write = os.pipe()
    if os.fork() == 0:
        told = asyncio.run(run_gate(place, keys, options.callers, options.seconds, options.quota))
        with os.fdopen(write, "w") as file:
            json.dump(told, file)
        os._exit(0)
    os.close(write)
    return read


def measure(place: Place, options: argparse.Namespace) -> str:
    """Return the figures of one run. Raises: SystemExit where something is not exact."""
    keys = draw_keys()
    session = connect(place)
    month = f"{datetime.now(UTC):%Y-%m}"
    prepare_chain(session, keys, schema=place.schema, months=(month, next_month(month)))
    session.close()
    pipes = [fork_gate(place, keys, options) for _ in range(options.processes)]
    told = []
    for pipe in pipes:
        with os.fdopen(pipe) as file:
            told.append(json.load(file))
    store = PostgresStore(place, keys)
    report = store.verify()
    stored = Counter(event.event_id for event in store.events())
    asyncio.run(store.close())
    acknowledged = [name for each in told for name in each["ids"]]
    waits = sorted(wait for each in told for wait in each["waits"])
    tried = [sum(each["tried"][n] for each in told) for n in range(options.callers)]
    allowed = [sum(each["allowed"][n] for each in told) for n in range(options.callers)]
    wanted = [min(options.quota, attempts) for attempts in tried]
    if report.problem is not None or stored != Counter(acknowledged) or allowed != wanted:
        raise SystemExit(
            f"not exact: {report.problem}; {len(stored)} stored, {len(acknowledged)}"
            f" acknowledged, quotas {allowed} of {wanted}"
        )
    spent = sum(attempts >= options.quota for attempts in tried)
    p50, p99 = (statistics.quantiles(waits, n=100)[at - 1] * 1000 for at in (50, 99))
    return (
        f"{options.processes} processes × {options.callers} callers, {options.seconds:g} s:"
        f" {len(acknowledged)} events, {len(acknowledged) / options.seconds:,.0f} a second; who"
        f" records waits p50 {p50:.1f} ms, p99 {p99:.1f} ms, at most {waits[-1] * 1000:.0f} ms."
        f" None lost, none double, the chain holds; {options.callers} quotas of {options.quota}"
        " attempts,"
        f" {spent} of them used up by {sum(tried)} attempts, none by one too many."
    )


def main() -> int:
    """Measure in a schema of its own, which is dropped afterwards."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--callers", type=int, default=32)
    parser.add_argument("--quota", type=int, default=100)
    options = parser.parse_args()
    try:
        psycopg.connect(SERVER, connect_timeout=5).close()
    except psycopg.OperationalError:
        print("Not run: no PostgreSQL answers at SLUICEGATE_POSTGRES or 127.0.0.1:5432.")
        return 0
    place = find_place(f"{SERVER}?chain=bench_{secrets.token_hex(4)}")
    try:
        print(measure(place, options))
    finally:
        with psycopg.connect(SERVER, autocommit=True) as connection:
            connection.execute(f'DROP SCHEMA IF EXISTS "{place.schema}" CASCADE'.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
