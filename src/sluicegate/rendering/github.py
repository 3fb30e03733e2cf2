"""For GitHub's workflow log: one ``::error`` command a finding, escaped so that it stays one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.escaping import escape_github_message, escape_github_property
from sluicegate.rendering.places import Source, place_findings
from sluicegate.rendering.reports import (
    Item,
    Report,
    Severity,
    show_pointer,
    tell_item,
    title_item,
)
from sluicegate.values.findings import Finding

_LEVELS: Final[Mapping[Severity, str]] = MappingProxyType(
    {"error": "error", "warning": "warning", "info": "notice"}
)


def render_report_github(report: Report) -> str:
    """Return one workflow command an item, and the summary as a notice."""
    found = "".join(_item_command(item) for item in report.items)
    return found + command("notice", f"{report.word}: {report.summary}", title=report.command)


def _item_command(item: Item) -> str:
    at = [f"at {show_pointer(item.pointer)}"] if item.pointer and not item.causes else []
    return command(
        _LEVELS[item.severity],
        "\n".join([*tell_item(item), *at]),
        file=item.file or None,
        line=item.line,
        column=item.column,
        title=title_item(item),
    )


def render_verdict_github(verdict: Verdict, source: Source) -> str:
    """Return one command a finding; a notice when the verdict is accepted."""
    if verdict.accepted:
        return command("notice", f"accepted {verdict.digest}", file=source.name)
    return "".join(
        command(
            "error",
            describe(finding),
            file=source.name,
            line=finding.line if span is None else span.line,
            column=finding.column if span is None else span.column,
            title=str(finding.code),
        )
        for finding, span in zip(
            verdict.findings, place_findings(source, verdict.findings), strict=True
        )
    )


def describe(finding: Finding) -> str:
    """Return a finding in one sentence: place, expectation, hint."""
    parts = [f"at {finding.pointer or 'the whole document'}"]
    if finding.expected is not None:
        parts.append(f"expected {finding.expected}")
    if finding.received is not None:
        parts.append(f"received {finding.received}")
    text = ", ".join(parts)
    return text if finding.hint is None else f"{text}. {finding.hint}"


def command(
    level: str,
    message: str,
    *,
    file: str | None = None,
    line: int | None = None,
    column: int | None = None,
    title: str | None = None,
) -> str:
    """Return one workflow command and its line feed. Source: GitHub docs, workflow commands."""
    properties = {"file": file, "line": line, "col": column, "title": title}
    shown = ",".join(
        f"{name}={escape_github_property(str(value))}"
        for name, value in properties.items()
        if value is not None
    )
    return f"::{level}{' ' if shown else ''}{shown}::{escape_github_message(message)}\n"
