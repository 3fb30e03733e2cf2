"""``sluicegate test FOLDER``: fixtures, and mutants of them, through the real ladders."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    DEFAULT_FOLDER,
    choose_paint,
    choose_width,
    color_option,
    demand_folder,
    format_option,
    note,
    put_judged,
    stop,
)
from sluicegate.cli.tested import as_tested

if TYPE_CHECKING:
    from sluicegate.rendering.testing import Tested

_EXITS = {
    "ok": Exit.ACCEPTED,
    "fails": Exit.REJECTED,
    "nothing-checked": Exit.NOTHING_CHECKED,
    "does-not-load": Exit.DOES_NOT_LOAD,
}


@click.command()
@click.argument("folder", default=DEFAULT_FOLDER, metavar="[FOLDER]")
@click.option("--tool", metavar="TOOL", help="Test this tool's contract alone.")
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="The least share of mutants that must be refused at their rung.",
)
@click.option("--watch", is_flag=True, help="Test again whenever a file changes, until Ctrl-C.")
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@format_option(reports=True)
@color_option
def test(
    folder: str,
    tool: str | None,
    min_score: float,
    watch: bool,
    no_python: bool,
    form: str,
    color: str,
) -> int:
    """Climb the fixtures of FOLDER, then wrong documents made of the accepted ones.

    Each mutant must be refused at the rung that it is made for. Those that are not are named with
    the lint rule that would close the hole; `fixtures/equivalents.yaml` may declare five of a
    contract to be no other answer.

    Exit 0 all is well, 1 a fixture fails or a score is too low, 3 there is no fixture, 4 the
    folder does not load, 5 there is no such folder.
    """
    from sluicegate.opening.watching import stamp_files, wait_for_change

    demand_folder(folder, "`sluicegate init NAME` makes one")
    if not watch:
        return _test(folder, tool, min_score, form, color, python=not no_python)
    try:
        while True:
            seen = stamp_files(Path(folder))
            _test(folder, tool, min_score, form, color, python=not no_python)
            note(f"watching {folder}; Ctrl-C ends it")
            wait_for_change(Path(folder), seen, time.sleep)
    except KeyboardInterrupt:
        return Exit.ACCEPTED


def _test(
    folder: str, tool: str | None, min_score: float, form: str, color: str, *, python: bool
) -> int:
    from sluicegate.cli.progress import tell_progress
    from sluicegate.opening.testing_contracts import probe_folder

    with tell_progress(f"testing {folder}"):
        probe = probe_folder(Path(folder), python=python, tool=tool)
    if tool is not None and probe.contracts == ():
        stop(Exit.USAGE, f"no contract in {folder} serves a tool {tool!r}")
    tested = as_tested(folder, probe, min_score)
    _put(tested, form, color)
    return _EXITS[tested.verdict]


def _put(tested: Tested, form: str, color: str) -> None:
    from sluicegate.rendering.testing import render_test, render_test_github, shape_test
    from sluicegate.rendering.testing_report import explain_test_rules, report_test

    put_judged(
        "test",
        form,
        human=lambda: render_test(tested, paint=choose_paint(color), width=choose_width()),
        github=lambda: render_test_github(tested),
        members=lambda: shape_test(tested),
        report=lambda: report_test(tested),
        rules=explain_test_rules,
    )
