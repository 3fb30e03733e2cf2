"""E11 and E12: what a contract that acts leaves open, told at the schema of its arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sluicegate.lifecycle.lint.findings import WORD, Example, Hit, Rule, shown
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.lint.subject import Surroundings
from sluicegate.values.names import show_name


def find_unnamed_resource(sheet: Sheet) -> Iterator[Hit]:
    """E11."""
    around = sheet.subject.around
    if around.is_destructive and not around.names_resource:
        yield Hit(
            "",
            "a destructive tool names no resource: who may call it may do it to everything.",
        )


def find_open_proofs(sheet: Sheet) -> Iterator[Hit]:
    """E12."""
    for tool in dict.fromkeys(sheet.subject.around.open_proofs):
        yield Hit("", f"a proof without `where` admits every state of {show_name(tool)}.")


_DESTRUCTIVE: Final = Surroundings(of_contract=True, is_destructive=True)
_PROVEN: Final = Surroundings(of_contract=True)


def _around(around: Surroundings) -> Example:
    return shown(WORD, "run_id", "arguments", around)


RULES: Final = (
    Rule(
        id="E11",
        name="no-resource",
        arguments="warning",
        result=None,
        what="A destructive contract without `arguments.resource`.",
        why="Access is then asked about the tool alone: who may call it may do it to everything.",
        mend="Name what it acts on, as `resource: [{type: run, id: /run_id}]`.",
        good=_around(replace(_DESTRUCTIVE, names_resource=True)),
        bad=_around(_DESTRUCTIVE),
        check=find_unnamed_resource,
    ),
    Rule(
        id="E12",
        name="open-proof",
        arguments="warning",
        result=None,
        what="A proof of `evidence` without `where`.",
        why="It shows that somebody looked, not what there was to see: every state admits the act.",
        mend="Write the state that admits it, as `where: {/state: failed}`.",
        good=_around(_PROVEN),
        bad=_around(replace(_PROVEN, open_proofs=("job_status",))),
        check=find_open_proofs,
    ),
)
