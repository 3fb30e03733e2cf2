"""``sluicegate release TOOL``: freeze the version being worked on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    HUMAN,
    demand_folder,
    folder_option,
    format_option,
    note,
    put,
    put_object,
    stop,
    tell_problems,
)

if TYPE_CHECKING:
    from sluicegate.opening.freezing_releases import Released


@click.command()
@click.argument("tool")
@click.option("--rollout", metavar="TEXT", help="How a major is rolled out; kept beside it.")
@click.option(
    "--replayed",
    metavar="REASON",
    help="What a replay showed of a result that narrows; kept beside it.",
)
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@folder_option
@format_option()
def release(
    *,
    tool: str,
    rollout: str | None,
    replayed: str | None,
    no_python: bool,
    folder: str,
    form: str,
) -> int:
    """Check the folder, then freeze the contract of TOOL as released/VERSION.yaml.

    Prints what changed since the last final release and what is deployed first. Exit 1, and
    nothing is written, where a fixture fails or `sluicegate check` finds an error of lint or a
    hole in TOOL, the version is not raised as its changes ask, nothing keeps a name that went, it
    stands there with other content, a major has no --rollout, or the result narrows and neither a
    fixture under fixtures/result/former nor --replayed says that answers still pass; exit 4 where
    the folder does not load or a frozen file was edited or is gone.
    """
    from sluicegate.cli.progress import tell_progress
    from sluicegate.cli.tools import find_tool
    from sluicegate.opening.freezing_releases import Refused
    from sluicegate.opening.freezing_releases import release as freeze_release
    from sluicegate.opening.release_terms import Said

    demand_folder(folder, "name it with --folder")
    find_tool(folder, tool)
    with tell_progress(f"releasing {tool}"):
        done = freeze_release(
            Path(folder),
            tool,
            said=Said(rollout=rollout, replayed=replayed),
            now=times.now(),
            python=not no_python,
        )
    if isinstance(done, Refused):
        tell_problems(folder, done.problems)
        for reason in done.reasons:
            note(reason)
        code = Exit.DOES_NOT_LOAD if done.problems else Exit.REJECTED
        stop(code, f"{tool} was not released; nothing was written.")
    if form == HUMAN:
        put(_tell(done))
    else:
        put_object(
            "release",
            {
                "tool": done.tool,
                "version": done.version,
                "digest": done.digest,
                "file": str(done.path),
                "written": done.written,
                "before": done.before,
                "bump": str(done.bump),
                "changes": [
                    {"kind": each.kind, "role": each.role, "pointer": each.pointer}
                    for each in done.changes
                ],
                "order": list(done.order),
                "waived": [
                    {
                        "kind": each.kind,
                        "role": each.role,
                        "pointer": each.pointer,
                        "reason": each.waived,
                    }
                    for each in done.waived
                ],
                "replayed": done.replayed,
            },
        )
    return Exit.ACCEPTED


def _tell(done: Released) -> str:
    from sluicegate.rendering.counting import count_of
    from sluicegate.rendering.escaping import escape_terminal

    if not done.written:
        return f"{done.path} is released already; nothing changed\n"
    lines = [f"released {done.tool} {done.version} as {done.path}", f"digest {done.digest}"]
    if done.before is not None:
        lines.append(
            f"since {done.before}: {count_of(len(done.changes), 'change')}, bump {done.bump}"
        )
        lines += [f"  {each.kind} {each.role} {each.pointer}" for each in done.changes]
    lines += [
        f"waived: {each.kind} {each.role} {each.pointer}: {each.waived}" for each in done.waived
    ]
    lines += [f"replayed: {done.replayed}"] if done.replayed else []
    lines += [f"{number}. {step}" for number, step in enumerate(done.order, start=1)]
    return "".join(escape_terminal(line) + "\n" for line in lines)
