"""``sluicegate rollback TOOL VERSION``: serve a released version again."""

from __future__ import annotations

from pathlib import Path

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import folder_option, note, stop, tell_problems
from sluicegate.cli.steered import say_when_it_holds


@click.command()
@click.argument("tool")
@click.argument("version")
@click.option("--reason", required=True, help="Why; it stands in the record.")
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@folder_option
def rollback(tool: str, version: str, reason: str, no_python: bool, folder: str) -> int:
    """Serve released/VERSION.yaml of TOOL from the next opening or reload on. Recorded first.

    The folder is loaded as it would then be: exit 4, and nothing is changed, if this breaks it.
    `sluicegate disable TOOL --undo --reason TEXT` serves the version being worked on again.
    """
    from sluicegate.cli.record import open_record, who_acts
    from sluicegate.cli.tools import demand_released
    from sluicegate.opening import steering
    from sluicegate.opening.loading import start_loading

    root = Path(folder)
    with open_record(folder) as store:
        demand_released(folder, tool, version)
        if steering.read_steering(root).versions.get(tool) == version:
            note(f"{tool} is served at {version} already; nothing was written.")
            return Exit.ACCEPTED
        now = times.now()
        loading = start_loading(root, now, python=not no_python)
        broken = loading.rehearse_rollback(tool, version)
        if broken:
            tell_problems(folder, broken)
            stop(Exit.DOES_NOT_LOAD, f"{tool} cannot be served at {version}; nothing was changed.")
        steering.rollback(root, store, tool, version, who=who_acts(), reason=reason, now=now)
    note(f"{tool} is served at {version} from the next reload on.")
    note(say_when_it_holds(folder))
    return Exit.ACCEPTED
