"""Reports that the tests of every reader share."""

from __future__ import annotations

from dataclasses import replace

from sluicegate.rendering.reports import Item, Report

RAW = '{\n "ü": "é", "b": {}\n}'.encode()

OPEN = Item(
    rule="C01",
    name="open-object",
    severity="error",
    message="The object takes any member.",
    file="contracts/a b.json",
    pointer="/b",
    line=2,
    column=12,
    why="What nobody declared reaches the agent.",
    hint="Write additionalProperties: false.",
    group="a b.json",
)
WIDE = replace(
    OPEN, rule="C09", name="wide", severity="warning", count=3, line=None, column=None, why=""
)
REMARK = replace(WIDE, rule="C10", severity="info", file="", pointer="", count=1, group="")
CAUSE = replace(
    OPEN, rule="ENUM", name="", message="expected one of: 1, 2", why="", hint="did you mean 1"
)
FAILING = replace(
    OPEN,
    rule="FIXTURE",
    name="as-expected",
    message="was rejected",
    why="",
    hint="",
    causes=(
        replace(CAUSE, length=3),
        replace(CAUSE, rule="TYPE", message="", hint="", pointer="", line=None),
    ),
)


def report(*items: Item, checked: int = 2, cases: tuple[str, ...] = ()) -> Report:
    return Report(
        command="lint",
        verdict="findings" if items else "clean",
        items=items,
        checked=checked,
        summary=f"{checked} schemas",
        facts={"profile": "strict"},
        cases=cases,
    )
