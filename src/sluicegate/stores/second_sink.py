"""A second place for every event: its columns as JSON Lines in a file, without custody (AUD-3).

The file follows the record: what is missing in it is read from there, so that a gate that died, and
an operator's act, are made up for by whoever writes next.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

from sluicegate.gates.events import AuditEvent, StoredEvent
from sluicegate.gates.ports import AuditStore, AuditUnavailable
from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.encoding import COLUMNS, Column, encode_event
from sluicegate.stores.keys import AuditKeys

FORMAT: Final = "sluicegate-event-v1"
_ROWS_AT_ONCE: Final = 1_000
_GAP: Final = 10_000


class SinkUnwritten(Exception):  # noqa: N818  (a state of the sink)
    """The file did not take the events; the text says why."""


class SecondSink:
    """Copies what the record holds, and takes what the record could not.

    Each line bears ``after``: the last event of the record that stands in the file, and its link.
    """

    def __init__(self, store: AuditStore, file: AppendedFile, keys: AuditKeys) -> None:
        self._store = store
        self._file = file
        self._keys = keys
        self._written = 0

    def copy(self) -> None:
        """Append every event that the file does not hold yet, on disk.

        Raises: SinkUnwritten, also where the record no longer bears what was copied before.
        """
        self._alone(self._copy)

    def take(self, events: Sequence[AuditEvent]) -> tuple[str, ...]:
        """Append events that have no place in the chain, and return their ids; raw bytes go.

        Raises: SinkUnwritten.
        """
        try:
            encoded = [encode_event(event, self._keys).columns for event in events]
        except (TypeError, ValueError, OverflowError, RecursionError, AttributeError) as error:
            # The text of such an error may quote the value, so only its type is told.
            raise SinkUnwritten(f"the event cannot be encoded: {type(error).__name__}") from None

        def append() -> None:
            after = read_place(self._file)
            lines = [_line({name: each.get(name) for name in COLUMNS}, after) for each in encoded]
            self._file.append(b"".join(lines))

        self._alone(append)
        return tuple(str(columns["event_id"]) for columns in encoded)

    def _alone(self, work: Callable[[], None]) -> None:
        try:
            lock = self._file.lock()
            try:
                with lock:
                    work()
            finally:
                lock.close()
        except OSError as error:
            told = error.strerror or type(error).__name__
            raise SinkUnwritten(f"{self._file}: {told}") from error
        except AuditUnavailable as error:
            raise SinkUnwritten(str(error)) from error

    def _copy(self) -> None:
        seq, link = read_place(self._file)
        if seq < self._written:
            raise SinkUnwritten(
                f"{self._file}: event {self._written}, written by this process, is not in it"
                " any more"
            )
        found = self._read_from(seq)
        if seq:
            before = next(found, None)
            if before is None or before.seq != seq:
                raise SinkUnwritten(
                    f"CHAIN_SHORTER_THAN_ANCHOR: {self._file} holds event {seq}, and the"
                    " record does not; verify it"
                )
            if before.link != link:
                raise SinkUnwritten(
                    f"CHAIN_BROKEN: event {seq} of the record is not the one that"
                    f" {self._file} holds; verify it"
                )
        while rows := list(islice(found, _ROWS_AT_ONCE)):
            lines = [
                _line({name: getattr(row, name) for name in COLUMNS}, (row.seq, row.link))
                for row in rows
            ]
            self._file.append(b"".join(lines))
            self._written = rows[-1].seq

    def _read_from(self, seq: int) -> Iterator[StoredEvent]:
        """Iterate over the record from event ``seq`` on, in the order of the chain."""
        last: list[StoredEvent] = []
        # By seq, not by count: other processes go on recording meanwhile.
        for event in self._store.events(newest_first=True, limit=_GAP):
            if event.seq < seq:
                break
            last.append(event)
        if len(last) < _GAP:
            return reversed(last)
        return (event for event in self._store.events() if event.seq >= seq)


def read_place(file: AppendedFile) -> tuple[int, str]:
    """Return the last event of the record that ``file`` holds, and its link.

    Raises: SinkUnwritten where its last line is none of these; OSError.
    """
    line = file.read_last()
    if line is None:
        return 0, GENESIS
    try:
        seq, link = json.loads(line)["after"]
    except (ValueError, TypeError, KeyError, RecursionError):
        seq = link = None
    if seq.__class__ is not int or link.__class__ is not str:
        raise SinkUnwritten(f"{file}: its last line is none that was written there")
    return seq, link


def _line(columns: dict[str, Column], after: tuple[int, str]) -> bytes:
    members = {"format": FORMAT, **columns, "after": list(after)}
    return json.dumps(members, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
