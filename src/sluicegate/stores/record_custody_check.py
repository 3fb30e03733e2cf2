"""Whether custody still holds what the events handed to it: asked when a record is verified.

That text and key are those that were kept takes the custody keys and is seen when a blob is opened.
Source: SPEC AUD-3, AUD-4.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.stores.connections import Connection
from sluicegate.stores.record_faults import Fault, first_of

_AT_ONCE: Final = 500
"""How many references are asked for in one statement."""

_GONE: Final = "custody has no row of what it handed over"
_DESTROYED: Final = "what it handed to custody was destroyed, and no purge says so"
_MORE: Final = "more was destroyed at its time than it says"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Purge:
    """An operator's act; ``expired_by`` is None where the blobs were named."""

    seq: int
    count: int
    refs: frozenset[str]
    expired_by: str | None

    def covers(self, ref: str, expires: str) -> bool:
        """Whether the act destroyed the blob ``ref``, as far as it tells: it names the first."""
        if ref in self.refs:
            return True
        if len(self.refs) >= self.count:
            return False  # all of them are named
        return self.expired_by is None or expires <= self.expired_by


def find_unkept(connection: Connection) -> Fault | None:
    """Hold custody to the events: the fault of the first event at fault.

    Each reference of an event has a row; a row without its key or text is one that a purge
    destroyed. Two walks: over the rows, then over the events that hand something over. In memory
    are the purges and what is wrong. Raises: sqlite3.Error.
    """
    purges = _read_purges(connection)
    destroyed, left = _find_destroyed(connection, purges)
    faults = [
        Fault(purge.seq, _MORE)
        for time, acts in purges.items()
        if left[time] < 0
        for purge in acts[:1]
    ]
    faults.extend(_walk(connection, destroyed))
    return first_of(faults)


def _read_purges(connection: Connection) -> dict[str, list[_Purge]]:
    """Return the purges by their time, which is that of the rows they destroyed."""
    purges: dict[str, list[_Purge]] = {}
    for seq, time, detail in connection.execute(
        "SELECT seq, time, detail FROM audit_event WHERE kind = 'operator' ORDER BY seq"
    ):
        act = json.loads(detail) if '"act":"purge"' in detail else {}
        if act.get("act") == "purge":
            named = act.get("rule") == "named"
            purge = _Purge(
                seq=seq,
                count=act["count"],
                refs=frozenset(act["refs"]),
                expired_by=None if named else act.get("expired_by", time),
            )
            purges.setdefault(time, []).append(purge)
    return purges


def _find_destroyed(
    connection: Connection, purges: Mapping[str, list[_Purge]]
) -> tuple[set[str], dict[str, int]]:
    """Return the blobs that no purge covers, and how many each time has left."""
    left = {time: sum(purge.count for purge in acts) for time, acts in purges.items()}
    wrong: set[str] = set()
    for ref, expires, purged_at, parts in connection.execute(
        "SELECT ref, expires, purged_at, CASE WHEN key_id IS NULL THEN 0 ELSE 1 END"
        " + CASE WHEN wrapped_key IS NULL THEN 0 ELSE 1 END"
        " + CASE WHEN nonce IS NULL THEN 0 ELSE 1 END"
        " + CASE WHEN ciphertext IS NULL THEN 0 ELSE 1 END AS parts FROM custody_blob"
        " WHERE purged_at IS NOT NULL OR key_id IS NULL OR wrapped_key IS NULL OR nonce IS NULL"
        " OR ciphertext IS NULL ORDER BY ref"
    ):
        acts = purges.get(purged_at, ()) if parts == 0 else ()
        if any(purge.covers(ref, expires) for purge in acts):
            left[purged_at] -= 1
        else:
            wrong.add(ref)
    return wrong, left


def _walk(connection: Connection, destroyed: set[str]) -> Iterator[Fault]:
    """Yield the first event whose blob is destroyed, and the first whose blob has no row."""
    asked: dict[str, int] = {}
    for seq, arguments_ref, raw_ref, detail in connection.execute(
        "SELECT seq, arguments_ref, raw_ref, CASE WHEN instr(detail, '\"custody\":') THEN detail"
        " ELSE '' END FROM audit_event WHERE arguments_ref IS NOT NULL OR raw_ref IS NOT NULL"
        " OR instr(detail, '\"custody\":') ORDER BY seq"
    ):
        others = json.loads(detail).get("custody", {}).values() if detail else ()
        for ref in (arguments_ref, raw_ref, *others):
            if ref is None:
                continue
            if ref in destroyed:
                yield Fault(seq, _DESTROYED)
                destroyed = set()
            asked.setdefault(ref, seq)
        if len(asked) >= _AT_ONCE:
            missing = _first_missing(connection, asked)
            if missing is not None:
                yield Fault(missing, _GONE)
                return
            asked.clear()
    missing = _first_missing(connection, asked)
    if missing is not None:
        yield Fault(missing, _GONE)


def _first_missing(connection: Connection, asked: Mapping[str, int]) -> int | None:
    if not asked:
        return None
    marks = ", ".join("?" * len(asked))
    rows = connection.execute(
        f"SELECT ref FROM custody_blob WHERE ref IN ({marks})",  # noqa: S608  (marks alone)
        tuple(asked),
    )
    found = {ref for (ref,) in rows}
    return min((seq for ref, seq in asked.items() if ref not in found), default=None)
