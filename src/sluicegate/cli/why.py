"""``sluicegate why REQUEST_ID``: the whole story of one call in one screen."""

from __future__ import annotations

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    DEFAULT_FOLDER,
    HUMAN,
    choose_paint,
    color_option,
    folder_option,
    format_option,
    put,
    put_object,
    stop,
)


@click.command()
@click.argument("request_id")
@folder_option
@format_option()
@color_option
def why(request_id: str, folder: str, form: str, color: str) -> int:
    """Tell who asked what, what ran, what came back, and why it ended as it did.

    Exit 3 if the record knows no such call.
    """
    from sluicegate.cli.record import open_standing_record
    from sluicegate.gates.open_calls import open_attempts
    from sluicegate.opening.resting import find_absent_holders, find_crowded_out
    from sluicegate.rendering.json_v1 import shape_events
    from sluicegate.rendering.story import name_evidence, tell_story

    with open_standing_record(folder) as store:
        events = tuple(store.events(request_id=request_id))
        found = store.events(event_ids=name_evidence(events))
        evidence = {event.event_id: event for event in found}
        crowded_out = find_crowded_out(store, events)
        absent = find_absent_holders(store, events)
    if not events:
        stop(Exit.NOTHING_CHECKED, f"the record of {folder} knows no call {request_id}")
    if form == HUMAN:
        named = None if folder == DEFAULT_FOLDER else folder
        told = tell_story(
            events,
            paint=choose_paint(color),
            folder=named,
            evidence=evidence,
            crowded_out=crowded_out,
            absent=absent,
        )
        put(told)
    else:
        put_object(
            "why",
            {
                "request_id": request_id,
                "open": bool(open_attempts(events)),
                "evidence": [
                    {"event_id": name, "request_id": event.request_id, "tool": event.tool}
                    for name, event in evidence.items()
                ],
                **shape_events(events),
            },
        )
    return Exit.ACCEPTED
