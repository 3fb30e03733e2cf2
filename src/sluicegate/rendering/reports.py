"""One report for every command that judges files, and its readers: a person, a program, GitHub.

lint, test, diff, check and replay all hand in the same two records; ``sarif`` and ``junit`` read
them too (SPEC LIF-5).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.github import command
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.places import excerpt
from sluicegate.rendering.spans import Span
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue

Severity: TypeAlias = Literal["error", "warning", "info"]

DEFAULT_WIDTH: Final = 100
_MIN_SOURCE_WIDTH: Final = 20
_INDENT: Final = "  "
_LEVELS: Final[Mapping[Severity, str]] = MappingProxyType(
    {"error": "error", "warning": "warning", "info": "notice"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing found. ``line`` and ``column`` count characters from 1; None where it has no place.

    ``file`` is empty where it is about no file. ``group`` is the checked thing that it belongs to,
    one of the report's ``cases``. ``fingerprint`` names it across commits; empty: one is made of
    rule, file and pointer. ``count`` is how often, where several places are told as one.
    """

    rule: str
    name: str
    severity: Severity
    message: str
    file: str
    pointer: str
    line: int | None
    column: int | None
    why: str = ""
    hint: str = ""
    fingerprint: str = ""
    count: int = 1
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one run of ``command`` found. ``checked`` is how many things were judged.

    ``cases`` names them where they have names, those without a fault too. ``facts`` are further
    members of the json-v1 object.
    """

    command: str
    verdict: str
    items: tuple[Item, ...]
    checked: int
    facts: Mapping[str, JsonValue]
    cases: tuple[str, ...] = ()

    def count(self, severity: Severity) -> int:
        """Return how many items are of ``severity``."""
        return sum(1 for item in self.items if item.severity == severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleHelp:
    """What a reader can be told of a rule: ``text`` is one sentence, ``page`` Markdown."""

    id: str
    name: str
    text: str
    page: str = ""
    severity: Severity = "error"


_NO_SOURCES: Final[Mapping[str, bytes]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    paint: Paint
    width: int
    sources: Mapping[str, bytes]


def render_report_human(
    report: Report,
    *,
    paint: Paint = PLAIN,
    width: int = DEFAULT_WIDTH,
    sources: Mapping[str, bytes] = _NO_SOURCES,
) -> str:
    """Return one block an item in the style of a compiler, and one line of summary.

    ``sources`` holds the files, by the name that items bear, whose lines are shown with a caret.
    """
    look = _Look(paint=paint, width=width, sources=sources)
    blocks = [_block(item, look) for item in report.items]
    return "\n".join([*blocks, _summary(report, paint)])


def _block(item: Item, look: _Look) -> str:
    paint = look.paint
    where = escape_terminal(item.file)
    if item.line is not None:
        where += f":{item.line}:{item.column or 1}"
    title = escape_terminal(f"{item.rule} {item.name}".strip())
    head = f"{_shade(item.severity, paint, item.severity)} {title}"
    lines = [f"{paint.place(where)}: {head}" if where else head]
    lines.append(_INDENT + escape_terminal(item.message))
    lines += _excerpt_lines(item, look)
    if item.pointer:
        lines.append(f"{_INDENT}at {escape_terminal(item.pointer)}")
    if item.count > 1:
        lines.append(f"{_INDENT}{item.count} places in all")
    for label, text in (("why", item.why), ("hint", item.hint)):
        if text:
            lines.append(f"{_INDENT}{label}: {escape_terminal(text)}")
    return "\n".join(lines) + "\n"


def _shade(severity: Severity, paint: Paint, text: str) -> str:
    if severity == "error":
        return paint.bad(text)
    return paint.warn(text) if severity == "warning" else paint.dim(text)


def _excerpt_lines(item: Item, look: _Look) -> list[str]:
    raw = look.sources.get(item.file)
    span = None if raw is None else _span(raw, item)
    if raw is None or span is None:
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


def _span(raw: bytes, item: Item) -> Span | None:
    """Return the one character at the item's place, counted in bytes; None where none stands."""
    if item.line is None:
        return None
    lines = raw.split(b"\n")
    if item.line > len(lines):
        return None
    text = lines[item.line - 1].decode("utf-8", "surrogateescape")
    before = text[: (item.column or 1) - 1].encode("utf-8", "surrogateescape")
    offset = sum(len(line) + 1 for line in lines[: item.line - 1]) + len(before)
    return Span(offset=offset, line=item.line, column=len(before) + 1, length=1)


def column_in_characters(raw: bytes, span: Span) -> int:
    """Return the column of ``span`` counted in characters from 1, as items and SARIF count."""
    start = span.offset - span.column + 1
    return len(raw[start : span.offset].decode("utf-8", "replace")) + 1


def _summary(report: Report, paint: Paint) -> str:
    verdict = report.verdict.replace("-", " ").upper()
    counts = summarize(report)
    if report.count("error"):
        return f"{paint.bad(verdict)}: {counts}\n"
    shown = paint.good(verdict) if report.checked else paint.warn(verdict)
    return f"{shown}: {counts}\n"


def summarize(report: Report) -> str:
    """Return the counts of a report in one line: what was found, in how many."""
    found = [
        _count(report.count(severity), noun)
        for severity, noun in _NOUNS.items()
        if report.count(severity)
    ]
    return f"{', '.join(found) or 'nothing found'} in {report.checked} checked"


_NOUNS: Final[Mapping[Severity, str]] = MappingProxyType(
    {"error": "error", "warning": "warning", "info": "remark"}
)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def render_report_github(report: Report) -> str:
    """Return one workflow command an item, and the counts as a notice."""
    found = "".join(
        command(
            _LEVELS[item.severity],
            "\n".join(text for text in (item.message, item.why, item.hint) if text),
            file=item.file or None,
            line=item.line,
            column=item.column,
            title=f"{item.rule} {item.name}".strip(),
        )
        for item in report.items
    )
    return found + command("notice", f"{report.verdict}: {summarize(report)}", title=report.command)


def shape_report(report: Report) -> dict[str, JsonValue]:
    """Return the members of the json-v1 object: verdict, checked, counts, items, and the facts.

    Its schema ships as ``rendering/schemas/report.schema.json``.
    """
    return {
        "verdict": report.verdict,
        "checked": report.checked,
        "errors": report.count("error"),
        "warnings": report.count("warning"),
        "infos": report.count("info"),
        "items": [shape_item(item) for item in report.items],
        **report.facts,
    }


def shape_item(item: Item) -> dict[str, JsonValue]:
    """Return one item; what it does not have is null."""
    return {
        "rule": item.rule,
        "name": item.name,
        "severity": item.severity,
        "message": item.message,
        "why": item.why or None,
        "hint": item.hint or None,
        "file": item.file or None,
        "pointer": item.pointer,
        "line": item.line,
        "column": item.column,
        "fingerprint": fingerprint_item(item),
        "count": item.count,
        "group": item.group or None,
    }


def fingerprint_item(item: Item) -> str:
    """Return the name of an item across commits: its own, else of rule, file and pointer."""
    if item.fingerprint:
        return item.fingerprint
    return str(digest_of_json([item.rule, item.file, item.pointer]))
