"""The writer thread: group commit, full queues, gone waiters, faults it recovers from, forks."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.unit.stores.made import intent, outcome

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores import writing
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.record_ledger import Ledger
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.stores.sqlite_schema import connect, read_pragma

# Python 3.12 and later warn of what these tests are about: a fork beside a thread.
FORKS = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@contextmanager
def held(store: SqliteStore) -> Iterator[None]:
    """Hold the lock of the file as another process would."""
    descriptor = os.open(f"{store.path}.lock", os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(descriptor)


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The head of the chain after each commit."""
    seen: list[int] = []
    commit = Ledger.commit

    def counted(ledger: Ledger) -> None:
        commit(ledger)
        seen.append(ledger.seq)

    monkeypatch.setattr(Ledger, "commit", counted)
    return seen


@pytest.mark.requirement("AUD-3")
async def test_a_commit_is_on_disk_before_anybody_is_told(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "a.db")) as connection:
        read = {name: read_pragma(connection, name) for name in ("journal_mode", "synchronous")}
    assert read == {"journal_mode": "wal", "synchronous": 2}


async def test_files_are_made_for_this_account_alone(sqlite: SqliteStore) -> None:
    await sqlite.record([intent()])
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in sqlite.path.parent.iterdir()}
    assert modes == {"a.db": 0o600, "a.db-wal": 0o600, "a.db-shm": 0o600, "a.db.lock": 0o600}


@pytest.mark.requirement("AUD-3")
async def test_all_that_waits_shares_one_commit(sqlite: SqliteStore, commits: list[int]) -> None:
    with held(sqlite):
        waiting = [asyncio.ensure_future(sqlite.record([intent()])) for _ in range(64)]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert commits == [64]


@pytest.mark.requirement("AUD-1")
async def test_nobody_is_told_before_the_commit(sqlite: SqliteStore) -> None:
    with held(sqlite):
        waiting = sqlite.enqueue([intent()])
        assert (waiting.done(), list(sqlite.events())) == (False, [])
    assert await asyncio.wrap_future(waiting) == (next(sqlite.events()).event_id,)


async def test_an_intent_whose_caller_is_gone_is_not_written(sqlite: SqliteStore) -> None:
    with held(sqlite):
        first = sqlite.enqueue([outcome("req.first")])  # what the writer holds while it waits
        gone = asyncio.ensure_future(sqlite.record([intent("req.gone")]))
        stays = asyncio.ensure_future(sqlite.record([intent("req.stays")]))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
    await asyncio.gather(asyncio.wrap_future(first), stays)
    assert [event.request_id for event in sqlite.events()] == ["req.first", "req.stays"]


async def test_an_outcome_whose_caller_is_gone_is_written(sqlite: SqliteStore) -> None:
    with held(sqlite):
        gone = asyncio.ensure_future(sqlite.record([outcome("req.gone")]))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
    await sqlite.record([outcome("req.next")])
    assert [event.request_id for event in sqlite.events()] == ["req.gone", "req.next"]


@pytest.mark.requirement("AUD-1")
async def test_who_waits_too_long_is_told_that_the_record_is_unavailable(
    tmp_path: Path, keys: AuditKeys
) -> None:
    store = SqliteStore(tmp_path / "a.db", keys, patience_s=0.05)
    with held(store):
        with pytest.raises(AuditUnavailable, match=r"no commit within 0\.05 s"):
            await store.record([intent()])
        with pytest.raises(AuditUnavailable, match=r"no commit within 0\.05 s"):
            await asyncio.to_thread(store.record_blocking, [intent()])
        with pytest.raises(AuditUnavailable, match="did not close"):
            await store.close()
    await store.close()
    assert list(store.events()) == []


async def test_a_full_queue_refuses_at_once_and_drains(tmp_path: Path, keys: AuditKeys) -> None:
    store = SqliteStore(tmp_path / "a.db", keys, max_queued_bytes=10_000)
    with held(store):
        waiting = [store.enqueue([outcome(raw=b"x" * 2_000)])]
        with pytest.raises(AuditUnavailable, match="already wait for the record"):
            store.enqueue([outcome(raw=b"x" * 2_000)])
    await asyncio.gather(*map(asyncio.wrap_future, waiting))
    assert store.record_blocking([outcome(raw=b"x" * 20_000)])
    await store.close()


async def test_closing_writes_what_is_queued(sqlite: SqliteStore) -> None:
    waiting = [sqlite.enqueue([outcome()]) for _ in range(20)]
    await sqlite.close()
    assert [len(future.result()) for future in waiting] == [1] * 20
    assert sqlite.verify().events == 20


