"""``sluicegate audit tail`` and ``export``: the events as they come, and into a file."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from sluicegate.cli import times
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    HUMAN,
    choose_paint,
    color_option,
    folder_option,
    format_option,
    note,
    put,
    put_object,
)

if TYPE_CHECKING:
    from sluicegate.gates.events import StoredEvent
    from sluicegate.gates.ports import AuditStore

POLL_S: Final = 0.5
MAX_AT_ONCE: Final = 10_000

_ENDINGS: Final = ("", ".jsonl", ".ndjson", ".json", ".parquet")


@click.command()
@click.option("-f", "--follow", is_flag=True, help="Go on as events come, until Ctrl-C.")
@click.option(
    "-n", "count", type=click.IntRange(0, MAX_AT_ONCE), default=10, show_default=True, metavar="N"
)
@folder_option
@color_option
def tail(follow: bool, count: int, folder: str, color: str) -> int:
    """Show the last N events, the newest last, a line each.

    Exit 3 if there is none. With --follow Ctrl-C is the way to end it: exit 0.
    """
    from sluicegate.cli.record import open_standing_record
    from sluicegate.rendering.tail import render_tail

    paint = choose_paint(color)
    with contextlib.suppress(KeyboardInterrupt), open_standing_record(folder) as store:
        last = 0
        for event in _last_events(store, count):
            last = event.seq
            put(render_tail(event, paint=paint))
        if not follow:
            return Exit.ACCEPTED if last else Exit.NOTHING_CHECKED
        last = last or next((e.seq for e in store.events(newest_first=True, limit=1)), 0)
        while True:
            for event in _read_after(store, last):
                last = event.seq
                put(render_tail(event, paint=paint))
            time.sleep(POLL_S)
    return Exit.ACCEPTED


def _last_events(store: AuditStore, count: int) -> list[StoredEvent]:
    return [*store.events(newest_first=True, limit=count)][::-1]


def _read_after(store: AuditStore, seq: int) -> Iterator[StoredEvent]:
    """Yield what came after event ``seq``, the oldest first; says so where that is too much."""
    found: list[StoredEvent] = []
    for event in store.events(newest_first=True, limit=MAX_AT_ONCE):
        if event.seq <= seq:
            break
        found.append(event)
    if len(found) == MAX_AT_ONCE:
        note(f"events between {seq} and {found[-1].seq} are left out: audit export has all")
    yield from reversed(found)


@click.command()
@click.option("--since", metavar="T", help="An RFC 3339 time, or an age such as 90m, 12h, 7d.")
@click.option("--tool", help="Events of this tool only.")
@click.option("--code", help="Events with this code only.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["jsonl", "parquet"]),
    help="The form of the file.  [default: as it is called]",
)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@folder_option
@format_option()
def export(
    *,
    since: str | None,
    tool: str | None,
    code: str | None,
    kind: str | None,
    file: Path,
    folder: str,
    form: str,
) -> int:
    """Write events to a new FILE, the oldest first: JSON Lines, or Parquet by its name.

    Another ending than .jsonl, .ndjson, .json or .parquet needs --as.

    Every column stands in it, nothing of custody does. Exit 3 and no file if there is no event.
    """
    from sluicegate.cli.audit_options import demand_known
    from sluicegate.cli.progress import tell_progress
    from sluicegate.cli.record import open_standing_record
    from sluicegate.opening.exporting import JSONL, PARQUET, export_events
    from sluicegate.rendering.counting import count_of

    moment = times.read_since(since, times.now())
    ending = file.suffix.lower()
    if kind is None and ending not in _ENDINGS:
        raise click.BadParameter(
            f"an export is JSON Lines or Parquet: let the name end in {', '.join(_ENDINGS[1:])},"
            " or name the form with --as",
            param_hint="FILE",
        )
    chosen = kind or (PARQUET if ending == ".parquet" else JSONL)
    with open_standing_record(folder) as store, tell_progress(f"exporting the record of {folder}"):
        events = store.events(since=moment, tool=tool, code=code)
        count = export_events(events, file, form=chosen)
        if not count:
            demand_known(folder, store, tool=tool, code=code)
    if form == HUMAN:
        put(f"{count_of(count, 'event')}\n")
    else:
        put_object("audit export", {"events": count, "file": str(file) if count else None})
    return Exit.ACCEPTED if count else Exit.NOTHING_CHECKED
