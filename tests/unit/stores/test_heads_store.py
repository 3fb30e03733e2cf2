"""A record that signs its heads as it grows, and what happens where it cannot."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.stores.made import NOW, intent, kept, outcome

from sluicegate.contracts.settings import HeadsSettings
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.heads import MAX_LINE_BYTES, Head, public_keys_of, read_heads
from sluicegate.stores.heads_store import HeadedStore
from sluicegate.stores.heads_writer import HeadWriter
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.sqlite import SqliteStore

SEED = b"s" * 32
PATIENCE_S = 20


def headed(
    store: MemoryStore | SqliteStore | PostgresStore,
    folder: Path,
    *,
    every_events: int = 1_000,
    every_s: float = 3_600.0,
    required: bool = False,
) -> HeadedStore:
    settings = HeadsSettings(
        to="file:x", every_events=every_events, every_s=every_s, required=required
    )
    writer = HeadWriter(store, AppendedFile(folder / "away" / "heads.jsonl"), lambda _: (SEED,))
    return HeadedStore(store, writer, settings, lambda: NOW)


def signed(folder: Path) -> list[int]:
    path = folder / "away" / "heads.jsonl"
    if not path.exists():
        return []
    heads = read_heads(AppendedFile(path).lines(max_bytes=MAX_LINE_BYTES), public_keys_of([SEED]))
    assert isinstance(heads, tuple), heads
    return [head.seq for head in heads if isinstance(head, Head)]


async def until_signed(folder: Path, seq: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while seq not in signed(folder):
            await asyncio.sleep(0.002)


@pytest.mark.requirement("AUD-3")
async def test_closing_signs_what_is_not_covered(
    store: MemoryStore | SqliteStore | PostgresStore, tmp_path: Path
) -> None:
    attended = headed(store, tmp_path)
    await attended.record([intent(), intent("req.00000002")])
    assert signed(tmp_path) == []
    await attended.close()
    assert signed(tmp_path) == [2]


@pytest.mark.requirement("AUD-3")
async def test_so_many_events_make_a_head(sqlite: SqliteStore, tmp_path: Path) -> None:
    attended = headed(sqlite, tmp_path, every_events=3)
    await attended.record([intent(), intent("req.00000002")])
    await attended.record([intent("req.00000003")])
    await until_signed(tmp_path, 3)
    await attended.close()
    assert signed(tmp_path) == [3]


@pytest.mark.requirement("AUD-3")
async def test_so_many_seconds_make_a_head(sqlite: SqliteStore, tmp_path: Path) -> None:
    attended = headed(sqlite, tmp_path, every_s=0.0)
    await attended.record([intent()])
    await until_signed(tmp_path, 1)
    await attended.record([intent("req.00000002")])
    await until_signed(tmp_path, 2)
    await attended.close()


async def test_acts_on_custody_are_covered_too(sqlite: SqliteStore, tmp_path: Path) -> None:
    attended = headed(sqlite, tmp_path, every_s=0.0)
    await attended.record([intent(kept=kept(b"x"))])
    await until_signed(tmp_path, 1)
    assert await attended.purge(now=NOW + timedelta(days=31), who="tester") == 1
    await until_signed(tmp_path, 2)
    await attended.close()


def block(folder: Path) -> Path:
    """Put a folder where the heads are to be written."""
    path = folder / "away" / "heads.jsonl"
    path.mkdir(parents=True)
    return path


@pytest.mark.requirement("AUD-3")
async def test_a_head_that_cannot_be_written_stops_no_call_and_is_told_once(
    sqlite: SqliteStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocking = block(tmp_path)
    attended = headed(sqlite, tmp_path, every_s=0.0)
    await attended.record([intent()])
    async with asyncio.timeout(PATIENCE_S):
        while not caplog.records:
            await asyncio.sleep(0.002)
    await attended.record([intent("req.00000002")])
    blocking.rmdir()
    await until_signed(tmp_path, 2)
    await attended.close()
    told = [record.levelno for record in caplog.records if record.name == "sluicegate"]
    assert told == [logging.ERROR, logging.WARNING]


@pytest.mark.requirement("AUD-3", "RES-9")
async def test_where_heads_are_required_nothing_runs_without_one_and_every_outcome_is_recorded(
    sqlite: SqliteStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocking = block(tmp_path)
    attended = headed(sqlite, tmp_path, every_events=1, required=True)
    await attended.record([intent()])
    async with asyncio.timeout(PATIENCE_S):
        while not caplog.records:  # until the first head was tried
            await asyncio.sleep(0.002)
    with pytest.raises(AuditUnavailable, match="no head could be signed"):
        await attended.record([intent("req.00000002")])
    await attended.record([outcome()])
    blocking.rmdir()
    await attended.record([intent("req.00000003")])
    await attended.close()
    newest = next(iter(sqlite.events(limit=1, newest_first=True)))
    assert newest.request_id == "req.00000003"
    assert signed(tmp_path)[-1] == newest.seq


async def test_a_writer_that_raises_anything_else_stops_no_call(
    keys: AuditKeys, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = MemoryStore(keys)

    def open_keys(_: bool) -> tuple[bytes, ...]:
        raise RuntimeError("PLANTED")

    settings = HeadsSettings(to="file:x")
    writer = HeadWriter(store, AppendedFile(tmp_path / "heads.jsonl"), open_keys)
    attended = HeadedStore(store, writer, settings, lambda: NOW)
    await attended.record([intent()])
    await attended.close()
    assert [record.getMessage() for record in caplog.records] == [
        "no head of the record was signed: RuntimeError"
    ]
