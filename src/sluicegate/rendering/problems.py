"""What is wrong in a contract folder as items of a report."""

from __future__ import annotations

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.json_v1 import shape_problem
from sluicegate.rendering.reports import Item
from sluicegate.rendering.terminal import how_to_explain


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
        discreet=problem.discreet,
        hint=problem.mend,
        way_on=how_to_explain(problem.code),
        family=problem.message,
        part="problems",
        detail=shape_problem(problem),
    )
