"""What ``doctor`` looks at outside of the record: whether heads and second sink keep up with it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import EventKind, StoredEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.opening.outside_files import find_outside_faults
from sluicegate.opening.record_files import demand_key_files, find_record_faults
from sluicegate.stores.appended_file import find_outside_file
from sluicegate.stores.encoding import time_text
from sluicegate.stores.heads import public_keys_of, read_head
from sluicegate.stores.heads_check import read_copy
from sluicegate.stores.heads_file import find_heads_file
from sluicegate.stores.keys import open_signing_keys
from sluicegate.stores.second_sink import SinkUnwritten, read_place
from sluicegate.stores.stores import database_path, demand_store, is_postgres
from sluicegate.values.looks import Look

_HEADS: Final = "heads"
_SINK: Final = "second sink"
_LATE: Final = 3
"""A head that is so many times later than it should be is missing."""

_SINK_LATE: Final = timedelta(minutes=3)
"""An event of a gate that is older than this and not in the second sink is missing."""


def inspect_outside(settings: AuditSettings, folder: Path, *, now: datetime) -> Iterator[Look]:
    """Look where record and keys stand, at the newest head and the end of the second sink.

    Changes nothing.

    A thing that cannot be looked at is not well. Raises nothing for what it finds. Source: SPEC
    AUD-3.
    """
    for fault in find_record_faults(settings, folder):
        name = "keys" if fault.pointer == "/audit/keys" else "record"
        yield Look(name=name, well=False, says=fault.says)
    misplaced = {each.pointer: each.says for each in find_outside_faults(settings, folder)}
    if settings.heads is None:
        says = "none are signed: a record that lost its end would not show it"
        yield Look(name=_HEADS, well=True, says=says)
    elif "/audit/heads/to" in misplaced:
        yield Look(name=_HEADS, well=False, says=misplaced["/audit/heads/to"])
    else:
        yield _guarded(_HEADS, lambda: _look_at_heads(settings, folder, now))
    if "/audit/also" in misplaced:
        yield Look(name=_SINK, well=False, says=misplaced["/audit/also"])
    elif settings.also is not None:
        yield _guarded(_SINK, lambda: _look_at_sink(settings, folder, now))


def _guarded(name: str, look: Callable[[], Look]) -> Look:
    try:
        return look()
    except (ConfigurationError, AuditUnavailable, SinkUnwritten) as error:
        return Look(name=name, well=False, says=str(error))
    except OSError as error:
        return Look(name=name, well=False, says=f"it cannot be read: {error.strerror}")


def _look_at_heads(settings: AuditSettings, folder: Path, now: datetime) -> Look:
    assert settings.heads is not None  # noqa: S101  (narrows for the checker)
    demand_key_files(settings, folder)
    file = find_heads_file(settings, folder)
    line, newest = file.read_last(), _newest_event(settings, folder)
    if newest is None and line is None:
        return Look(name=_HEADS, well=True, says="the record holds no event yet")
    keys = public_keys_of(open_signing_keys(settings.keys, folder, may_draw=False))
    head = None if line is None else read_head(line, keys)
    if isinstance(head, str):
        return Look(name=_HEADS, well=False, says=f"the last line of {file}: {head}")
    signed = 0 if head is None else head.seq
    fault = _compare(newest, signed, None if head is None else head.link, "was signed")
    if fault is not None or newest is None:
        return Look(name=_HEADS, well=False, says=fault or "the record holds no event")
    # By the first that waits: the newest one of a gate at work is never old.
    waits = _first(settings, folder, after=signed)
    late = now - timedelta(seconds=_LATE * settings.heads.every_s)
    if waits is not None and waits.time < time_text(late):
        told = "" if line is not None else f"there is no head in {file}: "
        says = (
            f"{told}events after {signed} are covered by no head since {waits.time}: look whether"
            " that disk is the right one, at the log of the gate, or sign now: sluicegate audit"
            " heads"
        )
        return Look(name=_HEADS, well=False, says=says)
    says = (
        f"the last head signs event {signed}, the newest is {newest.seq}; the heads before it are"
        " read by sluicegate audit verify"
    )
    return Look(name=_HEADS, well=True, says=says)


def _look_at_sink(settings: AuditSettings, folder: Path, now: datetime) -> Look:
    assert settings.also is not None  # noqa: S101  (narrows for the checker)
    file = find_outside_file(settings.also, "audit.also", settings, folder)
    seq, link = read_place(file)
    newest = _newest_event(settings, folder)
    fault = _compare(newest, seq, link, "is in the second sink")
    if fault is not None:
        return Look(name=_SINK, well=False, says=fault)
    behind = (0 if newest is None else newest.seq) - seq
    # What an operator did without a gate waits for the next gate, however long that takes.
    waits = _first(settings, folder, after=seq, of_gates=True) if behind else None
    if waits is not None and waits.time < time_text(now - _SINK_LATE):
        told = "" if seq else f"there is no event in {file}: "
        says = (
            f"{told}it holds the events up to {seq}, and event {waits.seq} of {waits.time} is not"
            f" in it, nor what came after it ({behind} in all): look whether that disk is the right"
            " one, and at the log of the gate; the next event of a gate is copied with all that"
            " are missing"
        )
        return Look(name=_SINK, well=False, says=says)
    return Look(
        name=_SINK, well=True, says=f"it holds the events up to {seq}, {behind} are still to come"
    )


def _compare(newest: StoredEvent | None, seq: int, link: str | None, what: str) -> str | None:
    """Say how the end of the record is not what stands outside of it."""
    if seq and (newest is None or newest.seq < seq):
        return f"CHAIN_SHORTER_THAN_ANCHOR: event {seq} {what}; verify the record"
    if newest is not None and newest.seq == seq and newest.link != link:
        return f"CHAIN_BROKEN: event {seq} is another one than {what}; verify the record"
    return None


def _newest_event(settings: AuditSettings, folder: Path) -> StoredEvent | None:
    with closing(_read(settings, folder, limit=1, newest_first=True)) as events:
        return next(events, None)


def _first(
    settings: AuditSettings, folder: Path, *, after: int, of_gates: bool = False
) -> StoredEvent | None:
    """Return the first event behind ``after``, with ``of_gates`` the first that a gate recorded."""
    with closing(_read(settings, folder, after=after)) as events:
        for event in events:
            if not of_gates or event.kind != EventKind.OPERATOR:
                return event
    return None


def _read(
    settings: AuditSettings,
    folder: Path,
    *,
    limit: int | None = None,
    newest_first: bool = False,
    after: int = 0,
) -> Generator[StoredEvent]:
    """Read without opening the record: that would bring up its tables, and begin a writer."""
    if settings.store == "memory:":
        return
    if is_postgres(settings):
        demand_store(settings)
        from sluicegate.stores.postgres_inspection import read_events

        yield from read_events(settings, limit=limit, newest_first=newest_first, after=after)
        return
    path = database_path(settings, folder)
    if path.exists() and path.stat().st_size:
        yield from read_copy(path, limit=limit, newest_first=newest_first, after=after)
