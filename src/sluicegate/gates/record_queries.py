"""What the gate asks of the record about calls: one object a question (ACC-4, EVI-1, RET-2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypedDict

from sluicegate.values.callers import Caller


class EventFilters(TypedDict, total=False):
    """What ``AuditStore.events`` may be asked for, by keyword; what is left out filters nothing.

    ``since``: recorded then or later. ``code``: the cause, or what the agent was told.
    ``event_ids``: one of these. ``limit``: so many of them, the oldest first unless
    ``newest_first``.
    """

    since: datetime | None
    tool: str | None
    code: str | None
    request_id: str | None
    event_ids: Collection[str] | None
    limit: int | None
    newest_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CallQuery:
    """A call that asks: under which request id, who, which tool, with which arguments."""

    request_id: str
    tool: str
    caller: Caller
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuery:
    """The accepted answer of one request, if it was of this tool, caller and tenant.

    ``arguments``: also with equal ones; None: whatever they were.
    """

    request_id: str
    tool: str
    caller: Caller
    arguments: Mapping[str, object] | None = None


class RecordPlace(NamedTuple):
    """Where one event stands among others by when it was recorded."""

    time: datetime
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedQuery:
    """Accepted answers that one contract gave to this caller and tenant, at ``since`` or later.

    The latest recorded come first, by the clock of whoever recorded them. ``after``: the id of an
    event; only those that were asked for after it. ``before``: only those behind this place.
    """

    tool: str
    caller: Caller
    contract_digest: str
    since: datetime
    after: str | None = None
    before: RecordPlace | None = None
