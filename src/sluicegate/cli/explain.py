"""``sluicegate explain CODE``: the runbook of a code."""

from __future__ import annotations

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    HUMAN,
    choose_paint,
    color_option,
    format_option,
    put,
    put_object,
    stop,
)


@click.command()
@click.argument("code", required=False)
@format_option()
@color_option
def explain(code: str | None, form: str, color: str) -> None:
    """Print what CODE means, what the agent sees, who acts, and what to do.

    A kind of change, as `sluicegate diff` names it, and a rule of lint have a page too. Without
    CODE: every code with its one-line meaning.
    """
    from sluicegate.rendering.change_pages import read_change_page
    from sluicegate.rendering.json_v1 import shape_code
    from sluicegate.rendering.pages import list_codes, paint_page, read_page
    from sluicegate.rendering.rule_pages import read_rule_page
    from sluicegate.values.codes import CODES, Code

    paint = choose_paint(color)
    if code is None:
        if form == HUMAN:
            put(list_codes(paint))
        else:
            put_object("explain", {"codes": [shape_code(CODES[each], None) for each in Code]})
        return
    for kind, other in (("change", read_change_page(code.lower())), ("rule", read_rule_page(code))):
        if other is None:
            continue
        if form == HUMAN:
            put(paint_page(other, paint))
        else:
            put_object("explain", {kind: code.lower(), "page": other})
        return
    try:
        known = Code(code.upper())
    except ValueError:
        stop(Exit.USAGE, _unknown(code))
    page = read_page(known)
    if form == HUMAN:
        put(paint_page(page, paint))
    else:
        put_object("explain", shape_code(CODES[known], page))


def _unknown(code: str) -> str:
    from difflib import get_close_matches

    from sluicegate.values.codes import Code
    from sluicegate.values.names import show_name

    near = get_close_matches(code.upper(), list(Code), n=3)
    text = f"{show_name(code)} is no code; `sluicegate explain` lists them all."
    return text + (f" Near names: {', '.join(near)}." if near else "")
