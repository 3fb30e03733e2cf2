"""``sluicegate rollback TOOL VERSION``: serve a released version again."""

from __future__ import annotations

from pathlib import Path

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import folder_option, note


@click.command()
@click.argument("tool")
@click.argument("version")
@click.option("--reason", required=True, help="Why; it stands in the record.")
@folder_option
def rollback(tool: str, version: str, reason: str, folder: str) -> int:
    """Serve released/VERSION.yaml of TOOL from the next opening or reload on. Recorded first.

    `sluicegate disable TOOL --undo` serves the version being worked on again.
    """
    from sluicegate.cli.record import open_record, who_acts
    from sluicegate.cli.tools import demand_released, find_tool
    from sluicegate.opening import steering

    with open_record(folder) as store:
        demand_released(find_tool(folder, tool), version)
        steering.rollback(Path(folder), store, tool, version, who=who_acts(), reason=reason)
    note(f"{tool} is served at {version} from the next reload on.")
    return Exit.ACCEPTED
