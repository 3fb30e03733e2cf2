"""What ``lint`` found as a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.counting import count_of
from sluicegate.rendering.problems import item_of_problem
from sluicegate.rendering.reports import SEVERITIES, Item, Report

FINDINGS: Final = "findings"
"""The member of the json-v1 object that lists what was found."""


def report_lint(
    items: Sequence[Item],
    *,
    checked: int,
    known: int,
    failed: bool,
    problems: Sequence[Problem] = (),
) -> Report:
    """Return the report: ``checked`` schemas were judged, ``known`` findings were left out.

    ``problems`` kept documents from being judged. ``failed`` says whether there is a finding for
    which the command fails. The schemas that were judged have no names, so there are no cases.
    """
    counts: dict[str, int] = {
        severity: sum(item.severity == severity for item in items) for severity in SEVERITIES
    }
    return Report(
        command="lint",
        verdict="does-not-load" if problems else _verdict(items, checked=checked, failed=failed),
        items=(*map(item_of_problem, problems), *items),
        checked=checked,
        summary=_summarize(counts, checked, known, len(problems)),
        parts=(FINDINGS, "problems"),
        facts={"known": known, "counts": {**counts}},
    )


def _verdict(items: Sequence[Item], *, checked: int, failed: bool) -> str:
    if not checked:
        return "nothing-checked"
    if not items:
        return "clean"
    return "findings" if failed else "passes"


def _summarize(counts: Mapping[str, int], checked: int, known: int, problems: int) -> str:
    if not checked:
        if problems:
            return f"{count_of(problems, 'problem')}; nothing was judged"
        return "there is no schema here"
    found = ", ".join(
        count_of(count, "note" if severity == "info" else severity)
        for severity, count in counts.items()
        if count
    )
    text = f"{count_of(checked, 'schema')}, {found or 'no findings'}"
    if problems:
        text += f"; {count_of(problems, 'problem')}, and what they concern was not judged"
    if known:
        text += f"; {known} known to the baseline"
    return f"{text}; `sluicegate explain RULE` tells more" if found else text
