"""What the page of failures says and no other suite holds."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from tests.unit.gates.job_status import ARGUMENTS, answer
from tests.unit.stores.made import intent
from tests.unit.stores.test_heads_store import headed, signed
from tests.unit.telemetry.test_observing import watched

from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.keys import draw_keys
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import RecordedUpstream
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy")


class Waiting(SpanProcessor):
    """As a processor that exports at once to a collector that does not answer."""

    def on_end(self, span: ReadableSpan) -> None:
        time.sleep(0.05)


class Lying(SpanProcessor):
    """It says of a call what is not so, and returns what nobody asked for."""

    def on_start(self, span: Span, parent_context: object = None) -> object:  # type: ignore[override]
        span.set_attribute("sluicegate.outcome", "failure")
        return False

    def on_end(self, span: ReadableSpan) -> object:  # type: ignore[override]
        return RuntimeError("PLANTED")


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("processor", [Waiting(), Lying()], ids=["waits", "lies"])
async def test_an_exporter_that_waits_or_lies_changes_no_answer(processor: SpanProcessor) -> None:
    seen = watched(RecordedUpstream(answer()), processor)
    given = await seen.gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert given.outcome == "success"


@pytest.mark.requirement("AUD-3")
async def test_no_call_waits_for_a_head_that_hangs(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    attended = headed(SqliteStore(tmp_path / "a.db", draw_keys()), tmp_path, every_events=1)
    await attended.record([intent()])
    await attended._begin()
    lock = AppendedFile(tmp_path / "away" / "heads.jsonl").lock()
    with lock:
        for number in range(3):
            recorded = attended.record([intent(f"req.{number:08}")])
            assert await asyncio.wait_for(recorded, 5)
    lock.close()
    await attended.close()
    assert signed(tmp_path)[-1] == 4
