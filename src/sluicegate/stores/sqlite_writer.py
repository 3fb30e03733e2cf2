"""The one writer thread of a process: it takes the file's lock, then all that waits, then commits.

Callers queue and wait; one commit carries all of them. The lock comes first and the draining
second, so that what arrives while other processes write joins the same commit. Encoding, HMACs,
compression and encryption happen here, off the callers' path. Source: SPEC AUD-3; facts
prototype 3.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final, TypeAlias

from sluicegate.errors import ConfigurationError, MisuseError
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.terms import AlreadyDone, TermRefused
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.footing import Footing
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.sqlite_ledger import Ledger
from sluicegate.stores.sqlite_schema import connect, prepare_tables

MAX_QUEUED_BYTES: Final = 67_108_864
_BATCH_ITEMS: Final = 1_000
_BATCH_BYTES: Final = 16_777_216

Work: TypeAlias = Callable[[Ledger], object]


class Item:
    """One piece of work that waits for a commit, and who waits for it.

    ``idle_alone`` says that the work is void once nobody waits for it: an intent whose caller has
    gone is not written, since nothing will be dispatched.
    """

    __slots__ = ("future", "idle_alone", "loop", "result", "size", "work")

    def __init__(
        self,
        work: Work,
        size: int,
        *,
        loop: asyncio.AbstractEventLoop | None = None,
        idle_alone: bool = False,
    ) -> None:
        self.work = work
        self.size = size
        self.loop = loop
        self.idle_alone = idle_alone
        # Until a commit says otherwise, nothing was written: no path may pass without one.
        self.result: object = AuditUnavailable("the event was not written")
        self.future: asyncio.Future[object] | Future[object] = (
            Future() if loop is None else loop.create_future()
        )

    @property
    def is_idle(self) -> bool:
        """Whether nobody waits and nothing needs to be written."""
        return self.idle_alone and self.future.done()


class SqliteWriter:
    """Owns the connection, the lock and the thread of one file in one process."""

    def __init__(
        self,
        path: Path,
        keys: AuditKeys,
        *,
        daily_bytes: int,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        may_begin: bool = True,
    ) -> None:
        self.path = path
        self.max_pages: int | None = None
        self._keys = keys
        self._daily_bytes = daily_bytes
        self._max_queued_bytes = max_queued_bytes
        self._may_begin = may_begin
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._queued_bytes = 0
        self._closing = False
        self._stopping = False
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._ledger: Ledger | None = None
        self._footing: Footing | None = None
        self._inode: tuple[int, int] | None = None
        self._last: tuple[int, str] = (0, "")
        try:
            with self._lock:
                self._open()
        except BaseException:
            self._lock.close()
            raise
        self._thread = threading.Thread(target=self._run, name="sluicegate-audit", daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """Queue one piece of work; returns at once. Raises: AuditUnavailable if full or closed."""
        with self._gate:
            if self._closing or not self._thread.is_alive():
                raise AuditUnavailable("the record is closed")
            if self._queued_bytes and self._queued_bytes + item.size > self._max_queued_bytes:
                raise AuditUnavailable(
                    f"{self._queued_bytes} bytes already wait for the record: the disk is too slow"
                )
            self._queued_bytes += item.size
            self._queue.put(item)

    def close(self, timeout_s: float) -> None:
        """Write what is queued, stop the thread, release the file.

        Raises: AuditUnavailable if that takes longer than ``timeout_s``.
        """
        with self._gate:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise AuditUnavailable(f"the record did not close within {timeout_s} s")

    def _run(self) -> None:
        while not self._stopping:
            first = self._queue.get()
            if first is None:
                break
            self._serve([first])
        try:
            with self._lock:
                self._drop()
        except OSError:
            self._drop()
        self._lock.close()

    def _serve(self, batch: list[Item]) -> None:
        failure: str | None = None
        try:
            with self._lock:
                try:
                    self._drain(batch)
                    self._commit([item for item in batch if not item.is_idle])
                except BaseException:
                    self._drop()  # under the lock: closing may touch the write-ahead log
                    raise
        except (sqlite3.Error, OSError, ConfigurationError, AuditUnavailable) as error:
            failure = str(error) or type(error).__name__
        except Exception as error:  # noqa: BLE001  (a defect here refuses this batch, never passes it)
            failure = type(error).__name__
        if failure is not None:
            for item in batch:
                item.result = AuditUnavailable(f"{self.path.name}: {failure}")
        with self._gate:
            self._queued_bytes -= sum(item.size for item in batch)
        settle(batch)

    def _drain(self, batch: list[Item]) -> None:
        size = batch[0].size
        while len(batch) < _BATCH_ITEMS and size < _BATCH_BYTES:
            try:
                item = self._queue.get_nowait()
            except queue.Empty:
                return
            if item is None:
                self._stopping = True
                return
            batch.append(item)
            size += item.size

    def _commit(self, batch: Sequence[Item]) -> None:
        if not batch:
            return
        ledger = self._open()
        self._demand_footing()
        ledger.begin()
        self._demand_same_chain(ledger)
        results = [_try(item.work, ledger) for item in batch]
        ledger.commit()
        self._demand_footing()  # what was committed into a log that is gone is nowhere
        self._last = (ledger.seq, ledger.link)
        for item, result in zip(batch, results, strict=True):
            item.result = result

    def _open(self) -> Ledger:
        """Return the ledger of the file that stands at the path now. The lock is held."""
        if self._ledger is not None and _inode(self.path) == self._inode:
            return self._ledger
        self._drop()
        if self._inode is not None and not self.path.exists():
            # A new file in its place would begin a new record without a word.
            raise FileNotFoundError(f"{self.path} is gone: put it back, or start the gate anew")
        connection = connect(self.path, max_pages=self.max_pages, may_create=self._may_begin)
        try:
            prepare_tables(connection, self._keys, str(self.path), may_begin=self._may_begin)
        except BaseException:
            connection.close()
            raise
        self._may_begin = False
        self._inode = _inode(self.path)
        self._footing = Footing(self.path)
        self._ledger = Ledger(connection, self._keys, self._daily_bytes)
        return self._ledger

    def _demand_footing(self) -> None:
        """See that database, log and index are those the connection has open, and none shorter."""
        loss = None if self._footing is None else self._footing.tell_loss()
        if loss is not None:
            raise AuditUnavailable(f"{loss}: what was written last may be lost; verify the record")

    def _demand_same_chain(self, ledger: Ledger) -> None:
        """See that what this process wrote last is still there: the file may have been replaced."""
        seq, link = self._last
        if seq == 0 or (ledger.seq, ledger.link) == (seq, link):
            return
        row = ledger.connection.execute(
            "SELECT link FROM audit_event WHERE seq = ?", (seq,)
        ).fetchone()
        if row is None or row[0] != link:
            raise AuditUnavailable(
                f"CHAIN_SHORTER_THAN_ANCHOR: event {seq}, written by this process, is not in the"
                " file any more; verify it, and start the gate anew"
            )

    def _drop(self) -> None:
        """Let go of the connection; the next batch opens a new one."""
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            try:
                ledger.connection.close()
            except sqlite3.Error:
                return  # an open transaction that cannot be rolled back is undone by recovery


def settle(batch: Sequence[Item]) -> None:
    """Tell each waiter what became of its work: one wake-up per event loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[Item]] = {}
    for item in batch:
        if item.loop is not None:
            by_loop.setdefault(item.loop, []).append(item)
        elif isinstance(item.future, Future) and item.future.set_running_or_notify_cancel():
            _resolve(item)
    for loop, items in by_loop.items():
        try:
            loop.call_soon_threadsafe(_resolve_all, items)
        except RuntimeError:
            continue  # the loop is closed, and its waiters are gone with it


def _resolve_all(items: Sequence[Item]) -> None:
    for item in items:
        if not item.future.done():
            _resolve(item)


def _resolve(item: Item) -> None:
    if isinstance(item.result, BaseException):
        item.future.set_exception(item.result)
    else:
        item.future.set_result(item.result)


def _try(work: Work, ledger: Ledger) -> object:
    """Do one piece of work; what it refuses before it writes concerns its own waiter alone."""
    before = ledger.connection.total_changes
    try:
        return work(ledger)
    except (AuditUnavailable, TermRefused, AlreadyDone, KeyError, MisuseError) as error:
        if ledger.connection.total_changes != before:
            raise
        return error


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  (twice a batch)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
