"""``sluicegate test FOLDER``: fixtures, and mutants of them, through the real ladders."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    DEFAULT_FOLDER,
    color_option,
    demand_folder,
    format_option,
    note,
    put_report,
    stop,
)
from sluicegate.cli.tested import as_tested

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
@click.option(
    "--max-mutants",
    "most",
    type=click.IntRange(1, 1_000_000),
    help="Mutants of one level of one fixture; a run that is cut fails.  [default: 20000]",
)
@click.option("--watch", is_flag=True, help="Test again whenever a file changes, until Ctrl-C.")
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@format_option(reports=True)
@color_option
def test(
    folder: str,
    tool: str | None,
    min_score: float,
    most: int | None,
    watch: bool,
    no_python: bool,
    form: str,
    color: str,
) -> int:
    """Climb the fixtures of FOLDER, then wrong documents made of the accepted ones.

    Each mutant must be refused at the rung that it is made for. Those that are not are named with
    the lint rule that would close the hole; `fixtures/equivalents.yaml` may declare five of a
    contract to be no other answer.

    Exit 0 all is well, 1 a fixture fails, a side has no accepted one, a score is too low or not
    all mutants were tried, 3 there is no fixture or no mutant of a contract, 4 the folder does not
    load, 5 there is none.
    """
    from sluicegate.cli.progress import tell_progress
    from sluicegate.opening.testing_contracts import MAX_MUTANTS, probe_folder
    from sluicegate.rendering.testing import report_test

    demand_folder(folder, "`sluicegate init NAME` makes one")
    if watch:
        given = ["--min-score", str(min_score), "--format", form, "--color", color]
        given += ["--tool", tool] if tool is not None else []
        given += ["--max-mutants", str(most)] if most is not None else []
        return _watch(folder, [*given, "--no-python"] if no_python else given)
    with tell_progress(f"testing {folder}") as progress:
        probe = probe_folder(
            Path(folder),
            python=not no_python,
            tool=tool,
            most=most or MAX_MUTANTS,
            tell=progress.tell,
        )
    if tool is not None and probe.contracts == ():
        stop(Exit.USAGE, f"no contract in {folder} serves a tool {tool!r}")
    tested = as_tested(folder, probe, min_score)
    put_report(report_test(tested), form, color)
    return _EXITS[tested.verdict]


def _watch(folder: str, given: list[str]) -> int:
    """Test again in a process of its own at each change: a module is imported once a process."""
    from sluicegate.opening.watching import list_watched, stamp_files, wait_for_change

    command = [sys.executable, "-P", "-c", "from sluicegate.cli.main import main; main()"]
    path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
    try:
        while True:
            places = list_watched(Path(folder))
            seen = stamp_files(*places)
            subprocess.run(  # noqa: S603  (our own command, by our own interpreter)
                [*command, "test", *given, "--", folder],
                env={**os.environ, "PYTHONPATH": path},
                check=False,
            )
            note(f"watching {folder}; Ctrl-C ends it")
            wait_for_change(places, seen, time.sleep)
    except KeyboardInterrupt:
        return Exit.ACCEPTED
