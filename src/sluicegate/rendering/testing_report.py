"""What ``test`` found as the one report that SARIF and JUnit are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sluicegate.rendering.check_report import FIXTURE, item_of_fixture, item_of_problem
from sluicegate.rendering.pages import read_page
from sluicegate.rendering.reports import Item, Report, RuleHelp
from sluicegate.rendering.testing import ContractScore, Survivor, Tested
from sluicegate.values.codes import CODES, Code

MUTANT: Final = "MUTANT"
_FIXTURE_TEXT: Final = "A fixture must come out of the real ladders as it says."
_MUTANT_TEXT: Final = "A wrong document made of an accepted one must be refused at its rung."


def report_test(tested: Tested) -> Report:
    """Return problems, failing fixtures and survivors as items; fixtures and sides are cases.

    A survivor is an error where its contract is below the least score, else a warning.
    """
    sides = [
        _case(each.tool, side) for each in tested.contracts or () for side in sorted(each.sides)
    ]
    fixtures = [fixture.source.name for fixture in tested.fixtures]
    mutants = sum(side.mutants for each in tested.contracts or () for side in each.sides.values())
    return Report(
        command="test",
        verdict=tested.verdict,
        items=tuple(_items(tested)),
        checked=len(fixtures) + mutants,
        facts={"min_score": tested.min_score},
        cases=(*fixtures, *sides),
    )


def explain_test_rules(report: Report) -> tuple[RuleHelp, ...]:
    """Return what can be told of each rule that an item of the report bears."""
    return tuple(_explain(rule) for rule in sorted({item.rule for item in report.items}))


def _explain(rule: str) -> RuleHelp:
    if rule == FIXTURE:
        return RuleHelp(id=rule, name="fixture-as-expected", text=_FIXTURE_TEXT)
    if rule in CODES:
        code = Code(rule)
        name = rule.lower().replace("_", "-")
        return RuleHelp(id=rule, name=name, text=CODES[code].summary, page=read_page(code))
    return RuleHelp(id=rule, name="mutant-refused", text=_MUTANT_TEXT)


def _case(tool: str, side: str) -> str:
    return f"mutants of {tool} {side}"


def _items(tested: Tested) -> Iterator[Item]:
    yield from map(item_of_problem, tested.problems)
    yield from map(item_of_fixture, tested.failing)
    for contract in (*tested.cut, *tested.unproven):
        yield from _items_of_untried(contract, tested.folder)
    below = {each.tool for each in tested.below}
    for survivor in tested.survivors:
        yield _item_of_survivor(survivor, is_error=survivor.tool in below)


def _items_of_untried(contract: ContractScore, folder: str) -> Iterator[Item]:
    """What was not tried is no success of anything: an error at the folder."""
    for text in contract.untried or ("no mutant was tried: it has no accepted fixture",):
        yield Item(
            rule=MUTANT,
            name=contract.tool,
            severity="error",
            message=text,
            file=folder,
            pointer="",
            line=1,
            column=1,
            hint="Add an accepted fixture; raise --max-mutants where a run was cut.",
            group=_case(contract.tool, min(contract.sides, default="result")),
        )


def _item_of_survivor(survivor: Survivor, *, is_error: bool) -> Item:
    return Item(
        rule=survivor.rule or MUTANT,
        name=survivor.name,
        severity="error" if is_error else "warning",
        message=survivor.sentence,
        file=survivor.file,
        pointer=survivor.pointer,
        line=1,
        column=1,
        hint=survivor.hint,
        group=_case(survivor.tool, survivor.name.partition(".")[0]),
    )
