"""A lock beside a file: one process at a time commits to a record, steers, or adds a key."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from weakref import WeakSet

_open_locks: Final[WeakSet[FileLock]] = WeakSet()


class FileLock:
    """An exclusive flock on a file of its own, as a context manager for one thread.

    SQLite's own busy handler starves writers for seconds, and the switch to WAL does not wait at
    all; a queue at this lock is fair enough and is released by the kernel when a process dies.
    A lock file that was replaced meanwhile is opened anew. Raises: OSError.
    """

    __slots__ = ("__weakref__", "_descriptor", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        _open_locks.add(self)

    def __enter__(self) -> None:
        while True:
            if self._descriptor < 0:
                self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            if self._is_current():
                return
            self.close()

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    @classmethod
    @contextmanager
    def once(cls, path: Path) -> Iterator[None]:
        """Hold the lock for one piece of work; each caller has a lock of its own. Raises: OSError.

        Threads of one process exclude each other as well, since a flock belongs to its descriptor.
        """
        lock = cls(path)
        try:
            with lock:
                yield
        finally:
            lock.close()

    def close(self) -> None:
        """Release the lock file."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _is_current(self) -> bool:
        try:
            found = os.stat(self._path)  # noqa: PTH116  (once a batch)
        except FileNotFoundError:
            return False
        return os.path.samestat(found, os.fstat(self._descriptor))


def _let_go_in_child() -> None:
    """A forked child shares the lock itself, not a copy: kept open, it would outlive its holder."""
    for lock in list(_open_locks):
        lock.close()


os.register_at_fork(after_in_child=_let_go_in_child)
