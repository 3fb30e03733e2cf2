"""``sluicegate promote TOOL MUTANT``: a mutant that survives becomes a fixture."""

from __future__ import annotations

from pathlib import Path

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import demand_folder, folder_option, put


@click.command()
@click.argument("tool")
@click.argument("mutant")
@click.option("--no-python", is_flag=True, help="Import no Python that a contract names.")
@folder_option
def promote(tool: str, mutant: str, no_python: bool, folder: str) -> int:
    """Write MUTANT of TOOL, as `test` names it, into the contract's fixtures.

    The fixture fails until the hole is closed, and keeps it closed. Nothing is overwritten.

    Exit 0 written, 2 no such mutant survives or a file is there, 4 the folder does not load, 5
    there is no such folder.
    """
    from sluicegate.opening.promoting import promote as write
    from sluicegate.rendering.escaping import escape_terminal

    demand_folder(folder, "`sluicegate init NAME` makes one")
    for path in write(Path(folder), tool, mutant, python=not no_python):
        put(f"wrote {escape_terminal(str(path))}\n")
    return Exit.ACCEPTED
