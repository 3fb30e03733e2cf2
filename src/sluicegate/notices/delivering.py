"""Notices told elsewhere: grouped, from a bounded queue and a thread of its own (AUD-6)."""

from __future__ import annotations

import logging
import queue
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from sluicegate.gates.ports import Notice
from sluicegate.notices.grouping import Gathered, Groups
from sluicegate.notices.log import LOGGER_NAME, describe_notice

WINDOW_S: Final = 60.0
MAX_WAITING: Final = 256
CLOSE_TIMEOUT_S: Final = 10.0

_LOG: Final = logging.getLogger(LOGGER_NAME)


class _Stop:
    """Wakes the thread at the end."""


class DeliveringNotifier(ABC):
    """Tells one target; ``notify`` only puts notices into the queue.

    What cannot be delivered, and a notice that finds the queue full, are written to the log
    instead. ``shown`` names the target there: its URL may hold a secret and is never written.
    """

    def __init__(
        self, shown: str, *, window_s: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.shown: Final = shown
        self._groups = Groups(window_s)
        self._monotonic = monotonic
        self._waiting: queue.Queue[Notice | _Stop] = queue.Queue(MAX_WAITING)
        self._lock = threading.Lock()
        self._dropped = 0
        self._due: deque[Gathered] = deque()
        self._is_closed = False
        self._is_given_up = False
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
        """Tell what waits and every open count, then end the thread; wait at most ``timeout_s``.

        What was not told by then is written to the log.
        """
        ends = time.monotonic() + timeout_s
        self.begin_close()
        self.finish_close(ends)

    def begin_close(self) -> None:
        """Take no more notices, and let the thread tell what waits and end. Returns at once."""
        with self._lock:
            self._is_closed = True
            if self._thread is not None:
                with suppress(queue.Full):  # then the thread is awake, and sees that it is closed
                    self._waiting.put_nowait(_Stop())

    def finish_close(self, ends: float) -> None:
        """Wait for the thread until ``ends`` (monotonic), and log what it has not told."""
        if self._thread is not None:
            self._thread.join(max(ends - time.monotonic(), 0.0))
        with self._lock:
            self._is_given_up = True
            while not self._waiting.empty():
                self._gather(self._waiting.get_nowait())
            left = [*self._due, *self._groups.close_all()]
            self._due.clear()
        for one in left:
            self._log(one, "no time was left")

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
            _LOG.error("notices to %s wait: no thread could be started", self.shown)
            return
        self._thread = thread

    def _work(self) -> None:
        is_last = False
        while not is_last:
            try:
                taken = self._waiting.get(timeout=self._pause_s())
            except queue.Empty:
                taken = None
            with self._lock:
                if taken is not None:
                    self._gather(taken)
                is_last = self._is_closed and self._waiting.empty()
                self._due.extend(
                    self._groups.close_all()
                    if is_last
                    else self._groups.close_due(self._monotonic())
                )
            self._deliver_due()

    def _pause_s(self) -> float | None:
        with self._lock:
            ends = 0.0 if self._is_closed else self._groups.next_end()
        return None if ends is None else max(ends - self._monotonic(), 0.0)

    def _gather(self, taken: Notice | _Stop) -> None:
        """Count a notice, or put it among those that are told now. The lock is held."""
        if isinstance(taken, _Stop):
            return
        at = self._monotonic()
        self._due.extend(self._groups.close_due(at))
        opened = self._groups.take(taken, at)
        if opened is not None:
            self._due.append(opened)

    def _deliver_due(self) -> None:
        """Tell what is due, one by one: each stays there until it is known what became of it."""
        while True:
            with self._lock:
                if not self._due:
                    return
                one = self._due[0]
            try:
                problem = self._deliver(one)
            except Exception as error:  # noqa: BLE001  (a notice must not end the thread)
                problem = type(error).__name__  # its text may quote the URL
            with self._lock:
                if self._is_given_up:  # whoever closed has written it to the log
                    return
                self._due.popleft()
            if problem is not None:
                self._log(one, problem)

    def _log(self, one: Gathered, problem: str) -> None:
        _LOG.warning(
            "not posted to %s (%s): count=%d %s",
            self.shown,
            problem,
            one.count,
            describe_notice(one.notice),
        )
