"""A credential that hangs refuses the questions that need it, and holds up nothing else."""

from __future__ import annotations

import asyncio
import threading

import pytest

from sluicegate.access.authzen import AuthzenAuthorizer
from sluicegate.gates.ports import AccessQuery
from sluicegate.values.actions import CALL
from sluicegate.values.callers import Caller

MANY = 48
"""More than the loop's own threads, which are at most 32."""


@pytest.mark.requirement("ACC-1", "RES-9")
async def test_a_credential_that_hangs_gives_no_decision_and_holds_up_nothing_else() -> None:
    opened = threading.Event()
    reading = list[threading.Thread]()

    def hang() -> str:
        reading.append(threading.current_thread())
        assert opened.wait(20)
        return "token"

    point = AuthzenAuthorizer("http://127.0.0.1:9", read_credential=hang)
    query = AccessQuery(
        subject=Caller(subject="svc-deploy"), action=CALL, tool="job_status", resource=None
    )
    decisions = await asyncio.gather(*(point.decide(query) for _ in range(MANY)))
    async with asyncio.timeout(5):
        unrelated = await asyncio.to_thread(threading.current_thread)
    begun_by = [*reading]
    opened.set()
    assert {each.errors for each in decisions} == {("no answer within 0.24 s",)}
    assert len(begun_by) == 1
    assert unrelated not in begun_by
