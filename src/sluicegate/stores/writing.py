"""The one writer thread of a process: callers queue and wait, and one commit carries all of them.

What a store must do to be alone on its record, to commit and to let go of its connection is its
own affair: ``SqliteWriter`` takes a file's lock, ``PostgresWriter`` the head of a chain. Encoding,
HMACs, compression and encryption happen here, off the callers' path. Source: SPEC AUD-3; facts
prototype 3.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Final, TypeAlias

from sluicegate.errors import ConfigurationError, MisuseError
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.terms import AlreadyDone, TermRefused
from sluicegate.stores.record_ledger import Ledger

MAX_QUEUED_BYTES: Final = 67_108_864
_BATCH_ITEMS: Final = 1_000
_BATCH_BYTES: Final = 16_777_216

Work: TypeAlias = Callable[[Ledger], object]


class Undone(Exception):  # noqa: N818  (a state, not a defect)
    """Nothing of a batch was written, and the reason may be that of one item in it alone."""

    def __init__(self, because: Exception) -> None:
        super().__init__(str(because))
        self.because = because


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


class Writer(ABC):
    """The queue and the thread; a subclass opens its connection, then calls ``_start``.

    ``shown`` names the record in what is told of a failure.
    """

    failures: tuple[type[Exception], ...] = (OSError, ConfigurationError, AuditUnavailable)
    """What is foreseen, and whose text may be told; anything else is told by its type."""

    def __init__(self, shown: str, *, max_queued_bytes: int) -> None:
        self._shown = shown
        self._max_queued_bytes = max_queued_bytes
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._gate = threading.Lock()
        self._queued_bytes = 0
        self._closing = False
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="sluicegate-audit", daemon=True)

    def put(self, item: Item) -> None:
        """Queue one piece of work; returns at once. Raises: AuditUnavailable if full or closed."""
        with self._gate:
            if self._closing or not self._thread.is_alive():
                raise AuditUnavailable("the record is closed")
            if self._queued_bytes and self._queued_bytes + item.size > self._max_queued_bytes:
                raise AuditUnavailable(
                    f"{self._queued_bytes} bytes already wait for the record: it is too slow"
                )
            self._queued_bytes += item.size
            self._queue.put(item)

    def close(self, timeout_s: float) -> None:
        """Write what is queued, stop the thread, release the record.

        Raises: AuditUnavailable if that takes longer than ``timeout_s``.
        """
        with self._gate:
            if not self._closing:
                self._closing = True
                self._queue.put(None)
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            raise AuditUnavailable(f"the record did not close within {timeout_s} s")

    @abstractmethod
    def _write(self, batch: list[Item], *, joined: bool) -> None:
        """Be alone on the record, commit ``batch``, and note the results.

        Where it is ``joined``, ``_drain`` into it first. The connection is let go of when anything
        is raised: the next batch begins on another. Raises: Undone, before anything of it was
        committed, where the others may be written without one of them.
        """

    @abstractmethod
    def _release(self) -> None:
        """Let go of everything when the thread ends."""

    @abstractmethod
    def _concerns_one(self, error: Exception) -> bool:
        """Whether an error of the connection may come of one item: neither record nor server."""

    def _tell(self, error: Exception) -> str:
        """Return what may be told of a failure of the connection."""
        return str(error) or type(error).__name__

    def _run(self) -> None:
        while not self._stopping:
            first = self._queue.get()
            if first is None:
                break
            self._serve([first], joined=True)
        self._release()

    def _serve(self, batch: list[Item], *, joined: bool = False) -> None:
        """Write ``batch`` in one commit; where one item undoes it, the others without that one.

        It is halved until the item at fault is alone, and stays in order.
        """
        failure: str | None = None
        try:
            self._write(batch, joined=joined)
        except Undone as undone:
            if len(batch) > 1:
                middle = len(batch) // 2
                self._serve(batch[:middle])
                self._serve(batch[middle:])
                return
            failure = self._tell_any(undone.because)
        except Exception as error:  # noqa: BLE001  (a defect here refuses this batch, never passes it)
            failure = self._tell_any(error)
        if failure is not None:
            for item in batch:
                item.result = AuditUnavailable(f"{self._shown}: {failure}")
        with self._gate:
            self._queued_bytes -= sum(item.size for item in batch)
        settle(batch)

    def _tell_any(self, error: Exception) -> str:
        """Return the text of what is foreseen, of anything else its type."""
        return self._tell(error) if isinstance(error, self.failures) else type(error).__name__

    @contextmanager
    def _undone(self) -> Iterator[None]:
        """Do the work of a batch, before its commit. Raises: Undone; what concerns all of them."""
        try:
            yield
        except Exception as error:
            # What the record and its place do wrong was seen before; here it is the work's own.
            if isinstance(error, AuditUnavailable) or not isinstance(error, self.failures):
                raise Undone(error) from error
            if self._concerns_one(error):
                raise Undone(error) from error
            raise

    def _drain(self, batch: list[Item]) -> None:
        """Take what waits by now into ``batch``, bounded in count and bytes."""
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


def attempt(work: Work, ledger: Ledger) -> object:
    """Do one piece of work; what it refuses before it writes concerns its own waiter alone."""
    before = ledger.connection.total_changes
    try:
        return work(ledger)
    except (AuditUnavailable, TermRefused, AlreadyDone, KeyError, MisuseError) as error:
        if ledger.connection.total_changes != before:
            raise
        return error


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
