"""``sluicegate lint``: what a schema or a contract allows although nobody may have meant it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import HUMAN, color_option, format_option, note, put_report, stop

if TYPE_CHECKING:
    from sluicegate.lifecycle.lint.baseline import Entry
    from sluicegate.lifecycle.lint.linting import Profile
    from sluicegate.lifecycle.lint.subject import SideName
    from sluicegate.opening.linting import Linted, LintReport
    from sluicegate.rendering.reports import Item

_STALE_ENTRY = "L04"
_PROFILES = ("strict-result", "strict-arguments", "imported")


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option(
    "--side",
    type=click.Choice(["arguments", "result"]),
    help="What a bare schema is for; of a tool list, which schemas.",
)
@click.option(
    "--profile",
    type=click.Choice(_PROFILES),
    help="imported: objects and bounds are notes.  [default: the strict one of the side]",
)
@click.option("--baseline", metavar="FILE", help="Tell only what this file does not know.")
@click.option("--write-baseline", metavar="FILE", help="Write what is found to this file.")
@click.option(
    "--fail-on",
    type=click.Choice(["error", "warning"]),
    default="error",
    show_default=True,
    help="The least severity that makes the command fail.",
)
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@format_option(reports=True)
@color_option
def lint(
    *,
    paths: tuple[str, ...],
    side: str | None,
    profile: str | None,
    baseline: str | None,
    write_baseline: str | None,
    fail_on: str,
    no_python: bool,
    form: str,
    color: str,
) -> int:
    """Judge schemas by rules that a validator does not know.

    PATH is a contract folder, a bare schema (give --side), or an MCP tool list. Exit 0 clean, or
    nothing as severe as --fail-on; 1 findings; 3 there is no schema; 4 a document is not JSON or
    YAML; 5 a path cannot be read.
    """
    from sluicegate.cli.progress import tell_progress
    from sluicegate.opening.linting import lint_paths, subtract_baseline
    from sluicegate.rendering.linting import report_lint

    known = _read_known(baseline)
    with tell_progress("linting"):
        report = lint_paths(
            [Path(path) for path in paths],
            side=cast("SideName | None", side),
            profile=cast("Profile | None", profile),
            python=not no_python,
            today=times.now().date(),
        )
    for problem in report.unreadable:
        note(f"{problem.document} {problem.message.removeprefix('The file ').rstrip('.')}")
    whole = not report.unreadable and not report.problems
    if write_baseline is not None:
        _write(write_baseline, report)
        known |= {linted.entry for linted in report.findings}
    told = subtract_baseline(report, known, baseline or "", whole=whole and baseline is not None)
    items = tuple(map(as_lint_item, told.findings))
    failing = ("error", "warning") if fail_on == "warning" else ("error",)
    stale = sum(item.rule == _STALE_ENTRY for item in items)
    failed = any(item.severity in failing for item in items)
    found = report_lint(
        items,
        checked=report.checked,
        known=len(report.findings) - (len(items) - stale),
        failed=failed,
        problems=(*(() if form == HUMAN else report.unreadable), *report.problems),
    )
    put_report(found, form, color)
    return _exit_of(report, failed=failed)


def _exit_of(report: LintReport, *, failed: bool) -> Exit:
    if report.unreadable:
        return Exit.UNREADABLE
    if report.problems:
        return Exit.DOES_NOT_LOAD
    if not report.checked:
        return Exit.NOTHING_CHECKED
    return Exit.REJECTED if failed else Exit.ACCEPTED


def _read_known(path: str | None) -> frozenset[Entry]:
    from sluicegate.cli.reading import read_input
    from sluicegate.lifecycle.lint.baseline import read_baseline

    if path is None:
        return frozenset()
    known = read_baseline(read_input(path, 1 << 24))
    if isinstance(known, str):
        stop(Exit.UNREADABLE, f"{path} is no baseline: it {known}")
    return known


def _write(path: str, report: LintReport) -> None:
    """Write the baseline whole or not at all; through a link, and into what is no plain file."""
    from sluicegate.lifecycle.lint.baseline import write_baseline
    from sluicegate.stores.whole_files import replace_file

    content = write_baseline(linted.entry for linted in report.findings).encode()
    target = Path(path).resolve()
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(content)
        else:
            replace_file(target, content)
    except OSError as error:
        stop(Exit.USAGE, f"{path} cannot be written: {error.strerror}")


def as_lint_item(linted: Linted, *, part: str = "findings", group: str = "") -> Item:
    """Return a finding as its readers are told it; ``group`` is the test case it belongs to."""
    from sluicegate.rendering.reports import Item

    return Item(
        rule=linted.finding.rule,
        name=linted.finding.name,
        severity=linted.finding.severity,
        message=linted.finding.message,
        hint=linted.finding.hint,
        file=linted.file,
        pointer=linted.pointer,
        line=linted.line,
        column=linted.column,
        tool=linted.owner,
        group=group,
        part=part,
    )
