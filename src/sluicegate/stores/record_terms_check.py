"""Whether spent evidence and held keys stand as the intents say: asked when a record is verified.

The tables decide whether a write is made again, and whoever has SQL can change them; the events
that they come from stand in the chain. Source: SPEC ACC-4, EVI-1, AUD-3; docs/decisions/0014.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sluicegate.gates.events import EventKind, Outcome
from sluicegate.gates.upshots import Upshot, follow, read_found
from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import time_text
from sluicegate.stores.record_faults import Fault, first_of
from sluicegate.stores.record_terms import SLACK

_MANY: Final = 10_000
_HOLDING: Final = (Outcome.SUCCESS, Outcome.PENDING, Outcome.UNKNOWN)
"""What a call may have become for its key to refuse another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Holding:
    """A key as a call holds it; ``runs_until`` is None where the intent does not tell it."""

    request_id: str
    arguments_hmac: str
    kept_until: str
    runs_until: str | None


class _Keys:
    """The keys as the intents hand them on. What is over and has no row is forgotten again."""

    def __init__(self, rows: Mapping[str, _Holding]) -> None:
        self.held: dict[str, tuple[int, _Holding]] = {}
        self._rows = rows
        self._became: dict[str, Upshot | None] = {}
        self._latest = ""
        self._full = _MANY

    def follow(self, request_id: str, kind: str, outcome: str, found: str | None) -> None:
        """Take up what became of a call, where that holds a key."""
        if request_id in self._became:
            before = self._became[request_id]
            self._became[request_id] = follow(before, kind=kind, outcome=outcome, found=found)

    def reserve(self, key: str, seq: int, holding: _Holding, time: str, outcome: str) -> bool:
        """Hand the key to the intent at ``seq``; False where another call still held it then."""
        self._latest = max(self._latest, time)
        _, before = self.held.get(key, (0, holding))
        is_fair = before.request_id == holding.request_id or not self._refuses(
            before, holding, time
        )
        self._became.pop(before.request_id, None)
        self._became[holding.request_id] = Upshot(outcome=outcome)
        self.held[key] = (seq, holding)
        if len(self.held) >= self._full:
            self._forget()
        return is_fair

    def _refuses(self, before: _Holding, holding: _Holding, time: str) -> bool:
        # A row that ran out goes when a clock that is ahead by the slack reserves another key.
        if before.kept_until <= time or before.kept_until <= self._forgotten():
            return False
        if before.arguments_hmac != holding.arguments_hmac:
            return True
        became = self._became.get(before.request_id)
        return became is not None and became.outcome in _HOLDING

    def _forgotten(self) -> str:
        return time_text(datetime.fromisoformat(self._latest) - SLACK)

    def _forget(self) -> None:
        over = self._forgotten()
        self.held = {
            key: told
            for key, told in self.held.items()
            if told[1].kept_until > over or key in self._rows
        }
        holders = {holding.request_id for _, holding in self.held.values()}
        self._became = {name: became for name, became in self._became.items() if name in holders}
        self._full = max(_MANY, 2 * len(self.held))


def find_misheld(connection: Connection) -> Fault | None:
    """Hold what is spent and reserved to the intents: the fault of the first event at fault.

    One walk over the events. In memory are the rows, the keys that are not over and the evidence
    that was spent. Raises: sqlite3.Error.
    """
    newest, until = connection.execute(
        "SELECT coalesce(max(seq), 1), coalesce(max(time), '') FROM audit_event"
    ).fetchone()
    rows = {
        key: _Holding(
            request_id=request_id,
            arguments_hmac=arguments_hmac,
            kept_until=kept_until,
            runs_until=runs_until,
        )
        for key, request_id, arguments_hmac, kept_until, runs_until in connection.execute(
            "SELECT key, request_id, arguments_hmac, kept_until, runs_until FROM reservation"
            " ORDER BY key"
        )
    }
    keys = _Keys(rows)
    spent: dict[str, tuple[int, str]] = {}
    faults = [
        *_walk(connection, keys, spent),
        *_compare_keys(rows, keys.held, newest, until),
        *_compare_spent(connection, spent, newest),
    ]
    return first_of(faults)


def _walk(
    connection: Connection, keys: _Keys, spent: dict[str, tuple[int, str]]
) -> Iterator[Fault]:
    """Fill ``keys`` and ``spent`` by the events; yield what no store would have let through."""
    for seq, time, kind, request_id, outcome, arguments_hmac, detail in connection.execute(
        "SELECT seq, time, kind, request_id, outcome, arguments_hmac,"
        " CASE WHEN kind = 'outcome' THEN '' ELSE detail END FROM audit_event"
        " WHERE kind IN ('intent', 'outcome', 'operator') ORDER BY seq"
    ):
        found = read_found(detail, request_id) if kind == EventKind.OPERATOR else None
        keys.follow(request_id, kind, outcome, found)
        if kind != EventKind.INTENT or not ('"spent":' in detail or '"reserved":' in detail):
            continue
        told = json.loads(detail)
        for event_id in told.get("spent", ()):
            if event_id in spent:
                yield Fault(seq, "the evidence it spent was spent before")
            else:
                spent[event_id] = (seq, request_id)
        if "reserved" in told:
            reserved = told["reserved"]
            holding = _Holding(
                request_id=request_id,
                arguments_hmac=arguments_hmac,
                kept_until=reserved["until"],
                runs_until=reserved.get("runs"),
            )
            if not keys.reserve(reserved["key"], seq, holding, time, outcome):
                yield Fault(seq, "the key that it holds was held by another call")


def _compare_keys(
    rows: Mapping[str, _Holding],
    held: Mapping[str, tuple[int, _Holding]],
    newest: int,
    until: str,
) -> Iterator[Fault]:
    for key, (seq, holding) in held.items():
        row = rows.get(key)
        if row is None:
            # A row whose time is over may be gone.
            if holding.kept_until > until:
                yield Fault(seq, "the key that it holds is not held by it")
        elif row.request_id != holding.request_id:
            yield Fault(seq, "the key that it holds is not held by it")
        elif (row.arguments_hmac, row.kept_until) != (
            holding.arguments_hmac,
            holding.kept_until,
        ) or holding.runs_until not in (None, row.runs_until):
            yield Fault(seq, "the key that it holds is not held as it says")
    if not rows.keys() <= held.keys():
        yield Fault(
            newest, "a key is held that no intent reserved: the event is gone, or never was"
        )


def _compare_spent(
    connection: Connection, spent: Mapping[str, tuple[int, str]], newest: int
) -> Iterator[Fault]:
    marked: set[str] = set()
    for event_id, request_id in connection.execute(
        "SELECT event_id, request_id FROM evidence_spent ORDER BY event_id"
    ):
        if event_id not in spent:
            yield Fault(newest, "evidence is marked as spent that no intent spent")
            continue
        marked.add(event_id)
        seq, spender = spent[event_id]
        if request_id != spender:
            yield Fault(seq, "the evidence it spent is marked as spent by another call")
    for event_id, (seq, _) in spent.items():
        if event_id not in marked:
            yield Fault(seq, "the evidence it spent is not marked as spent")
