"""A report for a person: file, line and column, the source line with a caret, and the way on.

What is found alike is told once, with how often and the first places: a folder of a hundred tools
fits a screen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.places import excerpt
from sluicegate.rendering.reports import (
    SEVERITIES,
    Item,
    Report,
    Severity,
    show_pointer,
    title_item,
)
from sluicegate.rendering.secrecy import may_hold_secret
from sluicegate.rendering.spans import Span

ReadSource: TypeAlias = Callable[[str], bytes | None]
"""Gives the bytes of a file by the name that items bear; None: no line of it is shown."""

DEFAULT_WIDTH: Final = 100
MAX_PLACES: Final = 5
"""Places of one family that a person is shown; programs get all of them."""

_MIN_SOURCE_WIDTH: Final = 20
_INDENT: Final = "  "


def show_no_source(_: str) -> None:
    """Give no bytes: every place is told without its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    paint: Paint
    width: int
    read: ReadSource


def render_human(
    report: Report,
    *,
    paint: Paint = PLAIN,
    width: int = DEFAULT_WIDTH,
    read: ReadSource = show_no_source,
) -> str:
    """Return a block a family of items, the remarks, and one line of summary."""
    look = _Look(paint=paint, width=width, read=read)
    blocks = [_tell(family, look) for family in _families(report)]
    tint = {"good": paint.good, "open": paint.warn, "bad": paint.bad}[report.tone]
    said = f"{tint(report.word)}: {escape_terminal(report.summary)}\n"
    remarks = "".join(escape_terminal(remark) + "\n" for remark in report.remarks)
    return "\n".join([*blocks, remarks + said])


def render_item(
    item: Item,
    *,
    paint: Paint = PLAIN,
    width: int = DEFAULT_WIDTH,
    read: ReadSource = show_no_source,
) -> str:
    """Return the block of one item, in the style of a compiler; it ends with a line feed."""
    return _tell_one(item, _Look(paint=paint, width=width, read=read))


def _families(report: Report) -> list[list[Item]]:
    order = SEVERITIES[::-1] if report.worst_last else SEVERITIES
    families: dict[tuple[str, str, str], list[Item]] = {}
    for item in sorted(report.items, key=lambda item: order.index(item.severity)):
        key = (item.severity, item.rule, item.family or item.name)
        families.setdefault(key, []).append(item)
    return list(families.values())


def _tell(family: Sequence[Item], look: _Look) -> str:
    return _tell_one(family[0], look) if len(family) == 1 else _tell_many(family, look)


def _tell_one(item: Item, look: _Look) -> str:
    paint = look.paint
    where = _place(item)
    head = f"{_shade(item.severity, paint)} {paint.strong(escape_terminal(title_item(item)))}"
    lines = [f"{paint.place(where)}: {head}" if where else head]
    lines += [_INDENT + escape_terminal(line) for line in item.message.split("\n") if line]
    lines += _source_lines(item, look)
    if item.pointer and not item.causes:
        lines.append(f"{_INDENT}at {escape_terminal(show_pointer(item.pointer))}{_whose(item)}")
    if item.count > 1:
        lines.append(f"{_INDENT}{item.count} places in all")
    if item.why:
        lines.append(f"{_INDENT}why: {escape_terminal(item.why)}")
    return "\n".join([*lines, *_ways_on([item], look)]) + "\n"