async def test_several_event_loops_share_one_store(sqlite: SqliteStore) -> None:
    def other_loop() -> None:
        asyncio.run(sqlite.record([intent()]))  # type: ignore[arg-type]

    threads = [threading.Thread(target=other_loop) for _ in range(4)]
    for thread in threads:
        thread.start()
    await sqlite.record([intent()])
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert sqlite.verify().events == 5


async def test_a_loop_that_is_gone_holds_nobody_up(sqlite: SqliteStore) -> None:
    loop = asyncio.new_event_loop()
    with held(sqlite):
        waiting = loop.create_task(sqlite.record([outcome()]))  # type: ignore[arg-type]
        loop.call_soon(loop.stop)
        await asyncio.to_thread(loop.run_forever)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.to_thread(loop.run_until_complete, waiting)
        loop.close()
    await sqlite.record([outcome()])
    assert sqlite.verify().events == 2


FAULTS = [
    pytest.param(sqlite3.OperationalError("database or disk is full"), "disk is full", id="full"),
    pytest.param(sqlite3.OperationalError("disk I/O error"), "I/O error", id="I/O"),
    pytest.param(sqlite3.OperationalError("database is locked"), "is locked", id="busy"),
    pytest.param(OSError(28, "No space left on device"), "No space left", id="OSError"),
    pytest.param(OSError(), "OSError", id="an error without a text"),
    pytest.param(RuntimeError("a secret"), ": RuntimeError$", id="defect, whose text is not told"),
    pytest.param(MemoryError(), "MemoryError", id="memory"),
]


@pytest.mark.requirement("AUD-1", "RES-9")
@pytest.mark.parametrize("place", ["begin", "append", "commit"])
@pytest.mark.parametrize(("fault", "text"), FAULTS)
async def test_a_fault_refuses_its_batch_and_the_next_event_is_written(
    sqlite: SqliteStore, monkeypatch: pytest.MonkeyPatch, fault: Exception, text: str, place: str
) -> None:
    await sqlite.record([intent("req.before")])
    with monkeypatch.context() as broken:

        def fail(*_: object, **__: object) -> None:
            raise fault

        broken.setattr(Ledger, place, fail)
        with pytest.raises(AuditUnavailable, match=text):
            await sqlite.record([intent("req.lost")])
    await sqlite.record([intent("req.after")])
    assert [event.request_id for event in sqlite.events()] == ["req.before", "req.after"]
    assert sqlite.verify().broken_at is None


