"""What ``check`` found in a folder, for each of its readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluicegate.contracts.problems import Problem
from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.github import command, describe, render_problems_github
from sluicegate.rendering.json_v1 import shape_problem, shape_verdict
from sluicegate.rendering.linting import (
    LintItem,
    render_items,
    render_items_github,
    shape_item,
)
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.places import Source, place_findings
from sluicegate.rendering.terminal import DEFAULT_WIDTH, render_findings, render_problems
from sluicegate.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFixture:
    """One fixture and what became of it; ``note`` says why it is not ``ok``."""

    source: Source
    expected: str
    verdict: Verdict
    ok: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found. ``contracts`` maps each tool to its version; None: it does not load.

    ``notes`` say what loads and yet is hardly meant; ``lint`` are errors of lint; ``versions``
    are those that do not say what changed since their releases, ``holes`` the mutants that were
    not refused where they must be, ``settings`` what sluicegate.yaml says and cannot mean, all in
    the form of lint. ``mutants`` were tried; ``cut`` are the tools of which there are more.
    """

    folder: str
    contracts: Mapping[str, str] | None
    digest: str | None
    problems: tuple[Problem, ...]
    fixtures: tuple[CheckedFixture, ...]
    notes: tuple[str, ...] = ()
    lint: tuple[LintItem, ...] = ()
    versions: tuple[LintItem, ...] = ()
    holes: tuple[LintItem, ...] = ()
    settings: tuple[LintItem, ...] = ()
    mutants: int = 0
    cut: tuple[str, ...] = ()

    @property
    def found(self) -> tuple[LintItem, ...]:
        """Whatever fails the check and is no fixture."""
        return (*self.settings, *self.lint, *self.holes, *self.versions)

    @property
    def failing(self) -> tuple[CheckedFixture, ...]:
        """The fixtures that did not come out as expected."""
        return tuple(fixture for fixture in self.fixtures if not fixture.ok)

    @property
    def verdict(self) -> str:
        """``does-not-load``, ``nothing-checked``, ``fails`` or ``ok``."""
        if self.contracts is None:
            return "does-not-load"
        if not self.contracts:
            return "nothing-checked"
        return "fails" if self.failing or self.found else "ok"


def render_check(checked: Checked, *, paint: Paint = PLAIN, width: int = DEFAULT_WIDTH) -> str:
    """Return problems or failing fixtures, each with its place, and one line of summary."""
    if checked.contracts is None:
        count = len(checked.problems)
        return (
            render_problems(checked.problems, paint=paint)
            + f"\n{paint.bad('DOES NOT LOAD')}: {count_of(count, 'problem')}"
            + f" in {escape_terminal(checked.folder)}; nothing of it is served\n"
        )
    blocks = [render_failing(each, paint=paint, width=width) for each in checked.failing]
    blocks += render_items(checked.found, paint=paint)
    return "\n".join([*blocks, _summary(checked, checked.contracts, paint)])


def render_failing(fixture: CheckedFixture, *, paint: Paint, width: int) -> str:
    """Return one failing fixture: its note, and its findings with their places."""
    name = escape_terminal(fixture.source.name)
    head = f"{paint.place(name)}: {paint.bad('FAILS')}: {escape_terminal(fixture.note)}\n"
    if fixture.verdict.accepted or not fixture.verdict.findings:
        return head
    return head + render_findings(
        fixture.verdict.findings, fixture.source, paint=paint, width=width
    )


def _summary(checked: Checked, contracts: Mapping[str, str], paint: Paint) -> str:
    if not contracts:
        return (
            f"{paint.warn('NOTHING CHECKED')}: no contract in {escape_terminal(checked.folder)}\n"
        )
    failing = len(checked.failing)
    passing = len(checked.fixtures) - failing
    verdict = paint.good("OK") if checked.verdict == "ok" else paint.bad("FAILS")
    counts = f"{count_of(len(contracts), 'contract')}, {count_of(passing, 'fixture')} as expected"
    if failing:
        counts += f", {failing} not"
    if checked.mutants:
        counts += f", {count_of(checked.mutants, 'mutant')}{' and not all' if checked.cut else ''}"
    if checked.holes:
        counts += f", {count_of(len(checked.holes), 'hole')}"
    if checked.settings:
        counts += f", {count_of(len(checked.settings), 'error')} of settings"
    if checked.lint:
        counts += f", {count_of(len(checked.lint), 'error')} of lint"
    if checked.versions:
        counts += f", {count_of(len(checked.versions), 'version')} to raise"
    return f"{verdict}: {counts}  {paint.dim(checked.digest or '')}".rstrip() + "\n"


def count_of(number: int, noun: str) -> str:
    """Return ``number`` with its noun: ``1 mutant``, ``2 mutants``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def render_check_github(checked: Checked) -> str:
    """Return one ``::error`` a problem or failing fixture, a warning a note, and the counts."""
    failing = "".join(render_failing_github(fixture) for fixture in checked.failing)
    text = render_check(checked).strip().splitlines()[-1]
    doubts = "".join(command("warning", doubt, title="check") for doubt in checked.notes)
    found = render_items_github(checked.found) + doubts
    return render_problems_github(checked.problems) + failing + found + command("notice", text)


def render_failing_github(fixture: CheckedFixture) -> str:
    """Return one failing fixture as one ``::error`` command at its first finding."""
    span = next(iter(place_findings(fixture.source, fixture.verdict.findings)), None)
    findings = () if fixture.verdict.accepted else fixture.verdict.findings
    return command(
        "error",
        "\n".join([fixture.note, *map(describe, findings)]),
        file=fixture.source.name,
        line=1 if span is None else span.line,
        column=None if span is None else span.column,
        title="fixture",
    )


def shape_check(checked: Checked) -> dict[str, JsonValue]:
    """Return verdict, contracts, problems, fixtures and the digest of the set."""
    return {
        "verdict": checked.verdict,
        "digest": checked.digest,
        "contracts": None if checked.contracts is None else dict(checked.contracts),
        "notes": list(checked.notes),
        "problems": [shape_problem(problem) for problem in checked.problems],
        "settings": [shape_item(item) for item in checked.settings],
        "lint": [shape_item(item) for item in checked.lint],
        "versions": [shape_item(item) for item in checked.versions],
        "mutants": {"tried": checked.mutants, "cut": list(checked.cut)},
        "holes": [shape_item(item) for item in checked.holes],
        "fixtures": [shape_fixture(fixture) for fixture in checked.fixtures],
    }


def shape_fixture(fixture: CheckedFixture) -> dict[str, JsonValue]:
    """Return one fixture with its verdict."""
    return {
        "path": fixture.source.name,
        "expected": fixture.expected,
        "ok": fixture.ok,
        "note": fixture.note,
        **shape_verdict(fixture.verdict, fixture.source),
    }
