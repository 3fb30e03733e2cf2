"""For programs: ``json-v1``, one object a command, its members fixed (SPEC 14, LIF-5).

A member that is unknown is null, never absent. Members may be added to version 1; none is
renamed, removed or given another meaning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from sluicegate.contracts.problems import Problem
from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import AnchorReport, ChainReport
from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.escaping import escape_json
from sluicegate.rendering.places import Source, place_findings
from sluicegate.rendering.reports import SEVERITIES, Item, Report, fingerprint_item
from sluicegate.rendering.spans import Span
from sluicegate.values.codes import CodeEntry
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonObject, JsonValue


def render_object(command: str, members: JsonObject) -> str:
    """Return the one line of a command: ``format`` and ``command`` first, then ``members``."""
    return escape_json({"format": "json-v1", "command": command, **members}) + "\n"


def shape_report(report: Report) -> dict[str, JsonValue]:
    """Return the members of a report: verdict, its first part, its facts, its other parts, counts.

    What each command has ships as ``rendering/schemas/report.schema.json``.
    """
    first, *others = (
        {part: [shape_item(item) for item in report.items if item.part == part]}
        for part in report.parts
    )
    shaped: dict[str, JsonValue] = {"verdict": report.verdict, **first, **report.facts}
    for other in others:
        shaped.update(other)
    counts = {f"{severity}s": report.count(severity) for severity in SEVERITIES}
    return {**shaped, "checked": report.checked, **counts}


def shape_item(item: Item) -> dict[str, JsonValue]:
    """Return one item with the further members that its part has; what it does not have is null."""
    return {
        "rule": item.rule,
        "name": item.name,
        "severity": item.severity,
        "message": item.message,
        "why": item.why or None,
        "hint": item.hint or None,
        "tool": item.tool or None,
        "file": item.file or None,
        "pointer": item.pointer,
        "line": item.line,
        "column": item.column,
        "fingerprint": fingerprint_item(item),
        "count": item.count,
        "group": item.group or None,
        **item.detail,
    }


def shape_verdict(verdict: Verdict, source: Source) -> dict[str, JsonValue]:
    """Return verdict, stage, code, findings, digest; stage and code are null when accepted."""
    spans = place_findings(source, verdict.findings)
    return {
        "verdict": "accepted" if verdict.accepted else "rejected",
        "stage": None if verdict.stage is None else str(verdict.stage),
        "code": None if verdict.code is None else str(verdict.code),
        "findings": [
            shape_finding(finding, span)
            for finding, span in zip(verdict.findings, spans, strict=True)
        ],
        "digest": verdict.digest,
    }


def shape_finding(finding: Finding, span: Span | None) -> dict[str, JsonValue]:
    """Return a finding without any received value; ``line`` and ``column`` count from 1."""
    return {
        "code": str(finding.code),
        "pointer": finding.pointer,
        "schema_pointer": finding.schema_pointer,
        "keyword": finding.keyword,
        "expected": finding.expected,
        "hint": finding.hint,
        "line": finding.line if span is None else span.line,
        "column": finding.column if span is None else span.column,
    }


def shape_problem(problem: Problem) -> dict[str, JsonValue]:
    """Return one fault of a contract folder."""
    return {
        "code": str(problem.code),
        "document": problem.document,
        "line": problem.line,
        "column": problem.column,
        "pointer": problem.pointer,
        "message": problem.message,
        "mend": problem.mend,
    }


def shape_event(event: StoredEvent) -> dict[str, JsonValue]:
    """Return one event as it stands in the record, with its findings and detail as JSON."""
    shaped: dict[str, JsonValue] = {
        name: getattr(event, name) for name in StoredEvent.__dataclass_fields__
    }
    for member in ("findings", "masked", "detail"):
        shaped[member] = read_stored_json(str(shaped[member]))
    return shaped


def read_stored_json(text: str) -> JsonValue:
    """Return a JSON column of the record; null for a text that is none, which verify reports."""
    try:
        value: JsonValue = json.loads(text)
    except ValueError:
        return None
    return value


def shape_chain(report: ChainReport, anchor: AnchorReport | None = None) -> dict[str, JsonValue]:
    """Return the outcome of ``audit verify``; ``heads`` are those the record was held against.

    The verdict is ``broken`` where links or heads found it so, ``empty`` where no event was there
    to be checked, ``linked`` where links were compared without the keys, else ``intact``. The code
    is CHAIN_BROKEN, else that of the heads, or null.
    """
    whole = ("intact" if report.keyed else "linked") if report.events else "empty"
    heads = None if anchor is None else shape_anchor(anchor)
    is_broken = report.broken_at is not None or (anchor is not None and anchor.problem is not None)
    told = None if heads is None else heads["code"]
    return {
        "verdict": "broken" if is_broken else whole,
        "code": told if report.broken_at is None else "CHAIN_BROKEN",
        "events": report.events,
        "head": report.head,
        "broken_at": report.broken_at,
        "problem": report.problem,
        "heads": heads,
    }


def shape_anchor(report: AnchorReport) -> dict[str, JsonValue]:
    """Return how the record stands to its signed heads; the verdict is ``fits`` or ``broken``."""
    return {
        "verdict": "fits" if report.problem is None else "broken",
        "code": None if report.code is None else str(report.code),
        "heads": report.heads,
        "signed_seq": report.signed_seq,
        "signed_at": report.signed_at,
        "broken_at": report.broken_at,
        "problem": report.problem,
    }


def shape_code(entry: CodeEntry, page: str | None) -> dict[str, JsonValue]:
    """Return one row of the code table; ``page`` is its runbook, null in a list."""
    return {
        "code": str(entry.code),
        "stages": sorted(entry.stages),
        "side": str(entry.side),
        "actor": str(entry.actor),
        "agent_sees_before_dispatch": str(entry.before),
        "agent_sees_after_dispatch": str(entry.after),
        "retryable": entry.retryable,
        "summary": entry.summary,
        "page": page,
    }


def shape_events(events: Sequence[StoredEvent]) -> dict[str, JsonValue]:
    """Return a list of events and how many they are."""
    return {"count": len(events), "events": [shape_event(event) for event in events]}
