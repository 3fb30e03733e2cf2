"""``sluicegate diff OLD NEW``: what changed between two versions, and for whom it breaks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import color_option, format_option, put_report, stop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sluicegate.lifecycle.diff.waiving import Waiver
    from sluicegate.opening.comparing import Compared
    from sluicegate.rendering.diffing import ShownDiff


@click.command()
@click.argument("old")
@click.argument("new")
@click.option(
    "--side",
    type=click.Choice(["arguments", "result"]),
    help="For files that hold a schema: the side of the tool boundary that it stands on.",
)
@click.option(
    "--waivers",
    "waivers_path",
    metavar="FILE",
    help="Changes that were accepted.  [default: diff-waivers.yaml in the folder NEW]",
)
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@format_option(reports=True)
@color_option
def diff(
    *,
    old: str,
    new: str,
    side: str | None,
    waivers_path: str | None,
    no_python: bool,
    form: str,
    color: str,
) -> int:
    """Compare OLD and NEW: two contract folders, or two files.

    A file holds a schema, then say --side; or an MCP tool list: a JSON array, `{tools: […]}`, or a
    whole response. Arguments may only widen, results may only narrow. Exit 0 compatible, 1
    breaking, undecided or a version that does not tell what changed, 2 usage or waivers that are
    wrong, 3 neither holds a tool, 4 something does not load, 5 it cannot be read.
    """
    from sluicegate.cli.progress import tell_progress
    from sluicegate.opening.comparing import SideMissing, compare_files, compare_folders
    from sluicegate.rendering.diffing import report_diff

    folders = _demand_alike(old, new)
    if folders and side is not None:
        raise click.UsageError("--side is for files; a contract has both sides")
    waivers = _read_waivers(waivers_path, new if folders else None)
    now = times.now()
    with tell_progress(f"comparing {old} with {new}"):
        try:
            if folders:
                compared = compare_folders(old, new, python=not no_python, waivers=waivers, now=now)
            else:
                named = cast("Literal['arguments', 'result'] | None", side)
                compared = compare_files(old, new, named, waivers=waivers, now=now)
        except SideMissing as error:
            raise click.UsageError(
                f"{error} holds a schema: say --side arguments or --side result"
            ) from None
        except OSError as error:
            stop(Exit.UNREADABLE, f"{error.filename} cannot be read: {error.strerror}")
    put_report(report_diff(_as_shown(compared)), form, color)
    if compared.problems:
        return Exit.DOES_NOT_LOAD
    if not compared.diff.tools:
        return Exit.NOTHING_CHECKED
    return Exit.ACCEPTED if compared.diff.clean else Exit.REJECTED


def _demand_alike(old: str, new: str) -> bool:
    """Return whether both are folders; end the command where one is there no more than in name."""
    for path in (old, new):
        if not Path(path).exists():
            stop(Exit.UNREADABLE, f"{path} cannot be read: there is no such file or folder")
    folders = {Path(path).is_dir() for path in (old, new)}
    if len(folders) > 1:
        raise click.UsageError("compare two folders or two files, not one of each")
    return folders == {True}


def _read_waivers(path: str | None, folder: str | None) -> Sequence[Waiver]:
    from sluicegate.opening.comparing import WAIVERS_NAME, read_waiver_file

    if path is None:
        if folder is None or not Path(folder, WAIVERS_NAME).is_file():
            return ()
        path = str(Path(folder, WAIVERS_NAME))
    try:
        return read_waiver_file(Path(path))
    except OSError as error:
        stop(Exit.UNREADABLE, f"{path} cannot be read: {error.strerror}")
    except ValueError as error:
        stop(Exit.USAGE, f"{path}: {error}")


def _as_shown(compared: Compared) -> ShownDiff:
    """Say what was found in plain texts, each place as the person who typed it can open it."""
    from sluicegate.rendering.diffing import (
        NOTHING_CHECKED,
        ShownChange,
        ShownDiff,
        ShownVersion,
        ShownWitness,
    )
    from sluicegate.values.names import show_name

    found = compared.diff
    changes = []
    for change in (one for tool in found.tools for one in tool.changes):
        file, line, column = compared.place(change)
        changes.append(
            ShownChange(
                kind=change.kind,
                tool=show_name(change.tool),
                role=change.role,
                pointer=change.pointer,
                within=change.within,
                old=change.old,
                new=change.new,
                bump=change.bump,
                basis=change.basis,
                needs_replay=change.needs_replay,
                fingerprint=change.fingerprint,
                waived=change.waived,
                file=file,
                line=line,
                column=column,
            )
        )
    versions = []
    for one in found.version_findings:
        file, line, column = compared.place_version(one.tool)
        versions.append(
            ShownVersion(
                tool=show_name(one.tool),
                fault=one.fault,
                old=one.old,
                new=one.new,
                required=str(one.required),
                wanted=one.wanted,
                file=file,
                line=line,
                column=column,
            )
        )
    return ShownDiff(
        old=compared.old.path,
        new=compared.new.path,
        verdict=None
        if compared.problems
        else str(found.outcome)
        if found.tools
        else NOTHING_CHECKED,
        bump=str(found.bump),
        tools=len(found.tools),
        changes=tuple(changes),
        witnesses=tuple(
            ShownWitness(tool=one.tool, role=one.role, admitted_by=one.admitted_by, value=one.value)
            for tool in found.tools
            for one in tool.counterexamples
        ),
        versions=tuple(versions),
        idle=tuple((one.fingerprint, one.why) for one in found.idle),
        problems=compared.problems,
    )
