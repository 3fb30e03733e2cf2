"""``sluicegate doctor``: does this installation judge as it should, and will it record?"""

from __future__ import annotations

from pathlib import Path

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    DEFAULT_FOLDER,
    HUMAN,
    choose_paint,
    color_option,
    format_option,
    put,
    put_object,
)


@click.command()
@click.argument("folder", required=False)
@format_option()
@color_option
def doctor(folder: str | None, form: str, color: str) -> int:
    """Put the engines, the limits and the clock to the proof; with FOLDER its contracts too.

    Each line says what was tried. Nothing is changed. Exit 1 if any line says FAIL. Where no FOLDER
    is named it is `contracts`, if there is such a folder.
    """
    from sluicegate.opening.examining.engines import examine_engines
    from sluicegate.opening.examining.folder import examine_folder
    from sluicegate.rendering.escaping import escape_terminal

    now = times.now()
    looks = examine_engines(now)
    if folder is None and Path(DEFAULT_FOLDER).is_dir():
        folder = DEFAULT_FOLDER
    if folder is not None:
        looks += examine_folder(folder, now)
    well = all(look.well for look in looks)
    if form != HUMAN:
        put_object(
            "doctor",
            {
                "verdict": "well" if well else "ill",
                "looks": [
                    {"name": look.name, "well": look.well, "says": look.says} for look in looks
                ],
            },
        )
        return Exit.ACCEPTED if well else Exit.REJECTED
    paint = choose_paint(color)
    width = max(len(look.name) for look in looks)
    for look in looks:
        mark = paint.good("ok  ") if look.well else paint.bad("FAIL")
        put(f"{mark}  {look.name.ljust(width)}  {escape_terminal(look.says)}\n")
    return Exit.ACCEPTED if well else Exit.REJECTED
