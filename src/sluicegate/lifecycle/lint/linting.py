"""Lint of one schema: every rule of the table, the profile, the suppressions (SPEC LIF-1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.schemas.composition import CompositionTooLargeError
from sluicegate.lifecycle.lint.findings import Hit, LintFinding, Rule, Severity
from sluicegate.lifecycle.lint.matching import FEWER_PATTERNS
from sluicegate.lifecycle.lint.sets import Decide, conclude, inquire
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.lint.subject import SideName, Subject
from sluicegate.lifecycle.lint.suppressions import apply_suppressions
from sluicegate.lifecycle.lint.table import RULES
from sluicegate.values.pointers import Pointer, join_segments

Profile: TypeAlias = Literal["strict-result", "strict-arguments", "imported"]

PROFILES: Final[tuple[Profile, ...]] = ("strict-result", "strict-arguments", "imported")

APPLIED: Final = "Applied by the gate: import closes and bounds what others published."


def lint(
    subjects: Sequence[Subject], *, decide: Decide, today: date, profile: Profile | None = None
) -> tuple[tuple[LintFinding, ...], ...]:
    """Return what the rules find in each schema, also in one that would not load.

    ``decide`` answers questions about sets of values, under limits. ``profile`` None: the strict
    one of the subject's side; ``imported`` makes findings about objects and bounds information.
    ``today`` is the day by which suppressions expire. Each finding once, in the order of the
    table; never raises for what the subjects hold.
    """
    sheets = [Sheet(subject) for subject in subjects]
    asked = [inquire(sheet) for sheet in sheets]
    answers = decide([inquiry for inquiry, _ in asked])
    return tuple(
        _judge(sheet, (*_find(sheet, side), *conclude(sheet, about, told)), side, today, profile)
        for sheet, (_, about), told in zip(sheets, asked, answers, strict=True)
        for side in (_side_of(sheet.subject, profile),)
    )


def find_errors(subject: Subject) -> tuple[LintFinding, ...]:
    """Return the errors that the schema shows by itself: no question about sets is decided."""
    sheet = Sheet(subject)
    found = _as_findings(sheet, _find(sheet, subject.side), subject.side)
    return tuple(finding for finding in found if finding.severity == "error")


def _judge(
    sheet: Sheet,
    hits: Iterable[tuple[str, Hit]],
    side: SideName,
    today: date,
    profile: Profile | None,
) -> tuple[LintFinding, ...]:
    known = {rule.id: rule.name for rule in RULES.values()}
    silenced = apply_suppressions(sheet, _as_findings(sheet, hits, side), today, known)
    findings = (*silenced.findings, *_as_findings(sheet, silenced.hits, side))
    if profile == "imported":
        findings = tuple(map(_soften, findings))
    order = {name: index for index, name in enumerate(RULES)}
    return tuple(sorted(findings, key=lambda found: order[found.rule]))


def _side_of(subject: Subject, profile: Profile | None) -> SideName:
    """A profile that names a side sets the severities; what is read stays the subject's side."""
    if profile == "strict-arguments":
        return "arguments"
    return "result" if profile == "strict-result" else subject.side


def _find(sheet: Sheet, side: SideName) -> Iterator[tuple[str, Hit]]:
    is_sound = sheet.is_schema and not sheet.form
    for rule in RULES.values():
        if rule.check is None or rule.severity(side) is None:
            continue
        if is_sound or rule.any_form:
            yield from ((rule.id, hit) for hit in _run(rule, sheet))
    if is_sound and sheet.is_too_large:
        yield "S01", _tell_too_large(sheet)


def _tell_too_large(sheet: Sheet) -> Hit:
    if sheet.is_overmatched:
        return Hit(
            "",
            "it has too many member names and patterns to match each with each, so not all of it "
            "was judged.",
            FEWER_PATTERNS,
        )
    return Hit("", "composed, the schema describes too many places to judge them all.")


def _run(rule: Rule, sheet: Sheet) -> Iterator[Hit]:
    """A schema too large to compose is told once, as S01."""
    try:
        if rule.check is not None:
            yield from rule.check(sheet)
    except (CompositionTooLargeError, RecursionError) as error:
        sheet.give_up(error)


def _as_findings(
    sheet: Sheet, hits: Iterable[tuple[str, Hit]], side: SideName
) -> tuple[LintFinding, ...]:
    found: dict[tuple[str, str, str], LintFinding] = {}
    for name, hit in hits:
        rule = RULES[name]
        severity: Severity | None = rule.severity(side)
        if severity is not None:
            finding = _homed(sheet, rule.finding(hit, severity))
            found.setdefault((name, finding.pointer, finding.message), finding)
    return tuple(found.values())


def _homed(sheet: Sheet, finding: LintFinding) -> LintFinding:
    """Lead a finding in what was taken from another document back to where it was written."""
    segments = Pointer.parse(finding.pointer).segments
    origin = sheet.origins.get(segments[1]) if segments[:1] == ("$defs",) and segments[1:] else None
    if origin is None:
        return finding
    document, at = origin
    return replace(finding, pointer=join_segments((*at, *segments[2:])), resource=document)


def _soften(finding: LintFinding) -> LintFinding:
    if finding.rule[0] not in "CB":
        return finding
    return replace(finding, severity="info", hint=APPLIED)
