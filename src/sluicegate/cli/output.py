"""How a command speaks: results on stdout, all else on stderr, colour only where it is wanted."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, TypeVar

import click

from sluicegate.cli.exits import Exit
from sluicegate.rendering.paint import Paint

if TYPE_CHECKING:
    from sluicegate.contracts.problems import Problem
    from sluicegate.rendering.reports import Report
    from sluicegate.values.json import JsonObject

F = TypeVar("F", bound=Callable[..., object])

DEFAULT_FOLDER: Final = "contracts"
HUMAN: Final = "human"
JSON_V1: Final = "json-v1"
GITHUB: Final = "github"
SARIF: Final = "sarif"
JUNIT: Final = "junit"

_MOST_SHOWN: Final = 1 << 24
_NARROWEST: Final = 60
_WIDEST: Final = 120


def format_option(*, github: bool = False, reports: bool = False) -> Callable[[F], F]:
    """Add ``--format``; ``github`` for commands that report places in files.

    ``reports`` for those that judge many things at once: SARIF and JUnit as well (SPEC LIF-5).
    """
    choices = [HUMAN, JSON_V1, GITHUB] if github or reports else [HUMAN, JSON_V1]
    choices += [SARIF, JUNIT] if reports else []
    return click.option(
        "--format",
        "form",
        type=click.Choice(choices),
        default=HUMAN,
        show_default=True,
        help="Who reads the output.",
    )


def color_option(command: F) -> F:
    """Add ``--color``."""
    return click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="auto: on a terminal, unless NO_COLOR is set.",
    )(command)


def folder_option(command: F) -> F:
    """Add ``--folder``, the contract folder that holds sluicegate.yaml."""
    return click.option(
        "--folder",
        type=click.Path(file_okay=False),
        default=DEFAULT_FOLDER,
        show_default=True,
        help="The folder that holds sluicegate.yaml.",
    )(command)


def choose_paint(color: str) -> Paint:
    """Return whether to paint: the option, else NO_COLOR, FORCE_COLOR, else a terminal."""
    if color != "auto":
        return Paint(colour=color == "always")
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return Paint(colour=False)
    if os.environ.get("FORCE_COLOR") or os.environ.get("CLICOLOR_FORCE"):
        return Paint(colour=True)
    return Paint(colour=sys.stdout.isatty())


def choose_width() -> int:
    """Return how many cells a line may take: the terminal's, 100 where there is none."""
    if not sys.stdout.isatty():
        return 100
    columns = os.get_terminal_size(sys.stdout.fileno()).columns
    return max(_NARROWEST, min(columns, _WIDEST))


def put(text: str) -> None:
    """Write a result to stdout; ``text`` is escaped and painted already.

    A reader that went away ends the command quietly; a full disk behind it ends it with a line.
    Raises: SystemExit.
    """
    with _for_a_reader():
        sys.stdout.write(text)
        sys.stdout.flush()


def put_bytes(content: bytes) -> None:
    """Write the very bytes to stdout. Raises: SystemExit as ``put``."""
    with _for_a_reader():
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()


@contextlib.contextmanager
def _for_a_reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        silence_stdout()
        raise SystemExit(Exit.READER_GONE) from None
    except OSError as error:
        silence_stdout()
        stop(Exit.INTERNAL, f"the output cannot be written: {error.strerror}; what is there is cut")


def silence_stdout() -> None:
    """Point a broken stdout at nothing, so that the interpreter's last flush stays quiet."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def put_object(command: str, members: JsonObject) -> None:
    """Write the one json-v1 object of ``command`` to stdout."""
    from sluicegate.rendering.json_v1 import render_object

    put(render_object(command, members))


def put_report(
    report: Report, form: str, color: str, *, human: Callable[[Paint], str] | None = None
) -> None:
    """Write what a judging command found to stdout, for the reader that ``form`` names.

    ``human`` tells a person otherwise than by places in files. SPEC LIF-5.
    """
    if form == JSON_V1:
        from sluicegate.rendering.json_v1 import shape_report

        put_object(report.command, shape_report(report))
    elif form == GITHUB:
        from sluicegate.rendering.github import render_report_github

        put(render_report_github(report))
    elif form == SARIF:
        from sluicegate.rendering.escaping import escape_json
        from sluicegate.rendering.rule_help import explain_rules
        from sluicegate.rendering.sarif import render_sarif

        put(escape_json(render_sarif(report, explain_rules(report))) + "\n")
    elif form == JUNIT:
        from sluicegate.rendering.junit import render_junit

        put(render_junit(report))
    else:
        from sluicegate.rendering.human import render_human

        paint = choose_paint(color)
        put(
            human(paint)
            if human is not None
            else render_human(report, paint=paint, width=choose_width(), read=read_source)
        )


def read_source(path: str) -> bytes | None:
    """Return a file whose lines are shown; None where it is gone, or no plain file."""
    from sluicegate.gates.plain_files import read_plain

    try:
        return read_plain(Path(path), _MOST_SHOWN)
    except (OSError, ValueError):
        return None


def note(text: str) -> None:
    """Write one line for a person to stderr, escaped."""
    from sluicegate.rendering.escaping import escape_terminal

    sys.stderr.write(escape_terminal(text) + "\n")


def tell_problems(folder: str, problems: Iterable[Problem]) -> None:
    """Write each problem of a contract folder to stderr, its file as one can open it from here."""
    for problem in problems:
        note(str(replace(problem, document=str(Path(folder, problem.document)))))


def demand_folder(folder: str, way_on: str) -> None:
    """End the command with exit code 5 where ``folder`` is none; ``way_on`` says what to do."""
    if Path(folder).is_dir():
        return
    if Path("sluicegate.yaml").is_file():
        way_on = "this folder holds sluicegate.yaml: name it, as `.`"
    stop(Exit.UNREADABLE, f"{folder} is no folder; {way_on}")


def warn_unsettled(folder: str) -> None:
    """Say on stderr, as ``check`` does, where ``folder`` has no settings: state begins in it."""
    from sluicegate.opening.doubts import say_no_settings

    says = say_no_settings(Path(folder))
    if says is not None:
        note(says)


def stop(exit_code: Exit, text: str) -> NoReturn:
    """Say on stderr why the command ends, and end it. Raises: SystemExit."""
    for line in text.splitlines():
        note(line)
    raise SystemExit(exit_code)
