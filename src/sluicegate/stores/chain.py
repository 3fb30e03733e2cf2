"""The chain of the record: each link covers the link before it and every column of its event."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import ChainReport
from sluicegate.stores.encoding import COLUMNS, Column, authenticate

GENESIS: Final = "0" * 64
"""What stands in ``previous`` of the first event."""

_FORM: Final = b"sluicegate audit chain 1"
_covered = attrgetter(*COLUMNS[:-1])


def link_columns(key: bytes, columns: Sequence[Column]) -> str:
    """Return the link of an event: HMAC-SHA256 over every column but the link, in order.

    Each column is written with a type tag, and text with its length in code points before it
    (``T4:read``, ``I7;``, ``N``), so that no two rows have the same form and NULL is not the empty
    text. Source: SPEC AUD-3.
    """
    written = "".join(
        [
            "N"
            if value is None
            else f"T{len(value)}:{value}"
            if value.__class__ is str
            else f"I{value};"
            for value in columns
        ]
    )
    return authenticate(key, _FORM + written.encode("utf-8", "surrogatepass"))


def holds_own_link(key: bytes, event: StoredEvent) -> bool:
    """Whether the event's own columns are those that were written, whatever stands around it."""
    return hmac.compare_digest(link_columns(key, _covered(event)).encode(), event.link.encode())


def verify_chain(
    key: bytes, events: Iterable[StoredEvent], *, after: tuple[int, str] = (0, GENESIS)
) -> ChainReport:
    """Recompute the chain over ``events`` and name the first bad one.

    ``after`` is the (seq, link) that stands before the first event. A cut tail leaves a chain that
    holds: only a head kept elsewhere can tell. Source: SPEC AUD-3.
    """
    count = 0
    seq, link = after
    for event in events:
        expected = seq + 1
        if event.seq != expected:
            what = "stands twice" if event.seq < expected else f"is missing: {event.seq} follows"
            return _broken(count, link, expected, f"event {expected} {what}")
        if not hmac.compare_digest(event.previous.encode(), link.encode()):
            return _broken(count, link, expected, "it does not follow the event before it")
        if not holds_own_link(key, event):
            return _broken(count, link, expected, "its columns are not those that were written")
        seq, link = event.seq, event.link
        count += 1
    return ChainReport(events=count, head=link)


def _broken(count: int, head: str, seq: int, problem: str) -> ChainReport:
    return ChainReport(events=count, head=head, broken_at=seq, problem=problem)
