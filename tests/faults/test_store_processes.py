"""Eight processes write to one file: no gap, no loss, one chain.

100 events a process and caller count by default; SLUICEGATE_FULL=1 runs 2,000.
Figures: --log-cli-level=INFO.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.faults import audit_processes
from tests.faults.audit_processes import open_record

LOG = logging.getLogger(__name__)
PROCESSES = 8
EVENTS = 2_000 if os.environ.get("SLUICEGATE_FULL") else 100


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("callers", [1, 8])
def test_eight_processes_share_one_file_gaplessly(tmp_path: Path, callers: int) -> None:
    """They start on an empty folder, so they also agree on one set of keys."""
    began = time.perf_counter()
    children = [
        subprocess.Popen(
            [sys.executable, audit_processes.__file__, tmp_path, str(EVENTS), str(callers)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    acknowledged = [child.communicate()[0].split() for child in children]
    took = time.perf_counter() - began
    assert [child.returncode for child in children] == [0] * PROCESSES
    assert [len(ids) for ids in acknowledged] == [EVENTS] * PROCESSES

    store = open_record(tmp_path)
    events = list(store.events())
    report = store.verify()
    store._writer.close(10)
    assert [event.seq for event in events] == list(range(1, PROCESSES * EVENTS + 1))
    assert {event.event_id for event in events} == {name for ids in acknowledged for name in ids}
    assert (report.events, report.broken_at) == (PROCESSES * EVENTS, None)
    LOG.info("%d events, %.0f a second, start included", len(events), len(events) / took)
