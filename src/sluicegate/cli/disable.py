"""``sluicegate disable TOOL``: take a tool out of service, or put it back."""

from __future__ import annotations

from pathlib import Path

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import folder_option, note
from sluicegate.cli.steered import say_when_it_holds


@click.command()
@click.argument("tool")
@click.option("--reason", required=True, help="Why; it stands in the record.")
@click.option("--undo", is_flag=True, help="Put the tool back, at the version being worked on.")
@folder_option
def disable(tool: str, reason: str, undo: bool, folder: str) -> int:
    """Take TOOL out of service from the next opening or reload on. Recorded first.

    It holds for this folder alone, whoever shares its record: a gate that runs goes on until it
    reloads the folder.
    """
    from sluicegate.cli.record import open_record, who_acts
    from sluicegate.cli.tools import find_tool
    from sluicegate.opening import steering

    act = steering.enable if undo else steering.disable
    root = Path(folder)
    with open_record(folder) as store:
        find_tool(folder, tool)
        steered = steering.read_steering(root)
        if undo and tool not in {**steered.disabled, **steered.versions}:
            note(f"{tool} is in service already; nothing was written.")
            return Exit.ACCEPTED
        if not undo and tool in steered.disabled:
            why = steered.disabled[tool]
            note(f"{tool} is out of service already ({why}); nothing was written.")
            return Exit.ACCEPTED
        act(root, store, tool, who=who_acts(), reason=reason, now=times.now())
    note(f"{tool} is {'back in' if undo else 'out of'} service from the next reload on.")
    note(say_when_it_holds(folder))
    return Exit.ACCEPTED
