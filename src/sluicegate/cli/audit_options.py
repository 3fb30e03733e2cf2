"""What ``audit list`` is told on its command line."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from sluicegate.cli.judge_options import read_now

if TYPE_CHECKING:
    from sluicegate.gates.ports import AuditStore

_AGE: Final = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def read_since(text: str | None, now: datetime) -> datetime | None:
    """Return the moment to list from: an RFC 3339 time, or an age. Raises: click.BadParameter."""
    if text is None:
        return None
    matched = _AGE.fullmatch(text)
    if matched is None:
        try:
            return read_now(text)
        except click.BadParameter:
            raise click.BadParameter(
                "write an RFC 3339 time with an offset, or an age as 90m, 12h, 7d",
                param_hint="--since",
            ) from None
    number, unit = matched.groups()
    try:
        return now - timedelta(**{_UNITS[unit]: int(number)})
    except OverflowError:
        raise click.BadParameter("that is before all time", param_hint="--since") from None


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
