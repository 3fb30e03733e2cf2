"""What ``check`` found as the one report that SARIF and JUnit are made of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.checking import Checked, CheckedFixture
from sluicegate.rendering.github import describe
from sluicegate.rendering.linting import LintItem, LintSummary
from sluicegate.rendering.pages import read_page
from sluicegate.rendering.places import place_findings
from sluicegate.rendering.reports import Item, Report, RuleHelp, column_in_characters
from sluicegate.rendering.rule_pages import read_rule_page
from sluicegate.values.codes import CODES, Code

FIXTURE: Final = "FIXTURE"
DOUBT: Final = "DOUBT"
VERSION: Final = "VERSION"
MUTANT: Final = "MUTANT"
ACCESS: Final = "ACCESS"
AUDIT: Final = "AUDIT"
_SETTINGS: Final = "sluicegate.yaml"
_OWN_RULES: Final = (
    RuleHelp(
        id=FIXTURE,
        name="fixture-as-expected",
        text="A fixture must come out of the real ladders as it says.",
    ),
    RuleHelp(
        id=MUTANT,
        name="mutant-refused",
        text="A wrong document made of an accepted one must be refused at its rung.",
    ),
    RuleHelp(
        id=VERSION,
        name="version-raised",
        text="A version must be raised as far as its changes since the releases ask.",
    ),
    RuleHelp(
        id=ACCESS,
        name="row-allows",
        text="An access row must name a tool and a resource type that a contract here has.",
    ),
    RuleHelp(
        id=AUDIT,
        name="gate-opens",
        text="A gate must open with the places that `audit` in sluicegate.yaml names.",
    ),
    RuleHelp(
        id=DOUBT,
        name="hardly-meant",
        text="The folder loads, and something in it is hardly meant.",
        severity="warning",
    ),
)


def report_check(checked: Checked) -> Report:
    """Return problems, failing fixtures and doubts as items; contracts and fixtures are cases."""
    contracts = [_case(tool) for tool in sorted(checked.contracts or {})]
    fixtures = [fixture.source.name for fixture in checked.fixtures]
    return Report(
        command="check",
        verdict=checked.verdict,
        items=tuple(_items(checked)),
        checked=len(contracts) + len(fixtures),
        facts={"digest": checked.digest},
        cases=(*contracts, *fixtures),
    )


def explain_rules(report: Report) -> tuple[RuleHelp, ...]:
    """Return what can be told of each rule that an item of the report bears."""
    own = {rule.id: rule for rule in _OWN_RULES}
    borne = sorted({item.rule for item in report.items})
    return tuple(own[rule] if rule in own else _explain(rule) for rule in borne)


def _explain(rule: str) -> RuleHelp:
    page = read_rule_page(rule)
    if page is not None:
        head, text = page.splitlines()[0], page.splitlines()[2]
        return RuleHelp(id=rule, name=head.split()[-1], text=text, page=page)
    code = Code(rule)
    return RuleHelp(
        id=str(code),
        name=str(code).lower().replace("_", "-"),
        text=CODES[code].summary,
        page=read_page(code),
    )


def _case(tool: str) -> str:
    return f"contract {tool}"


def _items(checked: Checked) -> Iterator[Item]:
    yield from map(item_of_problem, checked.problems)
    yield from map(item_of_fixture, checked.failing)
    yield from map(item_of_lint, checked.found)
    settings = str(Path(checked.folder, _SETTINGS))
    for doubt in checked.notes:
        yield Item(
            rule=DOUBT,
            name="hardly-meant",
            severity="warning",
            message=doubt,
            file=settings,
            pointer="",
            line=None,
            column=None,
            group="doubts",
        )


def item_of_lint(found: LintItem) -> Item:
    """Return one finding of lint."""
    return Item(
        rule=found.rule,
        name=found.name,
        severity=found.severity,
        message=found.message,
        file=found.file,
        pointer=found.pointer,
        line=found.line,
        column=found.column,
        hint=found.hint,
        group=_case(found.tool) if found.tool else "",
    )


def report_lint(summary: LintSummary) -> Report:
    """Return the findings of ``lint`` as items; the schemas that were judged have no names."""
    return Report(
        command="lint",
        verdict=summary.verdict,
        items=tuple(map(item_of_lint, summary.items)),
        checked=summary.checked,
        facts={},
    )


def item_of_problem(problem: Problem) -> Item:
    """Return one fault of a contract folder."""
    return Item(
        rule=str(problem.code),
        name="",
        severity="error",
        message=problem.message,
        file=problem.document,
        pointer=problem.pointer,
        line=problem.line,
        column=problem.column,
        hint=problem.mend,
    )


def item_of_fixture(fixture: CheckedFixture) -> Item:
    """Return one fixture that did not come out as expected."""
    source = fixture.source
    span = next(iter(place_findings(source, fixture.verdict.findings)), None)
    findings = () if fixture.verdict.accepted else fixture.verdict.findings
    return Item(
        rule=FIXTURE,
        name="fixture-as-expected",
        severity="error",
        message="\n".join([fixture.note, *map(describe, findings)]),
        file=source.name,
        pointer=findings[0].pointer if findings else "",
        line=None if span is None else span.line,
        column=None
        if span is None or source.raw is None
        else column_in_characters(source.raw, span),
        group=source.name,
    )
