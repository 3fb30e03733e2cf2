"""The writer thread of a process on one SQLite file: it takes the file's lock, then all that waits.

The lock comes first and the draining second, so that what arrives while other processes write
joins the same commit. Source: SPEC AUD-3; facts prototype 3.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.footing import Footing
from sluicegate.stores.keyring import Keyring
from sluicegate.stores.record_ledger import Ledger
from sluicegate.stores.sqlite_schema import connect, prepare_tables
from sluicegate.stores.writing import MAX_QUEUED_BYTES, Item, Writer, attempt

_OF_ONE: Final = (
    *(sqlite3.DataError, sqlite3.IntegrityError),
    *(sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.NotSupportedError),
)
"""What SQLite, or the way to it, says of a value. A file that cannot be written is none of them."""


class SqliteWriter(Writer):
    """Owns the connection, the lock and the thread of one file in one process."""

    failures = (*Writer.failures, sqlite3.Error)

    def __init__(
        self,
        path: Path,
        ring: Keyring,
        *,
        daily_bytes: int,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        may_begin: bool = True,
        may_be_empty: bool = True,
        on_events: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(path.name, max_queued_bytes=max_queued_bytes)
        self.path = path
        self.max_pages: int | None = None
        self._ring = ring
        self._daily_bytes = daily_bytes
        self._may_begin = may_begin
        self._may_be_empty = may_be_empty
        self._on_events = on_events
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
        self._thread.start()

    def _write(self, batch: list[Item], *, joined: bool) -> None:
        with self._lock:
            try:
                if joined:
                    self._drain(batch)
                self._commit([item for item in batch if not item.is_idle])
            except BaseException:
                self._drop()  # under the lock: closing may touch the write-ahead log
                raise

    def _concerns_one(self, error: Exception) -> bool:
        return isinstance(error, _OF_ONE)

    def _release(self) -> None:
        try:
            with self._lock:
                self._drop()
        except OSError:
            self._drop()
        self._lock.close()

    def _commit(self, batch: Sequence[Item]) -> None:
        if not batch:
            return
        ledger = self._open()
        self._demand_footing()
        ledger.begin()
        self._demand_same_chain(ledger)
        with self._undone():
            results = [attempt(item.work, ledger) for item in batch]
        ledger.commit()
        self._demand_footing()  # what was committed into a log that is gone is nowhere
        self._last = (ledger.seq, ledger.link)
        if ledger.seq:
            self._tell_of_events()
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
            is_empty = prepare_tables(
                connection,
                self._ring.keys,
                str(self.path),
                may_begin=self._may_begin,
                may_be_empty=self._may_be_empty,
            )
        except BaseException:
            connection.close()
            raise
        self._may_begin = False
        self._inode = _inode(self.path)
        self._footing = Footing(self.path)
        self._ledger = Ledger(connection, self._ring, self._daily_bytes)
        if not is_empty:
            self._tell_of_events()
        return self._ledger

    def _tell_of_events(self) -> None:
        """Let it be known outside of the record that it holds events: without them it is lost.

        After the commit: a crash between the two leaves it to the next opening.
        """
        self._may_be_empty = False
        tell, self._on_events = self._on_events, None
        if tell is not None:
            with suppress(OSError):  # the events stand, and the next opening tries again
                tell()

    def _demand_footing(self) -> None:
        """See that database, log and index are those the connection has open, and none shorter."""
        loss = None if self._footing is None else self._footing.tell_loss()
        if loss is not None:
            raise AuditUnavailable(f"{loss}: what was written last may be lost; verify the record")

    def _demand_same_chain(self, ledger: Ledger) -> None:
        """See that what this process wrote last is still there: the file may have been replaced."""
        seq, link = self._last
        if ledger.seq == 0 and seq == 0 and not self._may_be_empty:
            raise AuditUnavailable(
                "CHAIN_SHORTER_THAN_ANCHOR: the record held events, and holds none any more; verify"
                " it, and start the gate anew"
            )
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


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  (twice a batch)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
