"""A record and a second sink: when an event counts, and what each of the two may fail at."""

from __future__ import annotations

import asyncio
import json
import resource
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.faults.test_store_full_disk import GROWTH, fill, pages_of
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts
from tests.unit.stores.made import NOW, intent, kept, outcome
from tests.waiting import until

from sluicegate.contracts.settings import SinksRule
from sluicegate.gates.events import AuditEvent, Outcome
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.terms import IF_INTENDED, Terms
from sluicegate.stores import second_sink
from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.chain import GENESIS, link_columns
from sluicegate.stores.encoding import COLUMNS
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.second_sink import SecondSink, SinkUnwritten
from sluicegate.stores.second_sink_store import TwoSinksStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("AUD-3")

CALLER = Caller(subject="svc")
LARGE = {"note": "y" * 20_000}  # what is left of a full disk is less than that
Store = MemoryStore | SqliteStore | PostgresStore


@pytest.fixture(autouse=True)
def away(tmp_path: Path) -> Path:
    """The other disk: nothing but a file is ever made there."""
    made = tmp_path / "away"
    made.mkdir()
    return made


def path_of(folder: Path) -> Path:
    return folder / "away" / "events.jsonl"


def two(
    store: Store, folder: Path, keys: AuditKeys, rule: SinksRule = "all", patience_s: float = 10.0
) -> TwoSinksStore:
    sink = SecondSink(store, AppendedFile(path_of(folder)), keys)
    return TwoSinksStore(store, sink, rule, patience_s=patience_s)


def lines(folder: Path) -> list[dict[str, Any]]:
    if not path_of(folder).exists():
        return []
    whole = path_of(folder).read_text().rpartition("\n")[0]  # the last one is being written, maybe
    read = [json.loads(line) for line in whole.splitlines()]
    return [line for line in read if "seq" in line]


def seqs(folder: Path) -> list[int | None]:
    return [line["seq"] for line in lines(folder)]