def _tell_many(family: Sequence[Item], look: _Look) -> str:
    """Return one block: what is the same in all of them once, the first places, and how many."""
    first, paint = family[0], look.paint
    title = paint.strong(escape_terminal(title_item(first)))
    said_once = len({item.message for item in family}) == 1
    head = f"{_shade(first.severity, paint)} {title} × {len(family)}"
    lines = [f"{head}: {_in_one_line(first.message)}" if said_once else head]
    led_once = len({(item.hint, item.way_on) for item in family}) == 1
    for item in family[:MAX_PLACES]:
        at = escape_terminal(show_pointer(item.pointer))
        place = f"{_INDENT}{paint.place(f'{_place(item)} {at}'.strip())}{_whose(item)}"
        lines.append(place if said_once else f"{place}  {_in_one_line(item.message)}")
        lines += _source_lines(item, look) if item is first else []
        if not led_once and item.way_on:
            lines.append(f"{_INDENT}{_INDENT}{paint.dim(escape_terminal(item.way_on))}")
    if len(family) > MAX_PLACES:
        more = len(family) - MAX_PLACES
        lines.append(paint.dim(f"{_INDENT}… and {more} more; --format json-v1 tells all"))
    return "\n".join([*lines, *(_ways_on(family, look) if led_once else ())]) + "\n"


def _ways_on(family: Sequence[Item], look: _Look) -> list[str]:
    item, paint = family[0], look.paint
    lines = [f"{_INDENT}hint: {escape_terminal(item.hint)}"] if item.hint else []
    if item.way_on:
        lines.append(_INDENT + paint.dim(escape_terminal(item.way_on)))
    return lines


def _place(item: Item) -> str:
    where = escape_terminal(item.file)
    return where if item.line is None else f"{where}:{item.line}:{item.column or 1}"


def _whose(item: Item) -> str:
    return f" ({escape_terminal(item.tool)})" if item.tool else ""


def _in_one_line(text: str) -> str:
    return escape_terminal("; ".join(line for line in text.split("\n") if line))


def _shade(severity: Severity, paint: Paint) -> str:
    return {"error": paint.bad, "warning": paint.warn, "info": paint.dim}[severity](severity)


def _source_lines(item: Item, look: _Look) -> list[str]:
    """Return the line of an item, or each of its causes with its line."""
    raw = look.read(item.file) if item.line is not None or item.causes else None
    if not item.causes:
        return _excerpt_lines(item, raw, look)
    lines = []
    for cause in item.causes:
        at = escape_terminal(show_pointer(cause.pointer)) or "(the whole document)"
        head = f"{cause.rule} at {at}"
        if cause.message:
            head += f": {escape_terminal(cause.message)}"
        lines += [_INDENT + head, *_excerpt_lines(cause, raw, look), *_ways_on([cause], look)]
    return lines


def _excerpt_lines(item: Item, raw: bytes | None, look: _Look) -> list[str]:
    span = None if raw is None else _span(raw, item)
    if raw is None or span is None or _is_hidden(raw, span, item):
        return []
    number = str(span.line)
    room = max(look.width - len(number) - len(_INDENT) - 3, _MIN_SOURCE_WIDTH)
    shown = excerpt(raw, span, room)
    blank = " " * len(number)
    caret = look.paint.bad("^" * shown.marked)
    return [
        f"{_INDENT}{look.paint.place(f'{number} |')} {shown.text}",
        f"{_INDENT}{look.paint.place(f'{blank} |')} {' ' * shown.indent}{caret}",
    ]


def _is_hidden(raw: bytes, span: Span, item: Item) -> bool:
    line = raw.split(b"\n")[span.line - 1].decode("utf-8", "replace")
    return item.discreet or may_hold_secret(item.file, item.pointer, line)


def _span(raw: bytes, item: Item) -> Span | None:
    """Return the bytes that an item marks in its line; None where no such line stands."""
    if item.line is None:
        return None
    lines = raw.split(b"\n")
    if item.line > len(lines):
        return None
    text = lines[item.line - 1].decode("utf-8", "surrogateescape")
    column = (item.column or 1) - 1
    before = text[:column].encode("utf-8", "surrogateescape")
    marked = text[column : column + item.length].encode("utf-8", "surrogateescape")
    offset = sum(len(line) + 1 for line in lines[: item.line - 1]) + len(before)
    return Span(offset=offset, line=item.line, column=len(before) + 1, length=max(len(marked), 1))
