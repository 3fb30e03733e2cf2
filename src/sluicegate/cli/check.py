"""``sluicegate check FOLDER``: load, fixtures, lint and versions, the one command for CI."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    DEFAULT_FOLDER,
    HUMAN,
    JSON_V1,
    choose_paint,
    choose_width,
    color_option,
    demand_folder,
    format_option,
    note,
    put_judged,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sluicegate.opening.fixtures import TriedFixture
    from sluicegate.opening.folder import FolderReport
    from sluicegate.opening.probing import Probed
    from sluicegate.opening.succession import Unraised
    from sluicegate.opening.unfit import Unfit
    from sluicegate.rendering.checking import Checked, CheckedFixture
    from sluicegate.rendering.linting import LintItem


@click.command()
@click.argument("folder", default=DEFAULT_FOLDER, metavar="[FOLDER]")
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@format_option(reports=True)
@color_option
def check(folder: str, no_python: bool, form: str, color: str) -> int:
    """Load every contract of FOLDER, climb every fixture through the real ladders, and lint.

    Wrong documents made of the accepted fixtures must be refused; `sluicegate test` tries all of
    them and tells more. Each version is held to its releases, as `sluicegate release` does. Exit 0
    all is well, 1 a fixture fails, a mutant is not refused at its rung, lint has an error, a
    version is not raised as its changes ask, an access row names what no contract has or no gate
    opens with `audit`, 3 there is no contract, 4 the folder does not load, 5 there is no such
    folder.
    """
    from sluicegate.cli.progress import tell_progress
    from sluicegate.opening.folder import check_folder
    from sluicegate.rendering.check_report import explain_rules, report_check
    from sluicegate.rendering.checking import render_check, render_check_github, shape_check

    demand_folder(folder, "`sluicegate init NAME` makes one")
    with tell_progress(f"checking {folder}"):
        checked = _as_checked(folder, check_folder(Path(folder), python=not no_python))
    for doubt in checked.notes if form in (HUMAN, JSON_V1) else ():
        note(doubt)
    put_judged(
        "check",
        form,
        human=lambda: render_check(checked, paint=choose_paint(color), width=choose_width()),
        github=lambda: render_check_github(checked),
        members=lambda: shape_check(checked),
        report=lambda: report_check(checked),
        rules=explain_rules,
    )
    if checked.contracts is None:
        return Exit.DOES_NOT_LOAD
    if not checked.contracts:
        return Exit.NOTHING_CHECKED
    return Exit.ACCEPTED if checked.verdict == "ok" else Exit.REJECTED


def _as_checked(folder: str, report: FolderReport) -> Checked:
    """Name every place as the person who typed FOLDER can open it."""
    from sluicegate.cli.lint import as_lint_item
    from sluicegate.rendering.checking import Checked

    loaded = report.contracts
    return Checked(
        folder=folder,
        contracts=None
        if loaded is None
        else {tool: contract.version for tool, contract in sorted(loaded.contracts.items())},
        digest=None if loaded is None else loaded.digest,
        problems=tuple(
            replace(problem, document=str(Path(folder, problem.document)))
            for problem in report.problems
        ),
        fixtures=tuple(as_checked_fixture(folder, result) for result in report.fixtures),
        notes=report.notes,
        lint=tuple(map(as_lint_item, report.lint)),
        versions=tuple(_as_item(folder, each) for each in report.unraised),
        settings=tuple(_as_fault(folder, each) for each in report.unfit),
        holes=tuple(item for probed in report.probes for item in _as_holes(folder, probed)),
        mutants=sum(probed.tried for probed in report.probes),
        cut=tuple(probed.tool for probed in report.probes if probed.is_cut),
    )


def _as_holes(folder: str, probed: Probed) -> Iterator[LintItem]:
    """Name each mutant that was not refused at its rung, as ``test`` does."""
    from sluicegate.cli.tested import as_survivor
    from sluicegate.opening.collecting import EQUIVALENTS, FIXTURES
    from sluicegate.rendering.check_report import MUTANT
    from sluicegate.rendering.linting import LintItem

    def item(message: str, hint: str, file: str, pointer: str) -> LintItem:
        return LintItem(
            rule=MUTANT,
            name="mutant-refused",
            severity="error",
            message=message,
            hint=hint,
            file=file,
            pointer=pointer,
            line=1,
            column=1,
            tool=probed.tool,
        )

    if probed.fault:
        file = Path(folder, probed.source).parent / FIXTURES / EQUIVALENTS
        yield item(probed.fault, "", str(file), "")
    for hole in probed.holes:
        survivor = as_survivor(folder, probed.tool, hole)
        yield item(
            f"{survivor.name}: {survivor.sentence}",
            survivor.hint or f"sluicegate test {folder} --tool {probed.tool}",
            survivor.file,
            survivor.pointer,
        )


def _as_fault(folder: str, unfit: Unfit) -> LintItem:
    from sluicegate.rendering.check_report import ACCESS, AUDIT
    from sluicegate.rendering.linting import LintItem

    rule, name = {"access": (ACCESS, "row-allows"), "audit": (AUDIT, "gate-opens")}[unfit.part]
    problem = unfit.problem
    return LintItem(
        rule=rule,
        name=name,
        severity="error",
        message=problem.message,
        hint=problem.mend,
        file=str(Path(folder, problem.document)),
        pointer=problem.pointer,
        line=problem.line,
        column=problem.column,
        tool="",
    )


def _as_item(folder: str, unraised: Unraised) -> LintItem:
    from sluicegate.contracts.marks import Document
    from sluicegate.contracts.yaml_reading import read_document
    from sluicegate.rendering.check_report import VERSION
    from sluicegate.rendering.linting import LintItem

    path = Path(folder, unraised.source)
    document = read_document(str(path), path.read_bytes())
    marks = document.marks.of_key("/version") if isinstance(document, Document) else None
    line, column = marks or (None, None)
    return LintItem(
        rule=VERSION,
        name="version-raised",
        severity="error",
        message=unraised.message,
        hint="Raise `version`, or take the change back.",
        file=str(path),
        pointer="/version",
        line=line,
        column=column,
        tool=unraised.tool,
    )


def as_checked_fixture(folder: str, result: TriedFixture) -> CheckedFixture:
    """Return one fixture with its file's bytes, where there is something to show in them."""
    from sluicegate.rendering.checking import CheckedFixture
    from sluicegate.rendering.places import Source

    path = Path(folder, result.path)
    raw = None
    if not result.ok and path.is_file():
        raw = path.read_bytes()
    return CheckedFixture(
        source=Source(name=str(path), raw=raw),
        expected=result.expected,
        verdict=result.verdict,
        ok=result.ok,
        note=result.note,
    )
