"""Whether a record is still what its signed heads say it was (AUD-3)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import AnchorReport, AuditUnavailable, ChainReport
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.heads import Head, HeadsBroken
from sluicegate.stores.record_questions import select_events
from sluicegate.stores.sqlite_schema import connect_to_read
from sluicegate.values.codes import Code


def compare_heads(
    heads: Sequence[Head] | HeadsBroken, events: Iterable[StoredEvent]
) -> AnchorReport:
    """Hold the events, from the first one on, to every head; name the first that does not fit.

    No key is needed: a head says which link must stand at which event. Source: SPEC AUD-3.
    """
    if isinstance(heads, HeadsBroken):
        return AnchorReport(
            heads=heads.line - 1, problem=f"line {heads.line} of the heads: {heads.problem}"
        )
    waiting = iter(heads)
    head = next(waiting, None)
    known = seq = 0
    for event in events:
        seq = event.seq
        if head is None:
            break
        if seq == 1 and event.link != head.record:
            return _broken(heads, 1, "the heads were signed for another record than this one")
        if seq < head.seq:
            continue
        if seq > head.seq or event.link != head.link:
            return _broken(
                heads,
                known + 1,
                f"event {head.seq} is not the one that was signed at {head.time}: what stands from"
                f" event {known + 1} on was put in its place",
            )
        known = seq
        head = next(waiting, None)
    if head is not None:
        last = heads[-1]
        return AnchorReport(
            heads=len(heads),
            signed_seq=last.seq,
            signed_at=last.time,
            code=Code.CHAIN_SHORTER_THAN_ANCHOR,
            broken_at=seq + 1,
            problem=f"the record ends with event {seq}, and event {last.seq} was signed at"
            f" {last.time}",
        )
    return AnchorReport(
        heads=len(heads),
        signed_seq=known or None,
        signed_at=heads[-1].time if heads else None,
    )


def walk_chain(events: Iterable[StoredEvent]) -> ChainReport:
    """See without any key that no event is missing, twice or moved; columns are not recomputed."""
    seq, link = 0, GENESIS
    for event in events:
        if event.seq != seq + 1:
            return _gap(seq, link, f"event {seq + 1} does not follow: {event.seq} stands there")
        if event.previous != link:
            return _gap(seq, link, "it does not follow the event before it")
        seq, link = event.seq, event.link
    return ChainReport(events=seq, head=link)


def read_copy(
    database: Path, *, limit: int | None = None, newest_first: bool = False, after: int = 0
) -> Iterator[StoredEvent]:
    """Iterate over the events of a copy of a SQLite record, without its keys.

    Raises: AuditUnavailable where it cannot be read to its end.
    """
    try:
        with closing(connect_to_read(database)) as connection:
            yield from select_events(
                connection, limit=limit, newest_first=newest_first, after=after
            )
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise AuditUnavailable(f"{database.name} cannot be read: {error}") from error


def _gap(seq: int, link: str, problem: str) -> ChainReport:
    return ChainReport(events=seq, head=link, broken_at=seq + 1, problem=problem)


def _broken(heads: Sequence[Head], seq: int, problem: str) -> AnchorReport:
    return AnchorReport(
        heads=len(heads),
        signed_seq=heads[-1].seq,
        signed_at=heads[-1].time,
        code=Code.CHAIN_BROKEN,
        broken_at=seq,
        problem=problem,
    )
