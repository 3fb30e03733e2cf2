"""What is asked of the events: those that fit a filter, those that are open."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Final

from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.connections import Connection
from sluicegate.stores.encoding import COLUMNS, TYPES, Column, storable, time_text
from sluicegate.stores.record_open_calls import OPEN
from sluicegate.stores.sqlite_schema import SELECT_EVENTS

_KINDS: Final[Mapping[type, str]] = {
    type(None): "NULL",
    bytes: "a blob",
    float: "a real number",
    int: "an integer",
    str: "text",
}


class EventUnreadable(AuditUnavailable):
    """A row is no event: a column holds what was never written there."""


def read_event(row: tuple[Column, ...]) -> StoredEvent:
    """Return the event of one row of SELECT_EVENTS.

    Who may write the file may also have made its tables anew without their types. Raises:
    EventUnreadable.
    """
    for name, value, types in zip(COLUMNS, row, TYPES, strict=True):
        if value.__class__ not in types:
            kind = _KINDS.get(value.__class__, "another type")
            raise EventUnreadable(
                f"the column {name} of event {row[0]!r:.40} holds {kind}, which was"
                " never written there"
            )
    return StoredEvent(**dict(zip(COLUMNS, row, strict=True)))  # type: ignore[arg-type]


def select_events(
    connection: Connection,
    *,
    since: datetime | None = None,
    tool: str | None = None,
    code: str | None = None,
    request_id: str | None = None,
    event_ids: Collection[str] | None = None,
    limit: int | None = None,
    newest_first: bool = False,
    after: int = 0,
) -> Iterator[StoredEvent]:
    """Iterate over the events that fit every given one of ``EventFilters``, in the order of seq.

    ``after``: only those behind the event with this seq.
    Raises: ValueError if ``since`` is naive; sqlite3.Error.
    """
    wanted: list[str] = []
    values: list[Column] = []
    if since is not None:
        wanted.append("e.time >= ?")
        values.append(time_text(since))
    for column, value in (("tool", tool), ("request_id", request_id)):
        if value is not None:
            wanted.append(f"e.{column} = ?")
            values.append(storable(value))
    if code is not None:
        # The cause, or what the agent was told: whoever asks may have seen either.
        wanted.append("(e.code = ? OR e.agent_code = ?)")
        values += [storable(code)] * 2
    if event_ids is not None:
        # PostgreSQL knows no list of nothing.
        wanted.append(f"e.event_id IN ({', '.join('?' * len(event_ids)) or 'NULL'})")
        values += map(storable, event_ids)
    if after:
        wanted.append("e.seq > ?")
        values.append(after)
    where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
    order = " ORDER BY e.seq DESC" if newest_first else " ORDER BY e.seq"
    cut = ""
    if limit is not None:
        cut = " LIMIT ?"
        values.append(max(limit, 0))
    return map(read_event, connection.execute(SELECT_EVENTS + where + order + cut, values))


def select_open_intents(connection: Connection) -> tuple[StoredEvent, ...]:
    """Return the open intents, oldest first. Raises: sqlite3.Error."""
    rows = connection.execute(f"{SELECT_EVENTS} WHERE {OPEN} ORDER BY e.seq")
    return tuple([read_event(row) for row in rows])
