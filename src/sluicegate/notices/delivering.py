"""Notices told elsewhere: grouped, from a bounded queue and a thread of its own (AUD-6)."""

from __future__ import annotations

import logging
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from sluicegate.gates.ports import Notice
from sluicegate.notices.grouping import Gathered, Groups
from sluicegate.notices.log import LOGGER_NAME, describe_notice

WINDOW_S: Final = 60.0
MAX_WAITING: Final = 256
CLOSE_TIMEOUT_S: Final = 10.0

_LOG: Final = logging.getLogger(LOGGER_NAME)


class _Stop:
    """The last thing in the queue."""


class DeliveringNotifier(ABC):
    """Tells one target; ``notify`` only puts notices into the queue.

    What cannot be delivered, and a notice that finds the queue full, are written to the log
    instead. ``shown`` names the target there: its URL may hold a secret and is never written.
    """

    def __init__(
        self, shown: str, *, window_s: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._shown: Final = shown
        self._groups = Groups(window_s)
        self._monotonic = monotonic
        self._waiting: queue.Queue[Notice | _Stop] = queue.Queue(MAX_WAITING)
        self._lock = threading.Lock()
        self._dropped = 0
        self._is_closed = False
        self._thread: threading.Thread | None = None

    @abstractmethod
    def _deliver(self, gathered: Gathered) -> str | None:
        """Tell the target; return what went wrong, without a text that may quote its URL.

        What is raised counts as a failure of that type.
        """

    def notify(self, notice: Notice) -> None:
        """Take the notice and return at once; where there is no room it is counted and logged."""
        with self._lock:
            if self._is_closed:
                _LOG.warning("%s", describe_notice(notice))
                return
            try:
                self._waiting.put_nowait(notice)
            except queue.Full:
                self._dropped += 1
                _LOG.warning("not posted, the queue is full: %s", describe_notice(notice))
                return
            self._start()

    def close(self, timeout_s: float = CLOSE_TIMEOUT_S) -> None:
        """Tell what waits and every open count, then end the thread; wait at most ``timeout_s``."""
        with self._lock:
            self._is_closed = True
            thread = self._thread
        if thread is None:
            return
        ends = time.monotonic() + timeout_s
        try:
            self._waiting.put(_Stop(), timeout=timeout_s)
        except queue.Full:
            _LOG.warning("notices to %s were not all posted", self._shown)
            return
        thread.join(max(ends - time.monotonic(), 0))

    @property
    def dropped(self) -> int:
        """How many notices found the queue full."""
        return self._dropped

    def _start(self) -> None:
        if self._thread is not None:
            return
        thread = threading.Thread(target=self._work, name="sluicegate notices", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system gives no more threads: the next notice tries again
            _LOG.error("notices to %s wait: no thread could be started", self._shown)
            return
        self._thread = thread

    def _work(self) -> None:
        while True:
            try:
                taken = self._waiting.get(timeout=self._pause_s())
            except queue.Empty:
                self._deliver_all(self._groups.close_due(self._monotonic()))
                continue
            if isinstance(taken, _Stop):
                self._deliver_all(self._groups.close_all())
                return
            at = self._monotonic()
            due = self._groups.close_due(at)
            opened = self._groups.take(taken, at)
            self._deliver_all([*due, opened] if opened is not None else due)

    def _pause_s(self) -> float | None:
        ends = self._groups.next_end()
        return None if ends is None else max(ends - self._monotonic(), 0.0)

    def _deliver_all(self, gathered: list[Gathered]) -> None:
        for one in gathered:
            try:
                problem = self._deliver(one)
            except Exception as error:  # noqa: BLE001  (a notice must not end the thread)
                problem = type(error).__name__  # its text may quote the URL
            if problem is None:
                continue
            _LOG.warning(
                "not posted to %s (%s): count=%d %s",
                self._shown,
                problem,
                one.count,
                describe_notice(one.notice),
            )
