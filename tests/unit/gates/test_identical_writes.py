"""Of identical writes at once one runs, and a lost one is not made by another."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.contracts.contract import QuotaRule
from sluicegate.gates.gate import Gate, ToolCall
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import Dispatch
from sluicegate.gates.terms import Allowance
from sluicegate.stores.keys import draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("RET-2")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
LOST = Receipt(adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.TIMEOUT)


@pytest.fixture(params=["memory", "sqlite"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[MemoryStore | SqliteStore]:
    keys = draw_keys()
    opened = (
        MemoryStore(keys) if request.param == "memory" else SqliteStore(tmp_path / "a.db", keys)
    )
    yield opened
    await opened.close()


class Held(RecordedUpstream):
    """Answers once it is told to."""

    def __init__(self, *received: bytes | Receipt | Exception) -> None:
        super().__init__(*received)
        self.asked, self.release = asyncio.Event(), asyncio.Event()

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        receipt = await super().fetch(dispatch)
        self.asked.set()
        await self.release.wait()
        return receipt


QUOTAS = (QuotaRule(per=frozenset(), count=5, window_s=60),)


class Counting:
    """A quota that grants everything and counts it."""

    def __init__(self) -> None:
        self.spent = 0

    async def spend(self, allowances: Sequence[Allowance]) -> bool:
        self.spent += 1
        return True

    async def close(self) -> None:
        pass


@pytest.mark.parametrize(
    ("received", "first", "afterwards"),
    [(answer(), None, None), (LOST, "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN")],
    ids=["done", "lost"],
)
async def test_of_the_identical_writes_of_one_turn_one_runs(
    store: MemoryStore | SqliteStore,
    received: bytes | Receipt,
    first: str | None,
    afterwards: str | None,
) -> None:
    upstream = Held(received)
    gate = gate_of(contracts(effect="write"), {"job_status": upstream}, store=store)
    calls = [ToolCall(tool="job_status", arguments=ARGUMENTS, call_id=str(n)) for n in range(8)]
    turn = asyncio.create_task(gate.call_all(calls, caller=CALLER))
    await upstream.asked.wait()
    while len(list(store.events(code="IN_PROGRESS"))) < 7:
        await asyncio.sleep(0)
    upstream.release.set()
    ends = Counter((given.outcome, given.code) for given in await turn)
    assert ends == {
        ("success" if first is None else "failure", first): 1,
        ("refused", "IN_PROGRESS"): 7,
    }
    assert len(upstream.dispatches) == 1
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).code == afterwards


async def test_an_identical_read_runs_beside_the_first() -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream})
    calls = [ToolCall(tool="job_status", arguments=ARGUMENTS)] * 3
    answers = await gate.call_all(calls, caller=CALLER)
    assert [given.outcome for given in answers] == ["success"] * 3


async def test_the_same_write_of_a_crashed_gate_is_unknown_and_not_in_progress() -> None:
    store = MemoryStore()
    served = contracts(effect="write")
    crashed = gate_of(served, {"job_status": RecordedUpstream()}, store=store)
    assert isinstance(await crashed.check_call("job_status", ARGUMENTS, caller=CALLER), Outstanding)
    gate = gate_of(served, {"job_status": RecordedUpstream(answer())}, store=store)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "OUTCOME_UNKNOWN")


async def test_a_write_that_is_refused_as_open_costs_no_quota() -> None:
    plain = gate_of(contracts(effect="write"), {"job_status": RecordedUpstream(LOST)})
    quota = Counting()
    gate = Gate(replace(plain._means, quota=quota, quotas=QUOTAS), plain._serving)
    for _ in range(3):
        await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert quota.spent == 1
