"""Signs the head of a record, after a look at whether the record still bears the head before."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import AuditStore, AuditUnavailable
from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.encoding import time_text
from sluicegate.stores.heads import NO_HEAD, Head, public_keys_of, read_head, sign_head


class HeadUnwritten(Exception):  # noqa: N818  (a state of the heads)
    """No head was appended; the text says why and quotes nothing that is secret."""


class HeadWriter:
    """``open_keys`` returns the signing keys, the one in use last; its argument: may one be drawn.

    One process at a time holds the lock of the file, whoever else writes heads of this record.
    """

    def __init__(
        self, store: AuditStore, file: AppendedFile, open_keys: Callable[[bool], tuple[bytes, ...]]
    ) -> None:
        self._store = store
        self._file = file
        self._open_keys = open_keys
        self._last: Head | None = None

    def write(self, now: datetime) -> Head | None:
        """Append the head of the newest event; None where the last head names it already.

        None says all the same that a head could have been written: the file was opened for it.
        Raises: HeadUnwritten, also where the record no longer bears what was signed before: then a
        new head would vouch for what was put in its place.
        """
        try:
            lock = self._file.lock()
            try:
                with lock:
                    return self._write(now)
            finally:
                lock.close()
        except (OSError, ConfigurationError, AuditUnavailable) as error:
            told = error.strerror if isinstance(error, OSError) else str(error)
            raise HeadUnwritten(f"{self._file}: {told or type(error).__name__}") from error

    def _write(self, now: datetime) -> Head | None:
        line = self._file.read_last()
        seeds = self._open_keys(line is None)
        before = None if line is None else read_head(line, public_keys_of(seeds))
        if isinstance(before, str):
            raise HeadUnwritten(f"{self._file}: its last line cannot be continued: {before}")
        if self._last is not None and (before is None or before.seq < self._last.seq):
            raise HeadUnwritten(
                f"{self._file}: the head of event {self._last.seq}, written by this process,"
                " is not in it any more"
            )
        newest = next(iter([*self._store.events(limit=1, newest_first=True)]), None)
        if before is not None:
            self._demand_borne(before, 0 if newest is None else newest.seq)
        if newest is None or (before is not None and newest.seq == before.seq):
            self._file.append(b"")
            return None
        (first,) = self._store.events(limit=1)
        head, written = sign_head(
            seeds[-1],
            record=first.link,
            seq=newest.seq,
            link=newest.link,
            time=time_text(now),
            before=NO_HEAD if before is None else before.digest,
        )
        self._file.append(written + b"\n")
        self._last = head
        return head

    def _demand_borne(self, before: Head, newest_seq: int) -> None:
        """See that the event that was signed last still stands in the record."""
        if newest_seq < before.seq:
            raise HeadUnwritten(
                f"CHAIN_SHORTER_THAN_ANCHOR: the record ends with event {newest_seq}, and event"
                f" {before.seq} was signed at {before.time}; verify it"
            )
        first = [*self._store.events(limit=1)]
        if first[0].link != before.record:
            raise HeadUnwritten(
                f"{self._file} holds the heads of another record: name another file in"
                " audit.heads, and keep this one"
            )
        gap = newest_seq - before.seq + 1
        # Newest first, so that only what came after the head before is read; others may add more.
        for event in self._store.events(newest_first=True, limit=gap + 10_000):
            if event.seq <= before.seq:
                if (event.seq, event.link) == (before.seq, before.link):
                    return
                break
        raise HeadUnwritten(
            f"CHAIN_BROKEN: event {before.seq} is not the one that was signed at {before.time};"
            " verify the record"
        )
