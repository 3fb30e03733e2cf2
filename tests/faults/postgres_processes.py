"""Child processes that write to one PostgreSQL record, for the fault tests of the store."""

from __future__ import annotations

import asyncio
import os
import threading
from dataclasses import replace
from datetime import UTC, datetime

from tests.unit.stores.made import INTENT

from sluicegate.gates.events import AuditEvent, EventKind, Kept, Outcome
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_place import Place

THREADS = 4


def make_intent(request_id: str) -> AuditEvent:
    now = datetime.now(UTC)
    arguments = {"request": request_id}
    return replace(INTENT, time=now, request_id=request_id, arguments=arguments)


def make_outcome(request_id: str) -> AuditEvent:
    content = request_id.encode()
    return replace(
        make_intent(request_id),
        kind=EventKind.OUTCOME,
        outcome=Outcome.SUCCESS,
        raw=content,
        kept=(Kept(kind="raw", content=content, keep_days=30),),
    )


def act_until_killed(place: Place, keys: AuditKeys, pipe: int) -> None:
    """Record intents and outcomes from four threads without end.

    The id of each event goes into ``pipe`` once its commit was acknowledged. While the server is
    away nothing is acknowledged, and what was not is not tried again.
    """
    store = PostgresStore(place, keys)

    def call(name: int) -> None:
        number = 0
        while True:
            number += 1
            request_id = f"req.{os.getpid()}.{name}.{number:06}"
            try:
                for event in (make_intent(request_id), make_outcome(request_id)):
                    (event_id,) = store.record_blocking([event])
                    os.write(pipe, f"{event_id}\n".encode())
            except AuditUnavailable:
                continue

    threads = [threading.Thread(target=call, args=(name,)) for name in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def record_all(place: Place, keys: AuditKeys, pipe: int, *, count: int, callers: int) -> None:
    """Record ``count`` calls, shared by ``callers``, and write the ids of all events."""

    async def work() -> None:
        store = PostgresStore(place, keys)

        async def call(first: int) -> None:
            for number in range(first, count, callers):
                request_id = f"req.{os.getpid()}.{number:06}"
                for event in (make_intent(request_id), make_outcome(request_id)):
                    (event_id,) = await store.record([event])
                    os.write(pipe, f"{event_id}\n".encode())

        await asyncio.gather(*[call(first) for first in range(callers)])
        await store.close()

    asyncio.run(work())
