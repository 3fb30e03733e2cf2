"""A full disk: the record is unavailable, nothing is answered, and it recovers by itself."""

from __future__ import annotations

import os
import resource
from dataclasses import replace
from pathlib import Path

import pytest
from tests.faults.audit_processes import fork, make_event, open_record

from sluicegate.gates.events import Kept
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.sqlite import SqliteStore

GROWTH = 60
"""Pages of 4 KiB that the file may still grow by."""


def fill(store: SqliteStore) -> int:
    """Record until the record is unavailable; return how many events were acknowledged."""
    for number in range(10_000):
        try:
            store.record_blocking([make_event(number)])
        except AuditUnavailable:
            return number
    raise AssertionError("the disk never became full")


def pages_of(store: SqliteStore) -> int:
    return (store.path.stat().st_size + Path(f"{store.path}-wal").stat().st_size) // 4096


@pytest.mark.requirement("AUD-1", "AUD-3")
def test_a_full_database_refuses_what_needs_room_until_there_is_space(tmp_path: Path) -> None:
    store = open_record(tmp_path)
    store.limit_pages(pages_of(store) + GROWTH)
    acknowledged = fill(store)
    # A small event may still find room where its keys sort in a page that is not full.
    large = (Kept(kind="raw", content=os.urandom(20_000), keep_days=30),)
    for number in range(3):
        with pytest.raises(AuditUnavailable, match="full"):
            store.record_blocking([replace(make_event(number), kept=large)])
    assert (store.verify().events, store.verify().broken_at) == (acknowledged, None)
    store.limit_pages(100_000)
    store.record_blocking([make_event(1)])
    assert (store.verify().events, store.verify().broken_at) == (acknowledged + 1, None)
    store._writer.close(10)


@pytest.mark.requirement("AUD-1")
def test_a_write_that_the_system_refuses_is_no_record_and_the_next_one_is(tmp_path: Path) -> None:
    """RLIMIT_FSIZE makes the write itself fail, as a broken disk does."""

    def work() -> None:
        store = open_record(tmp_path)
        size = Path(f"{store.path}-wal").stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300_000, resource.RLIM_INFINITY))
        acknowledged = fill(store)
        assert acknowledged > 0
        assert (store.verify().events, store.verify().broken_at) == (acknowledged, None)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        store.record_blocking([make_event(1)])
        assert (store.verify().events, store.verify().broken_at) == (acknowledged + 1, None)

    _, status = os.waitpid(fork(work), 0)
    assert os.waitstatus_to_exitcode(status) == 0
