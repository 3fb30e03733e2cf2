"""Which tools a folder holds, asked without loading it: an operator steers broken folders too."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import stop


def find_tool(folder: str, tool: str) -> Path:
    """Return the folder of ``tool``; ends the command with exit code 2 where there is none.

    A mistyped name that was taken as it stands would leave the real tool in service.
    """
    from sluicegate.opening.documents import read_folder
    from sluicegate.opening.known_names import list_tools

    homes = list_tools(read_folder(Path(folder)))
    if tool not in homes:
        near = get_close_matches(tool, homes, n=1)
        held = f"It holds: {', '.join(sorted(homes)) or 'none'}."
        more = f"Did you mean {near[0]}?" if near else held
        stop(Exit.USAGE, f"{folder} holds no tool {tool}. {more}")
    return homes[tool]


def demand_released(folder: str, tool: str, version: str) -> None:
    """End the command with exit code 2 unless ``version`` is a released one of ``tool``."""
    from sluicegate.opening.released_folder import ReleasedFolder

    home = find_tool(folder, tool)
    released = ReleasedFolder(root=Path(folder), home=home).versions()
    if version not in released:
        stop(
            Exit.USAGE,
            f"{home.name} has no released version {version}; released: "
            + (", ".join(released) or "none"),
        )
