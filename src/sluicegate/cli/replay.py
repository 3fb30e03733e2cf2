"""``sluicegate replay TOOL``: judge stored answers under another version of the contract."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    color_option,
    demand_folder,
    folder_option,
    format_option,
    note,
    put_report,
    stop,
)

if TYPE_CHECKING:
    from sluicegate.opening.replaying import Question, Replayed
    from sluicegate.rendering.replaying import ReplayedTool

_KEEP_BYTES: Final = (
    "bytes of accepted answers were not kept: `retention: {accepted: {days: N}}` in sluicegate.yaml"
    " keeps them from now on, as its `share` and `daily_bytes` allow"
)


@click.command()
@click.argument("tool")
@click.option(
    "--against", required=True, metavar="VERSION", help="A released version, or `current`."
)
@click.option(
    "--from",
    "base",
    metavar="VERSION",
    help="Says what an archived answer was judged, unless it says so itself.  [default: current,"
    " or the newest release where --against is current]",
)
@click.option(
    "--archive", metavar="PATH", help="A folder of raw files, a JSON Lines file, or a Parquet file."
)
@click.option("--since", metavar="T", help="An RFC 3339 time, or an age such as 90m, 12h, 7d.")
@click.option("--reason", default="", help="Why custody is read; it stands in the record.")
@click.option("--processes", type=click.IntRange(1, 256), help="[default: one a processor]")
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@folder_option
@format_option(reports=True)
@color_option
def replay(
    *,
    tool: str,
    against: str,
    base: str | None,
    archive: str | None,
    since: str | None,
    reason: str,
    processes: int | None,
    no_python: bool,
    folder: str,
    form: str,
    color: str,
) -> int:
    """Tell which stored answers of TOOL another version would refuse, or accept. No network.

    Without --archive the answers come out of custody: give --reason; the act is recorded first.
    Exit 1 if an accepted answer would be refused or the reverse, 3 if nothing was there to judge,
    or no accepted answer where some were left out, 5 if an archive cannot be read.
    """
    from sluicegate.cli.record import guard_record, who_acts
    from sluicegate.cli.tools import demand_released, find_tool
    from sluicegate.contracts.versions import CURRENT
    from sluicegate.opening.archives import BYTES_NOT_KEPT, ArchiveError
    from sluicegate.opening.replaying import Question
    from sluicegate.opening.replaying import replay as run_replay
    from sluicegate.rendering.replaying import render_replay, report_replay

    demand_folder(folder, "name it with --folder")
    home = find_tool(folder, tool)
    for version in (against, base):
        if version not in (None, CURRENT):
            demand_released(folder, tool, version)
    if archive is None and not reason.strip():
        raise click.BadParameter("say why custody is read; it is recorded", param_hint="--reason")
    if archive is not None and since is not None:
        raise click.BadParameter("an archive is judged whole", param_hint="--since")
    now = times.now()
    question = Question(
        tool=tool,
        against=against,
        base=base,
        archive=None if archive is None else Path(archive),
        since=times.read_since(since, now),
        who=who_acts(),
        reason=reason,
    )
    with guard_record(folder), _tell_count(f"replaying {tool}") as tell:
        try:
            replayed = run_replay(
                Path(folder),
                question,
                processes=processes or os.cpu_count() or 1,
                now=now,
                python=not no_python,
                tell=tell,
            )
        except ArchiveError as error:
            stop(Exit.UNREADABLE, str(error))
    found = _as_told(question, Path(folder), home, replayed)
    report = report_replay(found)
    put_report(report, form, color, human=lambda paint: render_replay(found, paint=paint))
    if BYTES_NOT_KEPT in found.left_out:
        note(_KEEP_BYTES)
    if not found.replayed:
        note("no answer was there to be judged again")
        return Exit.NOTHING_CHECKED
    if not found.checked:
        note("accepted answers were left out and none was judged again: nothing was checked")
        return Exit.NOTHING_CHECKED
    return Exit.REJECTED if report.verdict == "changed" else Exit.ACCEPTED


def _as_told(question: Question, root: Path, home: Path, replayed: Replayed) -> ReplayedTool:
    from sluicegate.contracts.file_names import CONTRACT_NAMES
    from sluicegate.contracts.versions import CURRENT
    from sluicegate.opening.released_folder import ReleasedFolder
    from sluicegate.rendering.replaying import Matter, ReplayedTool

    tally = replayed.tally
    documents = [home / name for name in CONTRACT_NAMES if (home / name).is_file()]
    if question.against != CURRENT:
        released = ReleasedFolder(root=root, home=home)
        documents = [released.document_path(question.against)]
    judged_accepted = tally.accepted + tally.total().get("now refused", 0)
    lacks_accepted = any(why.startswith("accepted, ") for why in replayed.left_out)
    groups = sorted(tally.groups.items(), key=lambda group: (-group[1][0], group[0]))
    return ReplayedTool(
        tool=question.tool,
        against=question.against,
        file=str(documents[0]),
        replayed=tally.replayed,
        accepted=tally.accepted,
        refused=tally.refused,
        left_out=replayed.left_out,
        checked=bool(judged_accepted or tally.total().get("now accepted") or not lacks_accepted),
        matters=tuple(
            Matter(
                change=key.change,
                was=key.was,
                would_be=key.would_be,
                stage=key.stage,
                code=key.code,
                pointer=key.pointer,
                count=count,
                examples=examples,
            )
            for key, (count, examples) in groups
        ),
    )


@contextmanager
def _tell_count(what: str) -> Iterator[Callable[[int], None]]:
    """Show on stderr how many are done; only where a person watches."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda count: bar.update(task, completed=count)
