"""``sluicegate help``: a command's help, or the exit codes."""

from __future__ import annotations

import click

from sluicegate.cli.exits import list_exits
from sluicegate.cli.output import put


@click.command("help")
@click.argument("topic", required=False)
@click.pass_context
def show_help(ctx: click.Context, topic: str | None) -> None:
    """Print help on TOPIC: a command, or `exit-codes`."""
    root = ctx.find_root()
    if topic == "exit-codes":
        put(list_exits())
        return
    if topic is None or not isinstance(root.command, click.Group):
        put(root.get_help() + "\n")
        return
    found = root.command.get_command(root, topic)
    if found is None:
        raise click.UsageError(f"there is no command or topic {topic!r}; try `sluicegate help`")
    put(found.get_help(click.Context(found, info_name=topic, parent=root)) + "\n")
