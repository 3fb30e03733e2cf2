"""``sluicegate audit``: read, verify and tend the record."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sluicegate.cli import times
from sluicegate.cli.audit_heads import heads, verify
from sluicegate.cli.audit_reading import export, tail
from sluicegate.cli.exits import Exit
from sluicegate.cli.output import (
    DEFAULT_FOLDER,
    HUMAN,
    choose_paint,
    color_option,
    folder_option,
    format_option,
    note,
    put,
    put_bytes,
    put_object,
    stop,
)

if TYPE_CHECKING:
    from sluicegate.gates.operator_acts import Found

T = TypeVar("T")


@click.group()
def audit() -> None:
    """Read, verify and tend the record of a contract folder."""


@audit.command("list")
@click.option("--since", metavar="T", help="An RFC 3339 time, or an age such as 90m, 12h, 7d.")
@click.option("--tool", help="Events of this tool only.")
@click.option("--code", help="Events with this code only.")
@click.option("--open", "only_open", is_flag=True, help="Calls whose outcome is not known.")
@click.option("--group", is_flag=True, help="One line for each tool, version, stage and code.")
@click.option("--limit", type=click.IntRange(min=1), default=200, show_default=True)
@folder_option
@format_option()
@color_option
def list_events(
    *,
    since: str | None,
    tool: str | None,
    code: str | None,
    only_open: bool,
    group: bool,
    limit: int,
    folder: str,
    form: str,
    color: str,
) -> int:
    """List events, the newest first. Exit 3 if there are none."""
    from sluicegate.cli.audit_options import demand_known
    from sluicegate.cli.record import open_standing_record
    from sluicegate.rendering.json_v1 import shape_events
    from sluicegate.rendering.tables import (
        group_events,
        omit_repeats,
        render_events,
        render_groups,
        shape_groups,
    )

    moment = times.read_since(since, times.now())
    with open_standing_record(folder) as store:
        if only_open:
            events = tuple(
                event for event in store.open_intents() if tool is None or event.tool == tool
            )
        else:
            events = tuple(
                store.events(
                    since=moment,
                    tool=tool,
                    code=code,
                    limit=None if group else limit,
                    newest_first=True,
                )
            )
        if not events:
            demand_known(folder, store, tool=tool, code=code)
    if not events and only_open:
        note("no call is open" if tool is None else f"no call of {tool} is open")
    elif not events:
        note(f"the record of {folder} holds no such event")
    paint = choose_paint(color)
    if group:
        groups = group_events(events)
        if form == HUMAN:
            put(render_groups(groups, paint=paint) if groups else "")
        else:
            put_object("audit list", {"count": len(groups), "groups": shape_groups(groups)})
    elif form == HUMAN:
        shown = omit_repeats(events)
        put(render_events(shown, paint=paint) if shown else "")
        if len(shown) < len(events):
            left = len(events) - len(shown)
            note(f"openings of an unchanged contract set left out: {left}; json-v1 has all")
    else:
        put_object("audit list", shape_events(events))
    return Exit.ACCEPTED if events else Exit.NOTHING_CHECKED


@audit.command()
@click.argument("event_id", metavar="ID")
@folder_option
@format_option()
@color_option
def show(event_id: str, folder: str, form: str, color: str) -> int:
    """Show every column of the events with ID: an event id, a seq, or a request id."""
    from sluicegate.cli.record import open_standing_record
    from sluicegate.rendering.json_v1 import shape_events
    from sluicegate.rendering.tables import render_event

    with open_standing_record(folder) as store:
        events = tuple(store.events(request_id=event_id))
        events = events or tuple(store.events(event_ids=(event_id,)))
        if not events:
            events = tuple(event for event in store.events() if event_id == str(event.seq))
    if not events:
        stop(Exit.NOTHING_CHECKED, f"the record of {folder} knows no event {event_id}")
    if form == HUMAN:
        put("\n".join(render_event(event, paint=choose_paint(color)) for event in events))
    else:
        put_object("audit show", shape_events(events))
    return Exit.ACCEPTED


audit.add_command(tail)
audit.add_command(export)
audit.add_command(verify)
audit.add_command(heads)


@audit.command()
@click.argument("request_id", metavar="ID")
@click.option(
    "--as", "found", type=click.Choice(["done", "not-done"]), required=True, help="What you found."
)
@click.option("--reason", required=True, help="How you found out; it stands in the record.")
@click.option(
    "--gate-is-gone",
    is_flag=True,
    help="You know that the process which made the call has ended; it stands in the record.",
)
@folder_option
def resolve(*, request_id: str, found: Found, reason: str, gate_is_gone: bool, folder: str) -> int:
    """Say what became of a call whose outcome is not known. Recorded; the call is open no more.

    One that was not done may run again. One that was done does not run again under its key. A call
    whose end is not recorded may still be running: exit 1 until its time is over, or until you say
    that its gate is gone.
    """
    from sluicegate.cli.record import open_standing_record, who_acts
    from sluicegate.gates import operator_acts
    from sluicegate.opening.folder import read_settings
    from sluicegate.opening.key_stores import record_and_tell
    from sluicegate.rendering.story import tell_resolution

    _demand_reason(reason)
    with open_standing_record(folder) as store:
        events = tuple(store.events(request_id=request_id))
        try:
            act, terms = operator_acts.resolve(
                events,
                request_id,
                found=found,
                who=who_acts(),
                reason=reason,
                now=times.now(),
                gate_is_gone=gate_is_gone,
            )
        except KeyError:
            before = tell_resolution(events)
            said = "" if before is None else f": it was resolved already, {before}"
            stop(
                Exit.USAGE,
                f"no open call {request_id}{said};"
                " `sluicegate audit list --open` lists those that are",
            )
        except operator_acts.StillRunning as running:
            stop(
                Exit.REJECTED,
                f"{request_id} may still be running: its gate has recorded no end\n"
                f"wait until {running.until.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}; or, if the"
                " process that made the call has ended, repeat this with --gate-is-gone",
            )
        settings, place = read_settings(Path(folder)), Path(folder)
        try:
            kept_until = _run_told(record_and_tell(store, act, terms, settings, place, times.now))
        except operator_acts.StoryChanged:
            stop(
                Exit.REJECTED,
                f"{request_id} went on while you resolved it, and nothing is recorded of that:"
                f" look at it again with `sluicegate why {request_id}`",
            )
    note(f"{request_id} is resolved as {found}; {_say_what_follows(found, kept_until)}.")
    return Exit.ACCEPTED


def _say_what_follows(found: Found, kept_until: datetime | None) -> str:
    if found == "not-done":
        return "the same call may run again"
    if kept_until is None or kept_until <= times.now():
        return "no key is kept of it, so the same call would run once more"
    return (
        f"until {kept_until:%Y-%m-%dT%H:%M:%SZ} a call under its key does not run: it gets the"
        " answer that was kept, or KEY_REUSED"
    )


@audit.command()
@click.argument("ref")
@click.option("--reason", required=True, help="Why you look; it stands in the record.")
@folder_option
def reveal(ref: str, reason: str, folder: str) -> int:
    """Write the raw bytes that custody keeps under REF to stdout. Recorded first.

    On a terminal control characters are shown, not acted on; into a file go the very bytes.
    """
    from sluicegate.cli.record import open_standing_record, who_acts
    from sluicegate.rendering.escaping import escape_terminal

    _demand_reason(reason)
    with open_standing_record(folder) as store:
        try:
            content = asyncio.run(store.reveal(ref, who=who_acts(), reason=reason, now=times.now()))
        except KeyError:
            stop(Exit.UNREADABLE, f"custody holds nothing under {ref}: unknown, expired or purged")
    if sys.stdout.isatty():
        for line in content.decode("utf-8", "replace").split("\n"):
            put(escape_terminal(line) + "\n")
    else:
        put_bytes(content)
    return Exit.ACCEPTED


@audit.command()
@click.option("--now", metavar="T", help="Purge what has expired by this time.  [default: now]")
@click.option(
    "--yes", is_flag=True, help="With a --now that lies ahead: destroy what is not over yet."
)
@folder_option
@format_option()
def purge(now: str | None, yes: bool, folder: str, form: str) -> int:
    """Destroy keys and raw bytes whose time is over; every event stays, and the chain holds.

    The act itself is recorded with the time of the clock, whatever --now says. Where gates share
    keys, none of them gives again what is gone here; where Redis could not be told, exit 5 says so.
    """
    from sluicegate.cli.record import open_standing_record, who_acts
    from sluicegate.opening.folder import read_settings
    from sluicegate.opening.key_stores import purge_and_tell

    clock, moment = times.now(), times.read_time(now, "--now")
    if moment is not None and moment > clock and not yes:
        raise click.BadParameter(
            f"it is {clock:%Y-%m-%dT%H:%M:%SZ}: this would destroy what has not expired yet, for"
            " good; say --yes if you mean it",
            param_hint="--now",
        )
    with open_standing_record(folder) as store:
        settings, place = read_settings(Path(folder)), Path(folder)
        work = purge_and_tell(
            store, settings, place, lambda: clock, who=who_acts(), expired_by=moment
        )
        count = _run_told(work)
    if form == HUMAN:
        put(f"{count} purged\n")
    else:
        put_object("audit purge", {"purged": count})
    return Exit.ACCEPTED


@audit.command()
@click.option("--reason", required=True, help="Why; it stands in the record.")
@click.option(
    "--rewrap-only",
    is_flag=True,
    help="Draw no key: wrap what is left under the one that is active.",
)
@folder_option
@format_option()
def rotate(reason: str, rewrap_only: bool, folder: str, form: str) -> int:
    """Draw a new custody key and wrap every data key under it. Recorded first.

    The older keys stay. A running gate takes the new key when it first needs it, or when it is
    opened anew; what it seals until then stays readable, and --rewrap-only wraps it afterwards.
    """
    from sluicegate.cli.record import guard_record, who_acts
    from sluicegate.opening import rotating

    _demand_reason(reason)
    with guard_record(folder):
        done = rotating.rotate(
            Path(folder),
            who=who_acts(),
            reason=reason,
            now=times.now(),
            draws_key=not rewrap_only,
        )
    if form == HUMAN:
        put(f"custody key {done.key_id} is active; data keys wrapped anew: {done.rewrapped}\n")
    else:
        put_object(
            "audit rotate",
            {"key_id": done.key_id, "drawn": done.is_drawn, "rewrapped": done.rewrapped},
        )
    if done.is_drawn:
        elsewhere = "" if folder == DEFAULT_FOLDER else f" --folder {folder}"
        note(
            "Running gates seal with the older key until they need the new one or are opened anew."
            " Keep the older keys. Open every gate anew; only then run `sluicegate audit rotate"
            f" --rewrap-only --reason TEXT{elsewhere}` for what was sealed meanwhile."
        )
    return Exit.ACCEPTED


@audit.command()
@click.option("--gate-role", metavar="ROLE", help="Give this role the rights of a gate, no others.")
@folder_option
@format_option()
def prepare(gate_role: str | None, folder: str, form: str) -> int:
    """Make or bring up the tables of a record in PostgreSQL, and its next partitions.

    Run by the role that owns them; it may run again at any time. No event is changed.
    """
    from sluicegate.cli.record import guard_record
    from sluicegate.opening.preparing import prepare_record

    with guard_record(folder):
        done = prepare_record(Path(folder), gate_role=gate_role, now=times.now())
    if form == HUMAN:
        if done.before == 0:
            put("a new record is begun\n")
        elif done.before == done.after:
            put(f"the record stands, its tables have version {done.after}\n")
        else:
            put(f"the tables are brought up from version {done.before} to {done.after}\n")
    else:
        put_object(
            "audit prepare",
            {"before": done.before, "after": done.after, "begun": done.before == 0},
        )
    return Exit.ACCEPTED


def _run_told(work: Coroutine[Any, Any, T]) -> T:
    """Do an act; end with exit code 5 where it is recorded and the key store was not told."""
    from sluicegate.opening.key_stores import KeyStoreNotTold

    try:
        return asyncio.run(work)
    except KeyStoreNotTold as error:
        stop(Exit.UNREADABLE, str(error))


def _demand_reason(reason: str) -> None:
    if not reason.strip():
        raise click.BadParameter("say why; it stands in the record", param_hint="--reason")
