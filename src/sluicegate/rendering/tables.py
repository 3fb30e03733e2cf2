"""Events and grouped refusals as plain tables: one line each, made to be cut and searched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sluicegate.gates.events import EventKind, StoredEvent
from sluicegate.rendering.counting import count_of
from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.json_v1 import read_stored_json
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Events that are one matter: same tool, version, stage and code."""

    tool: str
    contract_version: str
    stage: str | None
    code: str | None
    outcome: str
    first: str
    last: str
    count: int


def group_events(events: Iterable[StoredEvent]) -> list[Group]:
    """Return the groups of outcomes and refusals, the one that happened last first."""
    counts: dict[tuple[str, str, str | None, str | None, str], list[str]] = {}
    for event in events:
        if event.kind not in (EventKind.OUTCOME, EventKind.REFUSED):
            continue
        key = (event.tool, event.contract_version, event.stage, event.code, event.outcome)
        counts.setdefault(key, []).append(event.time)
    groups = [
        Group(
            tool=tool,
            contract_version=version,
            stage=stage,
            code=code,
            outcome=outcome,
            first=min(times),
            last=max(times),
            count=len(times),
        )
        for (tool, version, stage, code, outcome), times in counts.items()
    ]
    return sorted(groups, key=lambda group: group.last, reverse=True)


def render_groups(groups: Sequence[Group], *, paint: Paint = PLAIN) -> str:
    """Return count, first, last, tool and what happened, one line a group."""
    rows = [
        (
            str(group.count),
            _moment(group.first),
            _moment(group.last),
            f"{group.tool}@{group.contract_version}" if group.contract_version else group.tool,
            _what(group.outcome, group.stage, group.code),
        )
        for group in groups
    ]
    return _table(("count", "first", "last", "tool", "what"), rows, paint)


def render_events(events: Sequence[StoredEvent], *, paint: Paint = PLAIN) -> str:
    """Return time, request id, kind, tool, caller and what happened, one line an event."""
    rows = [
        (
            _moment(event.time),
            event.request_id,
            event.kind,
            event.tool,
            event.caller_subject or "",
            tell_event(event),
        )
        for event in events
    ]
    return _table(("time", "request id", "kind", "tool", "caller", "what"), rows, paint)


def omit_repeats(events: Sequence[StoredEvent]) -> tuple[StoredEvent, ...]:
    """Leave out each opening of a contract set that was served before already.

    ``events`` begin with the newest. Every command that calls opens the set; only one that changed
    or did not load is news.
    """
    kept: list[StoredEvent] = []
    before: str | None = None
    for event in reversed(events):
        if event.kind == EventKind.CONTRACTS:
            served = f"{event.contract_digest} {read_detail(event).get('withdrawn')}"
            if event.code is None and served == before:
                continue
            before = served
        kept.append(event)
    return tuple(reversed(kept))


def read_detail(event: StoredEvent) -> Mapping[str, JsonValue]:
    """Return the further facts of an event; none where the column does not hold an object."""
    detail = read_stored_json(event.detail)
    return detail if isinstance(detail, Mapping) else {}


def tell_event(event: StoredEvent) -> str:
    """An act says itself and its reason, a set how many tools it serves; a call how it ended."""
    detail = read_detail(event)
    if event.kind == EventKind.OPERATOR and "act" in detail:
        told = str(detail["act"])
        for name, form in (
            ("as", " as {}"),
            ("version", " to {}"),
            ("ref", " {}"),
            ("count", " of {}"),
        ):
            if name in detail:
                told += form.format(detail[name])
        return f"{told}: {detail['reason']}" if detail.get("reason") else told
    if event.kind == EventKind.CONTRACTS and "set" in detail:
        tools, gone, told = detail.get("tools"), detail.get("withdrawn"), str(detail["set"])
        if isinstance(tools, Mapping):
            told += f" with {count_of(len(tools), 'tool')}"
        if isinstance(gone, Mapping) and gone:
            told += f", {len(gone)} withdrawn"
        return told if event.code is None else f"{told}: {_what(event.outcome, None, event.code)}"
    return _what(event.outcome, event.stage, event.code)


def render_event(event: StoredEvent, *, paint: Paint = PLAIN) -> str:
    """Return every column of one event, a line each; empty columns are left out."""
    names = list(StoredEvent.__dataclass_fields__)
    width = max(len(name) for name in names)
    shown = ((name, getattr(event, name)) for name in names)
    return "".join(
        f"{paint.dim(name.ljust(width))}  {escape_terminal(str(value))}\n"
        for name, value in shown
        if value is not None and value != ""
    )


def shape_groups(groups: Sequence[Group]) -> list[JsonValue]:
    """Return the groups as JSON objects with the members of ``Group``."""
    return [{name: getattr(group, name) for name in Group.__dataclass_fields__} for group in groups]


def _moment(time: str) -> str:
    return time[:19].replace("T", " ")


def _what(outcome: str, stage: str | None, code: str | None) -> str:
    if code is None:
        return outcome
    return f"{outcome} {code if stage is None else f'{stage}/{code}'}"


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]], paint: Paint) -> str:
    shown = [tuple(escape_terminal(cell) for cell in row) for row in rows]
    widths = [max(len(row[column]) for row in [heads, *shown]) for column in range(len(heads))]
    lines = [paint.dim(_line(heads, widths)), *(_line(row, widths) for row in shown)]
    return "\n".join(lines) + "\n"


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()
