"""A record that signs its heads as it grows, and what happens where it cannot."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.waiting import until

from sluicegate.contracts.settings import HeadsSettings
from sluicegate.gates.ports import HeldBack
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


@pytest.fixture(autouse=True)
def away(tmp_path: Path) -> Path:
    """The other disk: nothing but a file is ever made there."""
    made = tmp_path / "away"
    made.mkdir()
    return made


def headed(
    store: MemoryStore | SqliteStore | PostgresStore,
    folder: Path,
    *,
    every_events: int = 1_000,
    every_s: float = 3_600.0,
    required: bool = False,
    patience_s: float = 10.0,
) -> HeadedStore:
    settings = HeadsSettings(
        to="file:x", every_events=every_events, every_s=every_s, required=required
    )
    writer = HeadWriter(store, AppendedFile(folder / "away" / "heads.jsonl"), lambda _: (SEED,))
    return HeadedStore(store, writer, settings, lambda: NOW, patience_s=patience_s)


def signed(folder: Path) -> list[int]:
    path = folder / "away" / "heads.jsonl"
    if not path.exists():
        return []
    heads = read_heads(AppendedFile(path).lines(max_bytes=MAX_LINE_BYTES), public_keys_of([SEED]))
    assert isinstance(heads, tuple), heads
    return [head.seq for head in heads if isinstance(head, Head)]


async def until_signed(folder: Path, seq: int) -> None:
    await until(lambda: seq in signed(folder))


async def until_at_least(folder: Path, seq: int) -> None:
    await until(lambda: max(signed(folder), default=0) >= seq)


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
    path.mkdir()
    return path


@pytest.mark.requirement("AUD-3")
async def test_a_head_that_cannot_be_written_stops_no_call_and_is_told_once(
    sqlite: SqliteStore, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocking = block(tmp_path)
    attended = headed(sqlite, tmp_path, every_s=0.0)
    await attended.record([intent()])
    await until(lambda: bool(caplog.records))
    await attended.record([intent("req.00000002")])
    blocking.rmdir()
    await until_signed(tmp_path, 2)
    await attended.close()
    told = [record.levelno for record in caplog.records if record.name == "sluicegate"]
    assert told == [logging.ERROR, logging.WARNING]


@pytest.mark.requirement("AUD-3", "RES-9")
async def test_where_heads_are_required_nothing_runs_without_one_and_every_outcome_is_recorded(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    attended = headed(sqlite, tmp_path, every_events=2, required=True)
    await attended.record([intent()])
    heads = tmp_path / "away" / "heads.jsonl"
    heads.rename(tmp_path / "kept")
    blocking = block(tmp_path)
    await attended.record([outcome()])  # a head is due
    for _ in range(2):
        with pytest.raises(HeldBack, match="no head could be signed"):
            await attended.record([intent("req.00000002")])
    await attended.record([outcome()])
    await attended.record([intent("req.00000002"), outcome("req.00000002")])  # tells what was
    blocking.rmdir()
    (tmp_path / "kept").rename(heads)
    await attended.record([intent("req.00000003")])
    await attended.close()
    newest = next(iter(sqlite.events(limit=1, newest_first=True)))
    assert newest.request_id == "req.00000003"
    assert signed(tmp_path)[-1] == newest.seq


@pytest.mark.requirement("AUD-3", "RES-9")
@pytest.mark.parametrize("before", [0, 1], ids=["an empty record", "a record that was signed"])
async def test_where_heads_are_required_nothing_runs_before_one_is_known_to_be_possible(
    sqlite: SqliteStore, tmp_path: Path, before: int
) -> None:
    for _ in range(before):
        earlier = headed(sqlite, tmp_path)
        await earlier.record([outcome()])
        await earlier._begin()
    (tmp_path / "away").rename(tmp_path / "kept")
    (tmp_path / "away").write_text("a file stands where their folder was to be")
    attended = headed(sqlite, tmp_path, required=True)
    for number in range(3):
        with pytest.raises(HeldBack, match="no head could be signed"):
            await attended.record([intent(f"req.{number:08}")])
    assert len([*sqlite.events()]) == before
    (tmp_path / "away").unlink()
    (tmp_path / "kept").rename(tmp_path / "away")
    await attended.record([intent()])
    await attended.close()
    assert signed(tmp_path)[-1] == before + 1


@pytest.mark.requirement("AUD-3", "RES-9")
@pytest.mark.parametrize(
    "due", [{"every_events": 2}, {"every_s": 0.0}], ids=["by count", "by time"]
)
async def test_where_heads_are_required_nothing_runs_while_one_that_is_due_hangs(
    sqlite: SqliteStore, tmp_path: Path, due: dict[str, Any]
) -> None:
    attended = headed(sqlite, tmp_path, **due, required=True, patience_s=0.05)
    await attended.record([intent()])
    await attended._begin()
    lock = AppendedFile(tmp_path / "away" / "heads.jsonl").lock()
    with lock:
        await attended.record([outcome(), outcome()])
        with pytest.raises(HeldBack, match=r"within 0\.05 s"):
            await attended.record([intent("req.00000002")])
    lock.close()
    await attended.close()
    assert signed(tmp_path)[-1] == 3


@pytest.mark.requirement("AUD-3")
async def test_many_who_wait_for_one_head_leave_the_count_of_what_is_uncovered_right(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    attended = headed(sqlite, tmp_path, every_events=20, required=True)
    await attended.record([intent()])
    heads = tmp_path / "away" / "heads.jsonl"
    heads.rename(tmp_path / "kept")
    block(tmp_path)
    await attended.record([outcome()] * 30)
    held = await asyncio.gather(
        *(attended.record([intent(f"req.{number:08}")]) for number in range(50)),
        return_exceptions=True,
    )
    assert {type(each) for each in held} == {HeldBack}
    heads.rmdir()
    (tmp_path / "kept").rename(heads)
    await asyncio.gather(*(attended.record([intent(f"req.{n:08}")]) for n in range(50, 60)))
    for _ in range(20):
        await attended.record([outcome()])
    await until_at_least(tmp_path, 31 + 20)
    await attended.close()


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