async def until_copied(folder: Path, *expected: int | None) -> None:
    await until(lambda: seqs(folder) == [*expected])


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """A disk that is full for the sink alone: it is larger than whatever else is written here."""
    path = path_of(folder)
    before = path.read_bytes() if path.exists() else b""
    last = before.splitlines(keepends=True)[-1:] or [
        json.dumps({"after": [0, GENESIS]}).encode() + b"\n"
    ]
    path.write_bytes(b"#" * 50_000_000 + b"\n" + last[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        whole = path.read_bytes().partition(b"\n")[2]
        path.write_bytes(before + whole[len(last[0]) :] if before else whole)


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """A sink that takes nothing, since somebody else holds its lock."""
    lock = AppendedFile(path_of(folder)).lock()
    try:
        with lock:
            yield
    finally:
        lock.close()


async def test_with_all_both_have_an_event_before_it_counts(
    store: Store, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(store, tmp_path, keys)
    ids = await both.record([intent(kept=kept(b"PLANTED")), outcome(raw=b"PLANTED")])
    assert [line["event_id"] for line in lines(tmp_path)] == list(ids)
    for line, event in zip(lines(tmp_path), store.events(), strict=True):
        assert {name: line[name] for name in COLUMNS} == {
            name: getattr(event, name) for name in COLUMNS
        }
        assert link_columns(keys.chain, [line[name] for name in COLUMNS[:-1]]) == line["link"]
    assert b"PLANTED" not in path_of(tmp_path).read_bytes()
    assert path_of(tmp_path).stat().st_mode & 0o777 == 0o600


async def test_many_at_once_are_copied_once_each_and_in_order(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    faces = [two(sqlite, tmp_path, keys), two(sqlite, tmp_path, keys)]
    await asyncio.gather(
        *(faces[number % 2].record([intent(f"req.{number:08}")]) for number in range(60))
    )
    assert seqs(tmp_path) == list(range(1, 61))


async def test_what_was_recorded_past_it_is_made_up_for(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    for number in range(5):
        await sqlite.record([intent(f"req.{number:08}")])
    await two(sqlite, tmp_path, keys).record([intent()])
    assert seqs(tmp_path) == [1, 2, 3, 4, 5, 6]
    await sqlite.record([intent()])
    await two(sqlite, tmp_path, keys).close()
    assert seqs(tmp_path) == [1, 2, 3, 4, 5, 6, 7]


async def test_a_sink_that_is_far_behind_is_filled_in_order(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(second_sink, "_GAP", 3)
    monkeypatch.setattr(second_sink, "_ROWS_AT_ONCE", 2)
    both = two(sqlite, tmp_path, keys)
    for number in range(5):
        await sqlite.record([intent(f"req.{number:08}")])
    await both.record([intent()])
    for number in range(5):
        await sqlite.record([intent(f"req.{number:08}")])
    await both.record([intent()])
    assert seqs(tmp_path) == list(range(1, 13))


async def test_what_a_crash_left_of_a_line_goes(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys)
    await both.record([intent()])
    with path_of(tmp_path).open("ab") as file:
        file.write(b'{"format": "sluicegate-ev')
    await both.record([intent()])
    assert seqs(tmp_path) == [1, 2]


@pytest.mark.requirement("RES-9")
async def test_with_all_a_full_sink_lets_nothing_run_and_loses_nothing(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys)
    await both.record([intent()])
    with full(tmp_path):
        for _ in range(3):
            with pytest.raises(AuditUnavailable, match="the second sink"):
                await both.record([intent("req.00000002")])
        for told in ([outcome()], [intent("req.00000003"), outcome("req.00000003")]):
            with pytest.raises(AuditUnavailable, match="the second sink"):
                await both.record(told)
    # The first one was committed before the sink failed, the next two were held back before.
    assert [event.seq for event in sqlite.events()] == [1, 2, 3, 4, 5]
    await both.record([intent("req.00000004")])
    assert seqs(tmp_path) == [1, 2, 3, 4, 5, 6]


@pytest.mark.requirement("AUD-1", "RES-9")
async def test_with_all_a_gate_whose_sink_is_full_asks_no_upstream_and_recovers(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(), {"job_status": upstream}, store=two(sqlite, tmp_path, keys))
    with full(tmp_path):
        refused = await gate.call("job_status", ARGUMENTS, caller=CALLER)
        assert (refused.code, len(upstream.dispatches)) == ("UNAVAILABLE", 0)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert given.outcome == "success"


WRITES = [json.dumps({**json.loads(ARGUMENTS), "run_id": f"run_{n:012}"}) for n in range(32)]


@pytest.mark.requirement("AUD-1", "RET-2")
@pytest.mark.parametrize("failing", ["full", "slow"])
async def test_with_all_writes_in_flight_when_the_sink_fails_are_not_open_and_may_be_made_again(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys, failing: str
) -> None:
    upstream = RecordedUpstream(*[answer()] * (1 + len(WRITES)))
    store = two(sqlite, tmp_path, keys, patience_s=10.0 if failing == "full" else 0.5)
    gate = gate_of(contracts(effect="write"), {"job_status": upstream}, store=store)
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).outcome == "success"
    with full(tmp_path) if failing == "full" else held(tmp_path):
        refused = await asyncio.gather(
            *(gate.call("job_status", write, caller=CALLER) for write in WRITES)
        )
    in_flight = [event.kind for event in sqlite.events()].count("intent") - 1
    assert {each.code for each in refused} == {"UNAVAILABLE"}
    assert (len(upstream.dispatches), in_flight > 1) == (1, True)
    again = [await gate.call("job_status", write, caller=CALLER) for write in WRITES]
    assert "refused" not in {each.outcome for each in again}
    assert len(upstream.dispatches) == 1 + len(WRITES)
    begun = {event.request_id for event in sqlite.events() if event.kind == "intent"}
    told = [event for event in sqlite.events() if event.code == "AUDIT_UNAVAILABLE"]
    closing = [event for event in told if event.request_id in begun]
    assert {(event.kind, event.outcome) for event in closing} == {("outcome", "refused")}
    assert len(closing) == in_flight
    # Whoever came when the failure was known was held back: nothing of his began.
    assert {event.kind for event in told if event.request_id not in begun} <= {"refused"}
    assert sqlite.verify().problem is None


async def test_with_any_a_full_sink_stops_nothing_and_is_told_once(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys, caplog: pytest.LogCaptureFixture
) -> None:
    both = two(sqlite, tmp_path, keys, "any")
    await both.record([intent()])
    await until_copied(tmp_path, 1)
    with full(tmp_path):
        await both.record([intent("req.00000002")])
        await until(lambda: bool(caplog.records))
        await both.record([intent("req.00000003")])
        await both._following.rest()
    await both.record([intent("req.00000004")])
    await until_copied(tmp_path, 1, 2, 3, 4)
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "the second sink took no event"
    ]


async def test_with_any_the_sink_takes_alone_what_a_full_record_cannot(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys, "any")
    await both.record([intent()])
    await until_copied(tmp_path, 1)
    sqlite.limit_pages(pages_of(sqlite) + GROWTH)
    events = 1 + await asyncio.to_thread(fill, sqlite)
    ids = await both.record([outcome(raw=b"PLANTED", detail=LARGE)])
    alone = lines(tmp_path)[-1]
    assert (alone["seq"], alone["event_id"], alone["kind"]) == (None, *ids, "outcome")
    assert b"PLANTED" not in path_of(tmp_path).read_bytes()
    sqlite.limit_pages(100_000)
    await both.record([intent("req.00000003")])
    await until(lambda: seqs(tmp_path)[-1] == events + 1)
    chained = [seq for seq in seqs(tmp_path) if seq is not None]
    assert chained == list(range(1, events + 2))


@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize("takes", [True, False], ids=["took", "could not take"])
async def test_an_intent_that_the_sink_was_to_take_alone_is_closed_where_it_did(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys, takes: bool
) -> None:
    """Its caller has left before the sink was done; what closes it waits for that."""
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    class Asked(SecondSink):
        def take(self, events: Sequence[AuditEvent]) -> tuple[str, ...]:
            loop.call_soon_threadsafe(asked.set)
            ids = super().take(events)
            if not takes:
                raise SinkUnwritten("disk full")
            return ids

    sink = Asked(sqlite, AppendedFile(path_of(tmp_path)), keys)
    both = TwoSinksStore(sqlite, sink, "any")
    sqlite.limit_pages(pages_of(sqlite) + GROWTH)
    await asyncio.to_thread(fill, sqlite)
    closing = [outcome(became=Outcome.FAILURE)]
    with held(tmp_path):
        gone = asyncio.ensure_future(both.record([intent(detail=LARGE)]))
        await asked.wait()
        gone.cancel()
        await asyncio.wait([gone])
        sqlite.limit_pages(100_000)
        closed = asyncio.ensure_future(both.record(closing, terms=IF_INTENDED))
        await asyncio.sleep(0)
        assert not closed.done()
    assert len(await closed) == takes
    assert await both.record(closing, terms=IF_INTENDED) == ()


@pytest.mark.requirement("AUD-1")
async def test_an_end_that_neither_took_is_still_known_to_belong_to_what_the_sink_has_alone(
    tmp_path: Path, keys: AuditKeys
) -> None:
    """It is tried again, by then with the record alone, which has no such intent."""

    class Record(MemoryStore):
        is_well = False

        async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
            if not self.is_well:
                raise AuditUnavailable("no commit")
            return await super().record(events, **how)

    record = Record()
    both = two(record, tmp_path, keys, "any")
    await both.record([intent("req.alone")])
    closing = [outcome("req.alone", became=Outcome.FAILURE)]
    away = path_of(tmp_path)
    away.rename(tmp_path / "aside")
    away.mkdir()
    for _ in range(2):
        with pytest.raises(AuditUnavailable):
            await both.record(closing, terms=IF_INTENDED)
    away.rmdir()
    (tmp_path / "aside").rename(away)
    record.is_well = True
    (event_id,) = await both.record(closing, terms=IF_INTENDED)
    assert [each.event_id for each in record.events()] == [event_id]
    assert await both.record(closing, terms=IF_INTENDED) == ()
    assert both._taking == {}


@pytest.mark.requirement("AUD-1")
async def test_the_sink_takes_alone_nothing_whose_intent_it_does_not_know(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys, "any")
    await both.record([intent("req.alone")])
    await until_copied(tmp_path, 1)
    sqlite.limit_pages(pages_of(sqlite) + GROWTH)
    await asyncio.to_thread(fill, sqlite)
    with pytest.raises(AuditUnavailable, match="full"):
        await both.record([outcome("req.alone", detail=LARGE)], terms=IF_INTENDED)
    assert [line for line in lines(tmp_path) if line["seq"] is None] == []


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("rule", ["all", "any"])
async def test_terms_are_never_judged_by_the_sink(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys, rule: SinksRule
) -> None:
    both = two(sqlite, tmp_path, keys, rule)
    sqlite.limit_pages(pages_of(sqlite) + GROWTH)
    await asyncio.to_thread(fill, sqlite)
    with pytest.raises(AuditUnavailable, match="full"):
        await both.record([intent(detail=LARGE)], terms=Terms(unless_open=True))
    assert all(line["seq"] is not None for line in lines(tmp_path))


@pytest.mark.requirement("RES-9")
async def test_with_any_nothing_counts_where_neither_takes_it(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys, "any")
    sqlite.limit_pages(pages_of(sqlite) + GROWTH)
    await asyncio.to_thread(fill, sqlite)
    path_of(tmp_path).mkdir()
    with pytest.raises(AuditUnavailable, match="full"):
        await both.record([outcome(detail=LARGE)])


@pytest.mark.requirement("RES-9")
async def test_a_sink_that_is_slow_is_given_up_and_catches_up(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys, patience_s=0.05)
    lock = AppendedFile(path_of(tmp_path)).lock()
    with lock, pytest.raises(AuditUnavailable, match=r"within 0\.05 s"):
        await both.record([intent()])
    lock.close()
    await until_copied(tmp_path, 1)


@pytest.mark.requirement("RES-9")
async def test_a_sink_that_raises_anything_is_a_refusal_by_its_type(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raising(_: object) -> None:
        raise RuntimeError("PLANTED")

    monkeypatch.setattr(AppendedFile, "read_last", raising)
    with pytest.raises(AuditUnavailable, match="the second sink: RuntimeError"):
        await two(sqlite, tmp_path, keys).record([intent()])


LYING = {
    "no JSON": b"x\n",
    "another form": b'{"after": 7}\n',
    "an event to come": b'{"after": [99, "00"]}\n',
    "another event": b'{"after": [1, "00"]}\n',
}


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("last", LYING.values(), ids=LYING)
async def test_a_sink_that_does_not_follow_the_record_takes_nothing(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys, last: bytes
) -> None:
    path_of(tmp_path).write_bytes(last)
    with pytest.raises(AuditUnavailable, match="the second sink"):
        await two(sqlite, tmp_path, keys).record([intent()])
    assert path_of(tmp_path).read_bytes() == last


async def test_a_record_that_was_rolled_back_is_told_at_once(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys)
    await both.record([intent()])
    await sqlite.close()
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    store = SqliteStore(tmp_path / "a.db", keys)
    await two(store, tmp_path, keys).record([intent(), intent()])
    await store.close()
    older = SqliteStore(tmp_path / "b.db", keys)
    with pytest.raises(AuditUnavailable, match="CHAIN_SHORTER_THAN_ANCHOR"):
        await two(older, tmp_path, keys).record([intent()])
    await older.record([intent(), intent()])
    with pytest.raises(AuditUnavailable, match="CHAIN_BROKEN"):
        await two(older, tmp_path, keys).record([outcome()])
    await older.close()


async def test_with_any_an_act_waits_for_the_record_alone_and_the_sink_follows(
    tmp_path: Path, keys: AuditKeys
) -> None:
    store = MemoryStore(keys)
    both = two(store, tmp_path, keys, "any")
    await both.record([outcome(kept=kept(b"shown"))])
    ref = next(store.events()).raw_ref or ""
    with held(tmp_path):
        given = both.reveal(ref, who="tester", reason="ticket 7", now=NOW)
        assert await asyncio.wait_for(given, 5) == b"shown"
        assert len(list(store.events())) == 2
    await until_copied(tmp_path, 1, 2)
    await both.close()


async def test_an_act_is_in_both_before_bytes_are_shown(
    sqlite: SqliteStore, tmp_path: Path, keys: AuditKeys
) -> None:
    both = two(sqlite, tmp_path, keys)
    await both.record([intent(kept=kept(b"shown"))])
    ref = next(iter(sqlite.events())).raw_ref
    assert ref is not None
    with full(tmp_path), pytest.raises(AuditUnavailable, match="the second sink"):
        await both.reveal(ref, who="tester", reason="ticket 7", now=NOW)
    assert await both.reveal(ref, who="tester", reason="ticket 7", now=NOW) == b"shown"
    assert seqs(tmp_path) == [1, 2, 3]
