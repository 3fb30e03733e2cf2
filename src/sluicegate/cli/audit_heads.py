"""``sluicegate audit verify`` and ``heads``: the record, and what was signed of it elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

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
    stop,
)

if TYPE_CHECKING:
    from sluicegate.gates.ports import AnchorReport, ChainReport

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--heads", type=_FILE, help="Signed heads.  [default: those of audit.heads]")
@click.option("--public-key", type=_FILE, help="The key they are signed with.  [default: its own]")
@click.option("--database", type=_FILE, help="A copy of a SQLite record, verified without keys.")
@folder_option
@format_option()
@color_option
def verify(
    *,
    heads: Path | None,
    public_key: Path | None,
    database: Path | None,
    folder: str,
    form: str,
    color: str,
) -> int:
    """Recompute the chain over every column. Exit 1 names the first bad event.

    Where heads are signed, the record is held against them: they show that its end was cut off, or
    that an old copy was put back. With --database, --heads and --public-key no folder and no
    secret is needed; then only links are compared. A record that was begun and is gone or empty is
    broken at event 1; exit 3 if it holds none, exit 5 if there never was a record or a file that is
    named here cannot be read.
    """
    from sluicegate.cli.progress import tell_progress
    from sluicegate.cli.record import guard_record
    from sluicegate.opening import anchoring

    if database is not None:
        if heads is None or public_key is None:
            raise click.UsageError("--database needs --heads and --public-key")
        _demand_readable(database, heads, public_key)
        with tell_progress(f"verifying {database}"):
            chain, anchor = anchoring.verify_copy(database, heads=heads, public_key=public_key)
        _show(chain, anchor, form, color)
        note("Links were compared alone: whether a column was changed takes the keys.")
        return _judge(chain, anchor)
    _demand_readable(heads, public_key)
    with guard_record(folder), tell_progress(f"verifying the record of {folder}"):
        report, signed = anchoring.verify_record(Path(folder), heads=heads, public_key=public_key)
    _show(report, signed, form, color)
    return _judge(report, signed)


def _demand_readable(*files: Path | None) -> None:
    """End the command with exit code 5 where a file that was named cannot be read.

    None is opened: what is read from a pipe can be read once.
    """
    for path in files:
        if path is not None and not os.access(path, os.R_OK):
            why = "permission denied" if path.exists() else "there is no such file"
            stop(Exit.UNREADABLE, f"{path} cannot be read: {why}")


def _show(chain: ChainReport, anchor: AnchorReport | None, form: str, color: str) -> None:
    from sluicegate.rendering.json_v1 import shape_chain
    from sluicegate.rendering.terminal import render_chain

    if form != HUMAN:
        put_object("audit verify", shape_chain(chain, anchor))
        return
    put(render_chain(chain, anchor, paint=choose_paint(color)))


def _judge(chain: ChainReport, anchor: AnchorReport | None) -> int:
    if chain.broken_at is not None or (anchor is not None and anchor.problem is not None):
        return Exit.REJECTED
    return Exit.ACCEPTED if chain.events else Exit.NOTHING_CHECKED


@click.command()
@click.option("--public-key", is_flag=True, help="Print the public keys instead, a line each.")
@folder_option
@format_option()
def heads(public_key: bool, folder: str, form: str) -> int:
    """Sign the newest event now, and append the head where audit.heads says.

    A running gate does so by itself. Keep heads and public key where whoever may change the record
    may not change them.
    """
    from sluicegate.cli.record import guard_record
    from sluicegate.opening import anchoring
    from sluicegate.stores.heads import write_public_keys

    if public_key:
        with guard_record(folder):
            keys = write_public_keys(anchoring.list_public_keys(Path(folder)))
        if form == HUMAN:
            put(keys)
        else:
            put_object("audit heads", {"public_keys": list(keys.splitlines())})
        return Exit.ACCEPTED
    with guard_record(folder):
        head = anchoring.sign_now(Path(folder), times.now())
    if form != HUMAN:
        put_object("audit heads", {"signed_seq": None if head is None else head.seq})
    elif head is None:
        put("nothing new: the newest event is signed already, or there is none\n")
    else:
        put(f"event {head.seq} is signed with key {head.key_id}\n")
    return Exit.ACCEPTED
