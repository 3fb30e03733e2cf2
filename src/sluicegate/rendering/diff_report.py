"""What ``diff`` found as the one report that SARIF and JUnit are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sluicegate.rendering.change_pages import read_change_page
from sluicegate.rendering.check_report import item_of_problem
from sluicegate.rendering.diffing import ShownChange, ShownDiff, describe_change, say_version
from sluicegate.rendering.reports import Item, Report, RuleHelp

WAIVER: Final = "idle-waiver"
_OWN_RULES: Final = {
    "not-bumped": "The declared version is the old one, and something changed.",
    "under-bumped": "The declared version says less than what changed.",
    "decreased": "The declared version is lower than the old one.",
    WAIVER: "A waiver that waives nothing.",
}


def report_diff(shown: ShownDiff) -> Report:
    """Return changes, versions, idle waivers and problems as items.

    What breaks and is not waived is an error, what needs a replay first a warning.
    """
    return Report(
        command="diff",
        verdict="does-not-load" if shown.verdict is None else shown.verdict,
        items=tuple(_items(shown)),
        checked=shown.tools,
        facts={"bump": None if shown.verdict is None else shown.bump},
    )


def explain_diff_rules(report: Report) -> tuple[RuleHelp, ...]:
    """Return what can be told of each kind of change that an item of the report bears."""
    return tuple(map(_explain, sorted({item.rule for item in report.items})))


def _explain(rule: str) -> RuleHelp:
    page = read_change_page(rule)
    if page is None:
        return RuleHelp(id=rule, name=rule, text=_OWN_RULES.get(rule, rule))
    return RuleHelp(id=rule, name=rule, text=page.splitlines()[2], page=page)


def _items(shown: ShownDiff) -> Iterator[Item]:
    yield from map(item_of_problem, shown.problems)
    yield from map(_item_of_change, shown.changes)
    for version in shown.versions:
        yield Item(
            rule=version.fault,
            name=version.fault,
            severity="error",
            message=say_version(version),
            file=version.file,
            pointer="/version",
            line=None,
            column=None,
            group=version.tool,
        )
    for fingerprint, why in shown.idle:
        yield Item(
            rule=WAIVER,
            name=WAIVER,
            severity="warning",
            message=f"waiver {fingerprint} is {why}: remove it",
            file=shown.new,
            pointer="",
            line=None,
            column=None,
            fingerprint=fingerprint,
        )


def _item_of_change(change: ShownChange) -> Item:
    return Item(
        rule=change.kind,
        name=change.kind,
        severity="error" if change.breaks else "warning" if change.needs_replay else "info",
        message=describe_change(change),
        file=change.file,
        pointer=change.pointer,
        line=change.line,
        column=change.column,
        fingerprint=change.fingerprint,
        group=change.tool,
    )
