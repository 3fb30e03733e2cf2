"""The entry point: finds the command, runs it, and turns every way out into an exit code."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import click

from sluicegate.cli.exits import Exit, list_exits
from sluicegate.cli.output import note, silence_stdout

_COMMANDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "demo": ("demo:demo", "See the main job done against a misbehaving upstream."),
        "init": ("init:init", "Write a new contract that passes check."),
        "import": (
            "importing:import_contracts",
            "Draft contracts from tool lists, schemas, samples.",
        ),
        "check": ("check:check", "Load a contract folder and run its fixtures: for CI."),
        "lint": ("lint:lint", "Judge schemas by rules that a validator does not know."),
        "test": ("test:test", "Hold fixtures and mutants of them to the real ladders."),
        "promote": ("promote:promote", "Make a fixture of a mutant that survives."),
        "diff": ("diff:diff", "Tell what changed between two versions, and for whom it breaks."),
        "release": ("release:release", "Freeze the version of a tool that is worked on."),
        "replay": ("replay:replay", "Judge stored answers under another version."),
        "judge": ("judge:judge", "Judge one document by one schema."),
        "call": ("call:call", "Call a tool as an agent would, and print what it sees."),
        "why": ("why:why", "Tell the whole story of one call."),
        "explain": ("explain:explain", "Print the page of a code, a rule or a kind of change."),
        "doctor": ("doctor:doctor", "Prove that this installation judges as it should."),
        "disable": ("disable:disable", "Take a tool out of service."),
        "rollback": ("rollback:rollback", "Serve a released version of a tool again."),
        "audit": ("audit:audit", "Read, verify and tend the record."),
        "completion": ("completion:completion", "Print the script for shell completion."),
        "help": ("helping:show_help", "Help on a command or on exit-codes."),
    }
)


class _Commands(click.Group):
    """Knows the names of the commands and imports one only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        found: click.Command = getattr(
            importlib.import_module(f"sluicegate.cli.{module}"), attribute
        )
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Exit codes"):
            formatter.write("".join(f"  {line}\n" for line in list_exits().splitlines()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.format_message()}{_near(args[0])}", ctx) from None


def _near(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, _COMMANDS, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sluicegate", message="%(prog)s %(version)s")
def program() -> None:
    """Strict contracts on both sides of an agent's tool boundary."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with one of ``Exit``."""
    # A name made by the other side may hold what stdout's encoding cannot: never a traceback.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; raises nothing."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return Exit.READER_GONE
    except Exception as error:  # noqa: BLE001  (the last line: closed, and said in one line)
        return _unexpected(error)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    from sluicegate.errors import ContractFolderError, SluicegateError

    try:
        returned = program.main(
            args=None if arguments is None else list(arguments),
            prog_name="sluicegate",
            standalone_mode=False,
        )
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except click.ClickException as error:
        error.show()
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        sys.stderr.write("interrupted\n")
        return Exit.INTERRUPTED
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else Exit.ACCEPTED
    except ContractFolderError as error:
        return _say(error, Exit.DOES_NOT_LOAD)
    except SluicegateError as error:
        return _say(error, Exit.USAGE)
    return returned if isinstance(returned, int) else Exit.ACCEPTED


def _say(error: Exception, code: Exit) -> Exit:
    for line in str(error).splitlines():
        note(line)
    return code


def _unexpected(error: Exception) -> Exit:
    if os.environ.get("SLUICEGATE_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
        return Exit.INTERNAL
    # Its text may quote what was judged, so only its kind is told here.
    with contextlib.suppress(OSError):
        sys.stderr.write(
            f"internal error: {type(error).__name__}; nothing was accepted."
            " Run again with SLUICEGATE_DEBUG=1 for the traceback.\n"
        )
    return Exit.INTERNAL
