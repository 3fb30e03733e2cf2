"""Which tools a folder holds, asked without loading it: an operator steers broken folders too."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import stop

_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+-]{0,127}")


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


def demand_released(home: Path, version: str) -> None:
    """End the command with exit code 2 unless ``version`` is a released one."""
    released = sorted(path.stem for path in (home / "released").glob("*.yaml"))
    if _VERSION.fullmatch(version) is None or version not in released:
        stop(
            Exit.USAGE,
            f"{home.name} has no released version {version}; released: "
            + (", ".join(released) or "none"),
        )
