"""The files of the record are destroyed under a running writer: no answer rests on lost events."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.stores.made import intent

from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.keys import draw_keys
from sluicegate.stores.sqlite import SqliteStore

KEYS = draw_keys()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "a.db", KEYS)
    for number in range(5):
        await opened.record([intent(f"req.before{number}")])
    yield opened
    await opened.close()


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def unlink_log(path: Path) -> None:
    beside(path, "-wal").unlink()


def unlink_log_and_index(path: Path) -> None:
    unlink_log(path)
    beside(path, "-shm").unlink()


def unlink_index(path: Path) -> None:
    beside(path, "-shm").unlink()


def replace_log(path: Path) -> None:
    copy = beside(path, "-copy")
    copy.write_bytes(beside(path, "-wal").read_bytes())
    copy.replace(beside(path, "-wal"))


def cut_log(path: Path) -> None:
    os.truncate(beside(path, "-wal"), 0)


def cut_tail_of_log(path: Path) -> None:
    os.truncate(beside(path, "-wal"), beside(path, "-wal").stat().st_size - 4096)


def cut_file(path: Path) -> None:
    os.truncate(path, 0)


def checkpoint(path: Path) -> None:
    """Bring the pages from the log into the file, and begin the log anew."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(RESTART)")


def cut_file_after_checkpoint(path: Path) -> None:
    checkpoint(path)
    os.truncate(path, 4096)


DESTRUCTIONS = [
    unlink_log,
    unlink_log_and_index,
    unlink_index,
    replace_log,
    cut_log,
    cut_tail_of_log,
    cut_file,
    cut_file_after_checkpoint,
]


@pytest.mark.requirement("AUD-1", "AUD-3")
@pytest.mark.parametrize("destroy", DESTRUCTIONS, ids=lambda each: each.__name__)
async def test_what_is_told_to_be_recorded_is_in_the_record_or_nothing_is_told(
    store: SqliteStore, destroy: Callable[[Path], None]
) -> None:
    if destroy is cut_file_after_checkpoint:  # the writer saw the file at its full size
        checkpoint(store.path)
        await store.record([intent("req.before5")])
    destroy(store.path)
    with pytest.raises(AuditUnavailable):
        await store.record([intent("req.lost0000")])
    told = []
    for number in range(20):
        request_id = f"req.after{number:03}"
        try:
            await store.record([intent(request_id)])
        except AuditUnavailable:
            continue
        told.append(request_id)
    if not told:
        return
    await store.close()
    again = SqliteStore(store.path, KEYS)
    assert again.verify().broken_at is None
    found = [event.request_id for event in again.events()]
    assert [*(f"req.before{number}" for number in range(5)), *told] == [
        each for each in found if each not in ("req.lost0000", "req.before5")
    ]
    await again.close()


@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize("mode", ["PASSIVE", "RESTART"])
async def test_a_checkpoint_of_another_program_disturbs_nobody(
    store: SqliteStore, mode: str
) -> None:
    for number in range(3):
        with closing(sqlite3.connect(store.path)) as connection:
            connection.execute(f"PRAGMA wal_checkpoint({mode})")
        await store.record([intent(f"req.after{number:03}")])
    assert store.verify().events == 8


@pytest.mark.requirement("AUD-1")
async def test_a_log_that_was_shortened_soundly_costs_one_batch(store: SqliteStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with pytest.raises(AuditUnavailable, match="was cut from"):
        await store.record([intent("req.refused0")])
    await store.record([intent("req.after000")])
    report = store.verify()
    assert (report.events, report.broken_at) == (6, None)
