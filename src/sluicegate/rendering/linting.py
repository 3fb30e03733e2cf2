"""What ``lint`` found, for each of its readers: told once a rule, with how often and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.github import command
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name

MAX_PLACES: Final = 5

Severity = Literal["error", "warning", "info"]
_ORDER: Final[tuple[Severity, ...]] = ("error", "warning", "info")
_LEVELS: Final[dict[Severity, str]] = {"error": "error", "warning": "warning", "info": "notice"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LintItem:
    """One finding with its place; ``pointer`` leads into ``file``, ``tool`` is known or empty."""

    rule: str
    name: str
    severity: Severity
    message: str
    hint: str
    file: str
    pointer: str
    line: int | None
    column: int | None
    tool: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LintSummary:
    """``checked`` schemas were judged, ``known`` findings were left out by a baseline.

    ``failed`` says whether there is a finding for which the command fails.
    """

    items: tuple[LintItem, ...]
    checked: int
    known: int
    failed: bool

    @property
    def verdict(self) -> str:
        """One word for the whole."""
        if not self.checked:
            return "nothing-checked"
        if not self.items:
            return "clean"
        return "findings" if self.failed else "passes"

    def count(self, severity: Severity) -> int:
        """How many findings there are of one severity."""
        return sum(item.severity == severity for item in self.items)


def render_lint(summary: LintSummary, *, paint: Paint = PLAIN) -> str:
    """Return one block a rule, errors first: what, how often, the first places, how to mend it."""
    return "\n".join([*render_items(summary.items, paint=paint), _last_line(summary, paint)])


def render_items(items: Sequence[LintItem], *, paint: Paint = PLAIN) -> list[str]:
    """Return one block a rule, errors first."""
    return [
        _block(severity, group, paint)
        for severity in _ORDER
        for group in _group([item for item in items if item.severity == severity])
    ]


def _group(items: Sequence[LintItem]) -> list[list[LintItem]]:
    groups: dict[str, list[LintItem]] = {}
    for item in items:
        groups.setdefault(item.rule, []).append(item)
    return list(groups.values())


def _block(severity: Severity, items: Sequence[LintItem], paint: Paint) -> str:
    first = items[0]
    word = {"error": paint.bad, "warning": paint.warn, "info": paint.dim}[severity](severity)
    times = f" × {len(items)}" if len(items) > 1 else ""
    messages = {item.message for item in items}
    said = f": {escape_terminal(first.message)}" if len(messages) == 1 else ""
    lines = [f"{word} {paint.strong(f'{first.rule} {first.name}')}{times}{said}"]
    for item in items[:MAX_PLACES]:
        more = "" if said else f"  {escape_terminal(item.message)}"
        lines.append(f"  {paint.place(_place(item))}{_whose(item)}{more}")
    if len(items) > MAX_PLACES:
        lines.append(paint.dim(f"  … and {len(items) - MAX_PLACES} more places"))
    if len({item.hint for item in items}) == 1 and first.hint:
        lines.append(f"  {paint.dim('mend:')} {escape_terminal(first.hint)}")
    return "\n".join(lines) + "\n"


def _place(item: LintItem) -> str:
    at = escape_terminal(item.file)
    if item.line is not None:
        at += f":{item.line}:{item.column or 1}"
    return f"{at} {_pointer(item.pointer)}".rstrip()


def _pointer(pointer: str) -> str:
    """A pointer for a person: each name in it cut and escaped."""
    return escape_terminal("/".join(show_name(segment) for segment in pointer.split("/")))


def _whose(item: LintItem) -> str:
    return f" ({escape_terminal(show_name(item.tool))})" if item.tool else ""


def _last_line(summary: LintSummary, paint: Paint) -> str:
    if not summary.checked:
        return f"{paint.warn('NOTHING CHECKED')}: there is no schema here\n"
    counts = ", ".join(
        _count(summary.count(severity), "note" if severity == "info" else severity)
        for severity in _ORDER
        if summary.count(severity)
    )
    word = paint.bad("FAILS") if summary.failed else paint.good("OK")
    text = f"{word}: {_count(summary.checked, 'schema')}, {counts or 'no findings'}"
    if summary.known:
        text += f"; {summary.known} known to the baseline"
    more = "; `sluicegate explain RULE` tells more" if summary.items else ""
    return text + more + "\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def render_lint_github(summary: LintSummary) -> str:
    """Return one command a finding, and one notice with the counts."""
    last = command("notice", _last_line(summary, PLAIN).strip(), title="lint")
    return render_items_github(summary.items) + last


def render_items_github(items: Sequence[LintItem]) -> str:
    """Return one command a finding."""
    return "".join(
        command(
            _LEVELS[item.severity],
            f"at {_pointer(item.pointer) or 'the root'}: {item.message} {item.hint}".strip(),
            file=item.file,
            line=item.line,
            column=item.column,
            title=f"{item.rule} {item.name}",
        )
        for item in items
    )


def shape_lint(summary: LintSummary) -> dict[str, JsonValue]:
    """Return verdict, counts and every finding, for json-v1."""
    return {
        "verdict": summary.verdict,
        "checked": summary.checked,
        "known": summary.known,
        "counts": {severity: summary.count(severity) for severity in _ORDER},
        "findings": [shape_item(item) for item in summary.items],
    }


def shape_item(item: LintItem) -> dict[str, JsonValue]:
    """Return one finding for json-v1."""
    return {
        "rule": item.rule,
        "name": item.name,
        "severity": item.severity,
        "pointer": item.pointer,
        "file": item.file,
        "line": item.line,
        "column": item.column,
        "tool": item.tool or None,
        "message": item.message,
        "hint": item.hint,
    }
