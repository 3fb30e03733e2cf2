"""kill -9 at any moment, opening included: what was acknowledged is there, and the chain holds.

Such a test cannot see a missing fsync (a killed process leaves its writes to the kernel), so
that synchronous is FULL is asserted apart. 100 rounds by default; SLUICEGATE_FULL=1 runs 1,000
(``just crash``).
Figures: --log-cli-level=INFO.
"""

from __future__ import annotations

import logging
import os
import random
from functools import partial
from pathlib import Path

import pytest
from tests.faults.audit_processes import (
    acknowledge_until_killed,
    kill_after,
    make_event,
    open_record,
)

from sluicegate.stores.sqlite_schema import FULL, read_pragma

ROUNDS = 1_000 if os.environ.get("SLUICEGATE_FULL") else 100
ROUNDS_A_FILE = 20
LOG = logging.getLogger(__name__)
RANDOM = random.Random(20261130)


@pytest.mark.requirement("AUD-1", "AUD-3")
def test_no_acknowledged_event_is_lost_when_a_writer_is_killed(tmp_path: Path) -> None:
    lost = unacknowledged = total = 0
    for number in range(ROUNDS):
        folder = tmp_path / str(number // ROUNDS_A_FILE)
        folder.mkdir(exist_ok=True)
        acknowledged = kill_after(
            partial(acknowledge_until_killed, folder),
            RANDOM.randrange(1, 60),
            RANDOM.random() * 0.01,
        )
        store = open_record(folder)
        report = store.verify()
        stored = [event.event_id for event in store.events()]
        assert (report.broken_at, report.problem) == (None, None)
        known = set(stored)
        lost += sum(name not in known for name in acknowledged)
        total += len(acknowledged)
        unacknowledged += stored[-1] != acknowledged[-1]
        store.record_blocking([make_event(number)])
        store._writer.close(10)
    LOG.info(
        "%d rounds, %d acknowledged, %d lost, %d rounds with a commit nobody was told of",
        *(ROUNDS, total, lost, unacknowledged),
    )
    assert (lost, total >= ROUNDS) == (0, True)


@pytest.mark.requirement("AUD-3")
def test_a_process_killed_while_it_opens_leaves_a_record_that_opens(tmp_path: Path) -> None:
    opened = 0
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        folder.mkdir()
        acknowledged = kill_after(
            partial(acknowledge_until_killed, folder), 0, RANDOM.random() * 0.03
        )
        opened += bool(acknowledged)
        store = open_record(folder)
        store.record_blocking([make_event(number)])
        known = {event.event_id for event in store.events()}
        assert [name for name in acknowledged if name not in known] == []
        assert store.verify().broken_at is None
        store._writer.close(10)
    LOG.info("%d rounds, %d before the first acknowledgement", ROUNDS, ROUNDS - opened)
    assert opened < ROUNDS


@pytest.mark.requirement("AUD-3")
def test_the_connection_that_commits_is_synchronous_full(tmp_path: Path) -> None:
    store = open_record(tmp_path)
    store.record_blocking([make_event(1)])
    ledger = store._writer._ledger
    assert ledger is not None
    assert read_pragma(ledger.connection, "synchronous") == FULL
    store._writer.close(10)
