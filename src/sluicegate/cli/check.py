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
    color_option,
    demand_folder,
    format_option,
    note,
    put_report,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sluicegate.contracts.problems import Problem
    from sluicegate.opening.checking import FolderReport
    from sluicegate.opening.fixtures import TriedFixture
    from sluicegate.opening.probing import Probed
    from sluicegate.opening.succession import Unraised
    from sluicegate.rendering.checking import Checked
    from sluicegate.rendering.fixtures import CheckedFixture
    from sluicegate.rendering.reports import Item


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
    version is not raised as its changes ask or keeps no name that went, an access row or `notify`
    names what no contract has, no gate opens with the settings, 3 there is no contract, 4 the
    folder does not load, 5 there is no such folder.
    """
    from sluicegate.cli.progress import tell_progress
    from sluicegate.opening.checking import check_folder
    from sluicegate.rendering.checking import report_check

    demand_folder(folder, "`sluicegate init NAME` makes one")
    with tell_progress(f"checking {folder}"):
        checked = _as_checked(folder, check_folder(Path(folder), python=not no_python))
    for told in (*checked.services, *checked.notes) if form in (HUMAN, JSON_V1) else ():
        note(told)
    put_report(report_check(checked, doubts=form not in (HUMAN, JSON_V1)), form, color)
    if checked.contracts is None:
        return Exit.DOES_NOT_LOAD
    if not checked.contracts:
        return Exit.NOTHING_CHECKED
    return Exit.ACCEPTED if checked.verdict == "ok" else Exit.REJECTED


def _as_checked(folder: str, report: FolderReport) -> Checked:
    """Name every place as the person who typed FOLDER can open it."""
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
        services=report.services,
        found=tuple(_found(folder, report)),
        mutants=sum(probed.tried for probed in report.probes),
        cut=tuple(probed.tool for probed in report.probes if probed.is_cut),
        lacking={probed.tool: probed.lacking for probed in report.probes if probed.lacking},
    )


def _found(folder: str, report: FolderReport) -> Iterator[Item]:
    """Yield whatever fails the check and is no fixture."""
    from sluicegate.cli.lint import as_lint_item
    from sluicegate.rendering.checking import LINT, case_of

    for problem in report.unfit:
        yield _item_of_unfit(folder, problem)
    for linted in report.lint:
        group = case_of(linted.owner) if linted.owner else ""
        yield as_lint_item(linted, part=LINT, group=group)
    for probed in report.probes:
        yield from _items_of_holes(folder, probed)
    for unraised in report.unraised:
        yield _item_of_unraised(folder, unraised)


def _items_of_holes(folder: str, probed: Probed) -> Iterator[Item]:
    """Name each mutant that was not refused at its rung, as ``test`` does."""
    from sluicegate.cli.tested import as_survivor
    from sluicegate.opening.collecting import EQUIVALENTS, FIXTURES
    from sluicegate.rendering.checking import HOLES, case_of
    from sluicegate.rendering.reports import Item
    from sluicegate.rendering.rule_help import MUTANT
    from sluicegate.rendering.testing import items_of_survivors

    for fault in probed.faults:
        file = Path(folder, probed.source).parent / FIXTURES / EQUIVALENTS
        yield Item(
            rule=MUTANT.id,
            name=MUTANT.name,
            severity="error",
            message=fault,
            file=str(file),
            pointer="",
            line=None,
            column=None,
            tool=probed.tool,
            group=case_of(probed.tool),
            family=fault,
            part=HOLES,
        )
    yield from items_of_survivors(
        [as_survivor(folder, probed.tool, hole) for hole in probed.holes],
        part=HOLES,
        group=case_of(probed.tool),
    )


def _item_of_unfit(folder: str, problem: Problem) -> Item:
    from sluicegate.rendering.checking import SETTINGS
    from sluicegate.rendering.reports import Item
    from sluicegate.rendering.rule_help import ACCESS, AUDIT, LIMITS, NOTIFY

    rules = {"access": ACCESS, "audit": AUDIT, "limits": LIMITS, "notify": NOTIFY}
    rule = rules[problem.pointer.split("/")[1]]
    return Item(
        rule=rule.id,
        name=rule.name,
        severity="error",
        message=problem.message,
        hint=problem.mend,
        file=str(Path(folder, problem.document)),
        pointer=problem.pointer,
        line=problem.line,
        column=problem.column,
        part=SETTINGS,
    )


def _item_of_unraised(folder: str, unraised: Unraised) -> Item:
    from sluicegate.contracts.marks import Document
    from sluicegate.contracts.yaml_reading import read_document
    from sluicegate.rendering.checking import VERSIONS, case_of
    from sluicegate.rendering.reports import Item
    from sluicegate.rendering.rule_help import VERSION

    path = Path(folder, unraised.source)
    document = read_document(str(path), path.read_bytes())
    marks = document.marks.of_key("/version") if isinstance(document, Document) else None
    line, column = marks or (None, None)
    return Item(
        rule=VERSION.id,
        name=VERSION.name,
        severity="error",
        message=unraised.message,
        hint="Raise `version`, or take the change back." if unraised.asks_more else "",
        file=str(path),
        pointer="/version",
        line=line,
        column=column,
        tool=unraised.tool,
        group=case_of(unraised.tool),
        part=VERSIONS,
    )


def as_checked_fixture(folder: str, result: TriedFixture) -> CheckedFixture:
    """Return one fixture with its file's bytes, where there is something to show in them."""
    from sluicegate.opening.fixtures import UnreadFixture
    from sluicegate.rendering.fixtures import CheckedFixture
    from sluicegate.rendering.places import Source

    path = Path(folder, result.path)
    raw = None
    if not result.ok and path.is_file():
        raw = path.read_bytes()
    return CheckedFixture(
        source=Source(name=str(path), raw=raw),
        expected=result.expected,
        verdict=None if isinstance(result, UnreadFixture) else result.verdict,
        ok=result.ok,
        note=result.note,
        tool=result.tool,
    )
