"""Child processes that write to one record, for the fault tests of the store.

Run as a program it records COUNT events from CALLERS callers into the record of FOLDER, and
writes the id of each event to stdout once its commit was acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sluicegate.contracts.settings import AuditSettings, RetentionSettings
from sluicegate.gates.events import AuditEvent, EventKind, Kept, Outcome
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.stores.stores import open_store


def open_record(folder: Path) -> SqliteStore:
    store = open_store(AuditSettings(), RetentionSettings(), folder)
    assert isinstance(store, SqliteStore)
    return store


def make_event(number: int) -> AuditEvent:
    content = b'{"number":%d,"process":%d}' % (number, os.getpid())
    return AuditEvent(
        kind=EventKind.OUTCOME,
        time=datetime.now(UTC),
        request_id=f"req.{number:08}",
        attempt=1,
        outcome=Outcome.FAILURE,
        tool="job_status",
        arguments={"number": number},
        raw=content,
        kept=(Kept(kind="raw", content=content, keep_days=30),),
    )


async def write(folder: Path, count: int, callers: int) -> None:
    store = open_record(folder)

    async def call(first: int) -> None:
        for number in range(first, count, callers):
            for name in await store.record([make_event(number)]):
                os.write(1, name.encode() + b"\n")

    await asyncio.gather(*[call(first) for first in range(callers)])
    await store.close()


def kill_after(work: Callable[[int], None], lines: int, seconds: float) -> list[str]:
    """Fork a child that writes to a pipe, kill it after so many lines and then seconds.

    Returns all lines that it wrote.
    """
    read, write = os.pipe()
    child = fork(lambda: work(write))
    os.close(write)
    received = b""
    while received.count(b"\n") < lines:
        chunk = os.read(read, 65_536)
        assert chunk, "the child died by itself"
        received += chunk
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0 and select.select([read], [], [], left)[0]:
        received += os.read(read, 65_536)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while chunk := os.read(read, 65_536):
        received += chunk
    os.close(read)
    return received.decode().splitlines()


def fork(work: Callable[[], None]) -> int:
    """Do ``work`` in a forked child, which exits with 0 if nothing was raised."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return child


def acknowledge_until_killed(folder: Path, pipe: int) -> None:
    """Record from four threads without end; each acknowledged id goes into ``pipe`` at once."""
    store = open_record(folder)

    def call(first: int) -> None:
        number = first
        while True:
            for name in store.record_blocking([make_event(number)]):
                os.write(pipe, name.encode() + b"\n")
            number += 4

    threads = [threading.Thread(target=call, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
