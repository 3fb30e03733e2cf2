"""A gate whose record is on a full disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.faults.audit_processes import open_record
from tests.faults.test_store_full_disk import GROWTH, fill, pages_of
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy", tenant="t-1", session="s-1")


@pytest.mark.requirement("AUD-1", "RES-9")
async def test_a_gate_on_a_full_disk_runs_nothing_and_recovers(tmp_path: Path) -> None:
    store = open_record(tmp_path)
    upstream = RecordedUpstream(*[answer()] * 2)
    gate = gate_of(contracts(), {"job_status": upstream}, store=store)
    store.limit_pages(pages_of(store) + GROWTH)
    fill(store)
    refused = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    ran = len(upstream.dispatches)
    store.limit_pages(100_000)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (refused.outcome, refused.code, ran) == ("refused", "UNAVAILABLE", 0)
    assert (given.outcome, store.verify().broken_at) == ("success", None)
    await gate.close()
