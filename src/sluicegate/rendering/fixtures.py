"""Fixtures that were climbed, as items of a report and as members of a json-v1 object."""

from __future__ import annotations

from dataclasses import dataclass

from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.json_v1 import shape_verdict
from sluicegate.rendering.places import Source, place_findings
from sluicegate.rendering.reports import Item, column_in_characters, length_in_characters
from sluicegate.rendering.rule_help import FIXTURE
from sluicegate.rendering.spans import Span
from sluicegate.rendering.terminal import how_to_explain, spell_expectation
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFixture:
    """One fixture and what became of it; ``note`` says why it is not ``ok``.

    ``verdict`` is None where no rung judged it: it cannot be read, or is none.
    """

    source: Source
    expected: str
    verdict: Verdict | None
    ok: bool
    note: str
    tool: str = ""


def item_of_fixture(fixture: CheckedFixture, *, kind: str | None = None) -> Item:
    """Return one fixture that did not come out as expected; its findings are the causes.

    ``kind`` says which kind of failure it is, where that is told.
    """
    verdict, source = fixture.verdict, fixture.source
    findings = () if verdict is None or verdict.accepted else verdict.findings
    spans = place_findings(source, findings)
    causes = tuple(
        _cause(finding, span, source) for finding, span in zip(findings, spans, strict=True)
    )
    first = causes[0] if causes else None
    return Item(
        rule=FIXTURE.id,
        name=FIXTURE.name,
        severity="error",
        message=f"{fixture.note} ({kind} failure)" if kind else fixture.note,
        file=source.name,
        pointer="" if first is None else first.pointer,
        line=None if first is None else first.line,
        column=None if first is None else first.column,
        length=1 if first is None else first.length,
        tool=fixture.tool,
        group=source.name,
        family=fixture.note,
        causes=causes,
        part="",
    )


def _cause(finding: Finding, span: Span | None, source: Source) -> Item:
    raw = source.raw
    placed = span if raw is not None else None
    return Item(
        rule=str(finding.code),
        name="",
        severity="error",
        message=spell_expectation(finding),
        file=source.name,
        pointer=finding.pointer,
        line=finding.line if placed is None else placed.line,
        column=finding.column
        if placed is None or raw is None
        else column_in_characters(raw, placed),
        length=1 if placed is None or raw is None else length_in_characters(raw, placed),
        hint=finding.hint or "",
        way_on=_lead_on(finding),
        part="",
    )


def _lead_on(finding: Finding) -> str:
    rule = "" if finding.schema_pointer is None else f"rule {finding.schema_pointer or '/'}   "
    return rule + how_to_explain(finding.code)


def shape_fixture(fixture: CheckedFixture) -> dict[str, JsonValue]:
    """Return one fixture with its verdict; what was not judged has null for each of its members."""
    verdict: dict[str, JsonValue] = (
        {"verdict": None, "stage": None, "code": None, "findings": [], "digest": None}
        if fixture.verdict is None
        else shape_verdict(fixture.verdict, fixture.source)
    )
    return {
        "path": fixture.source.name,
        "expected": fixture.expected,
        "ok": fixture.ok,
        "note": fixture.note,
        **verdict,
    }
