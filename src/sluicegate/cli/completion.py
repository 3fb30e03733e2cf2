"""``sluicegate completion SHELL``: click's completion script."""

from __future__ import annotations

import click

from sluicegate.cli.output import put


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script: `eval "$(sluicegate completion bash)"`."""
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"click has no completion for {shell}")
    root = ctx.find_root()
    put(completer(root.command, {}, "sluicegate", "_SLUICEGATE_COMPLETE").source() + "\n")