@pytest.mark.requirement("AUD-1")
async def test_a_lock_that_cannot_be_taken_refuses(
    sqlite: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(37, "No locks available")

    with monkeypatch.context() as broken:
        broken.setattr("sluicegate.stores.file_lock.fcntl.flock", fail)
        with pytest.raises(AuditUnavailable, match="No locks"):
            await sqlite.record([intent()])
    await sqlite.record([intent()])
    assert sqlite.verify().events == 1


@pytest.mark.requirement("AUD-1")
async def test_a_writer_that_holds_the_database_too_long_refuses_and_then_recovers(
    tmp_path: Path, keys: AuditKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sluicegate.stores.sqlite_schema.BUSY_TIMEOUT_MS", 20)
    store = SqliteStore(tmp_path / "a.db", keys)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(AuditUnavailable, match="locked"):
            await store.record([intent()])
        other.execute("ROLLBACK")
    await store.record([intent()])
    assert store.verify().events == 1
    await store.close()


async def test_a_lock_file_that_was_removed_is_made_anew(sqlite: SqliteStore) -> None:
    lock = Path(f"{sqlite.path}.lock")
    lock.unlink()
    await sqlite.record([intent()])
    assert lock.exists()


@pytest.mark.requirement("AUD-1")
async def test_a_file_that_is_gone_refuses_until_it_is_back(
    sqlite: SqliteStore, tmp_path: Path
) -> None:
    await sqlite.record([intent("req.before")])
    aside = tmp_path / "aside"
    aside.mkdir()
    names = ("a.db", "a.db-wal", "a.db-shm")
    for name in names:
        (tmp_path / name).rename(aside / name)
    with pytest.raises(AuditUnavailable, match="is gone"):
        await sqlite.record([intent("req.lost")])
    assert not sqlite.path.exists()
    for name in names:
        if (aside / name).exists():
            (aside / name).rename(tmp_path / name)
    await sqlite.record([intent("req.after")])
    assert [event.request_id for event in sqlite.events()] == ["req.before", "req.after"]


@pytest.mark.requirement("AUD-1")
async def test_a_directory_that_is_gone_refuses(sqlite: SqliteStore, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path)
    with pytest.raises(AuditUnavailable):
        await sqlite.record([intent()])
    tmp_path.mkdir()


@pytest.mark.requirement("AUD-3")
async def test_an_older_copy_put_in_place_of_the_running_file_is_refused(
    tmp_path: Path, keys: AuditKeys
) -> None:
    store = SqliteStore(tmp_path / "a.db", keys)
    await store.record([intent()])
    with (
        closing(sqlite3.connect(store.path)) as live,
        closing(sqlite3.connect(tmp_path / "old.db")) as copy,
    ):
        live.backup(copy)
    await store.record([intent()])
    for suffix in ("-wal", "-shm"):
        Path(f"{store.path}{suffix}").unlink()
    (tmp_path / "old.db").replace(store.path)
    with pytest.raises(AuditUnavailable, match="CHAIN_SHORTER_THAN_ANCHOR: event 2"):
        await store.record([intent()])
    await store.close()


async def test_the_record_of_other_keys_is_not_written_to(tmp_path: Path, keys: AuditKeys) -> None:
    await SqliteStore(tmp_path / "a.db", keys).close()
    with pytest.raises(ConfigurationError, match="keys"):
        SqliteStore(tmp_path / "a.db", draw_keys())


def make_foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE t (x)")


@pytest.mark.parametrize(
    ("make", "text"),
    [
        pytest.param(make_foreign, "another program", id="foreign database"),
        pytest.param(
            lambda path: path.write_bytes(b"no database" * 99), "not a database", id="no database"
        ),
        pytest.param(lambda path: path.mkdir(), "cannot be opened", id="directory"),
    ],
)
def test_a_place_that_is_not_a_record_is_refused(
    tmp_path: Path, keys: AuditKeys, make: object, text: str
) -> None:
    path = tmp_path / "a.db"
    make(path)  # type: ignore[operator]
    with pytest.raises(ConfigurationError, match=text):
        SqliteStore(path, keys)


async def test_a_reader_of_a_file_that_is_gone_says_so(sqlite: SqliteStore, tmp_path: Path) -> None:
    await sqlite.close()
    sqlite.path.unlink()
    for question in (lambda: list(sqlite.events()), sqlite.open_intents):
        with pytest.raises(AuditUnavailable, match="cannot be read"):
            question()
    assert sqlite.verify().broken_at == 1


@FORKS
@pytest.mark.requirement("AUD-3")
async def test_a_forked_child_writes_on_the_same_chain_with_a_writer_of_its_own(
    sqlite: SqliteStore,
) -> None:
    await sqlite.record([intent("req.parent.1")])
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sqlite.record_blocking([intent("req.child")])
            status = 0
        finally:
            os._exit(status)
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    await sqlite.record([intent("req.parent.2")])
    assert os.waitstatus_to_exitcode(status) == 0
    assert [event.request_id for event in sqlite.events()] == [
        "req.parent.1",
        "req.child",
        "req.parent.2",
    ]
    assert sqlite.verify().broken_at is None


@FORKS
@pytest.mark.requirement("AUD-3")
async def test_a_forked_child_takes_no_emptied_record_for_a_new_one(sqlite: SqliteStore) -> None:
    await sqlite.record([outcome("req.parent")])
    with closing(sqlite3.connect(sqlite.path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER audit_event_no_delete")
        connection.execute("DELETE FROM audit_event")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sqlite.record_blocking([outcome("req.child")])
        except AuditUnavailable as error:
            status = 0 if "holds no event" in str(error) else 2
        finally:
            os._exit(status)
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert list(sqlite.events()) == []


@FORKS
async def test_a_forked_child_lets_go_of_the_lock_it_inherited(sqlite: SqliteStore) -> None:
    """A child that lives on must not keep the file locked after its parent died."""
    lock = sqlite._writer._lock
    child = os.fork()
    if child == 0:
        os._exit(0 if lock._descriptor == -1 else 1)
    _, status = await asyncio.to_thread(os.waitpid, child, 0)
    assert (os.waitstatus_to_exitcode(status), lock._descriptor >= 0) == (0, True)


async def test_a_batch_is_bounded(
    sqlite: SqliteStore, commits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_BATCH_ITEMS", 10)
    with held(sqlite):
        waiting = [sqlite.enqueue([outcome()]) for _ in range(25)]
    await asyncio.gather(*map(asyncio.wrap_future, waiting))
    assert commits == [10, 20, 25]
