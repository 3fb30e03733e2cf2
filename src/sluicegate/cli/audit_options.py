"""The names that ``audit`` is asked for: known ones, or mistakes."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from sluicegate.gates.ports import AuditStore


def demand_known(folder: str, store: AuditStore, *, tool: str | None, code: str | None) -> None:
    """Say that a name nobody knows is mistyped: an empty list would look like a quiet night.

    Known is what an event bears, what a contract of the folder or a release of it declares, and
    every code of the table. Raises: click.BadParameter.
    """
    from sluicegate.cli.tools import find_tool

    if code is not None and not any(store.events(code=code, limit=1)):
        _demand_code(folder, code)
    if tool is not None and tool != "unknown" and not any(store.events(tool=tool, limit=1)):
        find_tool(folder, tool)


def _demand_code(folder: str, code: str) -> None:
    """A contract may name codes of its own, and a release one that its contract no longer does."""
    from sluicegate.opening.documents import read_folder
    from sluicegate.opening.known_names import list_codes
    from sluicegate.values.names import show_name

    known = list_codes(read_folder(Path(folder)))
    if code in known:
        return
    near = get_close_matches(code.upper(), sorted(known), n=3)
    more = f"near names: {', '.join(near)}" if near else "`sluicegate explain` lists them all"
    raise click.BadParameter(f"{show_name(code)} is no code; {more}", param_hint="--code")
