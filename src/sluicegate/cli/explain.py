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

    A rule, as `check` and `lint` name it, and a kind of change, as `diff` does, have a page too.
    Without CODE: everything that has a page, with its one-line meaning.
    """
    from sluicegate.rendering.explaining import (
        find_near,
        find_subject,
        list_subjects,
        page_of,
        render_subjects,
    )
    from sluicegate.rendering.json_v1 import shape_code
    from sluicegate.rendering.pages import paint_page
    from sluicegate.values.codes import CODES, Code
    from sluicegate.values.names import show_name

    paint = choose_paint(color)
    if code is None:
        if form == HUMAN:
            put(render_subjects(paint))
            return
        subjects = list_subjects()
        put_object(
            "explain",
            {
                "codes": [shape_code(CODES[each], None) for each in Code],
                "rules": [
                    {"rule": each.name, "name": each.alias, "summary": each.summary}
                    for each in subjects
                    if each.kind == "rule"
                ],
                "changes": [
                    {"change": each.name, "summary": each.summary}
                    for each in subjects
                    if each.kind == "change"
                ],
            },
        )
        return
    subject = find_subject(code)
    if subject is None:
        near = find_near(code)
        text = f"{show_name(code)} is no code; `sluicegate explain` lists them all."
        stop(Exit.USAGE, text + (f" Near names: {', '.join(near)}." if near else ""))
    page = page_of(subject)
    if form == HUMAN:
        put(paint_page(page, paint))
    elif subject.kind == "code":
        put_object("explain", shape_code(CODES[Code(subject.name)], page))
    else:
        put_object("explain", {subject.kind: subject.name, "page": page})
