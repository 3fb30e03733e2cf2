"""``sluicegate import``: draft contracts from what others publish."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, Final, Literal, ParamSpec

import click

from sluicegate.cli.exits import Exit
from sluicegate.cli.init import demand_name
from sluicegate.cli.output import (
    HUMAN,
    folder_option,
    format_option,
    note,
    put,
    put_object,
    stop,
)

if TYPE_CHECKING:
    from sluicegate.contracts.marks import Document
    from sluicegate.contracts.problems import Problem
    from sluicegate.lifecycle.importing.blueprint import Blueprint
    from sluicegate.lifecycle.importing.drafts import Draft

P = ParamSpec("P")

Side = Literal["arguments", "result"]

_OWNER: Final = re.compile(r"(?=.*\S)[^\x00-\x1f\x7f]{1,200}")
"""What a contract takes as its `owner`."""


@click.group("import")
def import_contracts() -> None:
    """Draft contracts: closed, bounded, and saying what a person must still decide.

    A draft does not load while its key `draft` stands. Nothing that exists is overwritten.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """What every import is told: where drafts go, who owns them, who reads the output."""

    folder: str
    owner: str | None
    accept_defaults: bool
    form: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """What a source holds: of the tools of a list, ``source``, some may have been left out."""

    blueprints: Sequence[Blueprint]
    source: Document | None = None
    problems: Sequence[Problem] = ()


def _importer(
    read: Callable[P, Sequence[Blueprint] | _Found],
) -> Callable[Concatenate[_Wanted, P], int]:
    """Turn a function that reads blueprints into a command that writes their drafts."""

    @wraps(read)
    def command(wanted: _Wanted, /, *args: P.args, **kwargs: P.kwargs) -> int:
        from sluicegate.lifecycle.importing.blueprint import SourceError
        from sluicegate.lifecycle.importing.dialects import DialectError

        try:
            found = read(*args, **kwargs)
        except (SourceError, DialectError) as error:
            stop(Exit.DOES_NOT_LOAD, str(error))
        except OSError as error:
            stop(Exit.UNREADABLE, f"{error.filename} cannot be read: {error.strerror}")
        if not isinstance(found, _Found):
            found = _Found(blueprints=found)
        return _write(found, wanted)

    return command


def _options(command: Callable[..., int]) -> Callable[..., int]:
    @wraps(command)
    def called(
        *, folder: str, owner: str | None, accept_defaults: bool, form: str, **kwargs: object
    ) -> int:
        wanted = _Wanted(folder=folder, owner=owner, accept_defaults=accept_defaults, form=form)
        return command(wanted, **kwargs)

    accepting = click.option(
        "--accept-defaults",
        is_flag=True,
        help="Take the declared defaults as decided; what has none stays open.",
    )
    owning = click.option(
        "--owner",
        metavar="NAME",
        callback=_demand_owner,
        help="Who answers for the tools.  [default: each draft asks]",
    )
    return folder_option(owning(accepting(format_option()(called))))


def _demand_owner(ctx: click.Context, parameter: click.Parameter, name: str | None) -> str | None:
    if name is not None and _OWNER.fullmatch(name) is None:
        raise click.BadParameter("an owner is one line of up to 200 characters")
    return name


_name_option = click.option("--tool", required=True, metavar="NAME", help="The tool's name.")
_side_option = click.option(
    "--side",
    type=click.Choice(["result", "arguments"]),
    default="result",
    show_default=True,
    help="Which side of the tool the schema describes.",
)
_file = click.Path(exists=True, dir_okay=False, path_type=Path)
_example_option = click.option(
    "--example",
    "examples",
    type=_file,
    multiple=True,
    help="An accepted document; it becomes a fixture. Repeatable.",
)


@import_contracts.command("mcp")
@click.argument("source", type=_file)
@click.option("--tool", metavar="NAME", help="This tool alone.  [default: every tool]")
@_options
@_importer
def import_mcp(source: Path, tool: str | None) -> _Found:
    """Draft from an MCP tool list: a JSON array, or an object with `tools`.

    A tool that cannot be drafted is told and left out: exit 1, or 4 where no tool is left.
    """
    from sluicegate.lifecycle.importing.blueprint import LeftOut
    from sluicegate.lifecycle.importing.mcp import read_tool_list
    from sluicegate.opening.drafting import locate, read_marked

    document = read_marked(source)
    listed = read_tool_list(document.value, only=tool)
    return _Found(
        blueprints=[each for each in listed if not isinstance(each, LeftOut)],
        source=document,
        problems=[locate(each, document) for each in listed if isinstance(each, LeftOut)],
    )


@import_contracts.command("schema")
@click.argument("source", type=_file)
@_name_option
@_side_option
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that references may lead into.  [default: that of SOURCE]",
)
@_example_option
@_options
@_importer
def import_schema(
    source: Path, tool: str, side: Side, root: Path | None, examples: Sequence[Path]
) -> Sequence[Blueprint]:
    """Draft from a JSON Schema file, draft-04 to 2020-12."""
    from sluicegate.lifecycle.importing.schema_files import blueprint_of_schema
    from sluicegate.opening.drafting import read_named
    from sluicegate.opening.drafting_schemas import read_schema

    demand_name(tool, "--tool")
    home = (root or source.parent).resolve()
    if not source.resolve().is_relative_to(home):
        raise click.BadParameter(f"{source} lies outside it", param_hint="--root")
    schema = read_schema(source, root)
    return [blueprint_of_schema(tool, schema, side, read_named(examples))]


@import_contracts.command("openapi")
@click.argument("source", type=_file)
@click.option(
    "--operation",
    metavar="ID",
    help="An operationId, or `GET /path`.  [default: the only operation]",
)
@_name_option
@_options
@_importer
def import_openapi(source: Path, operation: str | None, tool: str) -> Sequence[Blueprint]:
    """Draft from one operation of an OpenAPI 3.0 or 3.1 document, JSON or YAML."""
    from sluicegate.lifecycle.importing.blueprint import SourceError
    from sluicegate.lifecycle.importing.openapi import read_operation
    from sluicegate.opening.drafting import read_marked, say_where

    demand_name(tool, "--tool")
    document = read_marked(source)
    try:
        return [read_operation(document.value, tool, operation=operation)]
    except SourceError as error:
        raise SourceError(say_where(error, document)) from error


@import_contracts.command("pydantic")
@click.argument("source", metavar="MODULE:NAME")
@_name_option
@_side_option
@_example_option
@_options
@_importer
def import_pydantic(
    source: str, tool: str, side: Side, examples: Sequence[Path]
) -> Sequence[Blueprint]:
    """Draft from a Pydantic model, a dataclass or an annotated function; its module is imported."""
    from sluicegate.lifecycle.importing.schema_files import blueprint_of_schema
    from sluicegate.opening.drafting import read_named, read_python

    demand_name(tool, "--tool")
    schema = read_python(source, side)
    return [blueprint_of_schema(tool, schema, side, read_named(examples))]


@import_contracts.command("samples")
@click.argument("sources", metavar="SAMPLE…", type=_file, nargs=-1, required=True)
@_name_option
@_options
@_importer
def import_samples(sources: Sequence[Path], tool: str) -> Sequence[Blueprint]:
    """Draft from sample answers; each becomes an accepted fixture."""
    from sluicegate.opening.drafting import read_named

    try:
        from sluicegate.lifecycle.importing.samples import read_samples
    except ImportError:
        stop(Exit.USAGE, "samples are read by genson: install sluicegate[import]")
    demand_name(tool, "--tool")
    return [read_samples(tool, read_named(sources))]


def _write(found: _Found, wanted: _Wanted) -> int:
    from sluicegate.cli.init_files import settings_files
    from sluicegate.lifecycle.importing.blueprint import SourceError
    from sluicegate.lifecycle.importing.telling import tell_left_out
    from sluicegate.opening.drafting import draft_all, find_taken, write_drafts

    try:
        drafts, unfit = draft_all(
            found.blueprints,
            found.source,
            owner=wanted.owner,
            accept_defaults=wanted.accept_defaults,
        )
    except SourceError as error:
        stop(Exit.DOES_NOT_LOAD, str(error))
    folder, problems = wanted.folder, [*found.problems, *unfit]
    if not drafts:
        stop(Exit.DOES_NOT_LOAD, "\n".join(tell_left_out(problems)))
    taken = find_taken(Path(folder), drafts)
    if taken is not None:
        stop(Exit.USAGE, f"{taken} exists; nothing was written. Remove it, or use another folder.")
    try:
        write_drafts(Path(folder), drafts, settings_files(None))
    except OSError as error:
        stop(Exit.UNREADABLE, f"{error.filename} cannot be written: {error.strerror}")
    _tell(drafts, problems, folder, wanted.form)
    if not all(each.loads for each in drafts):
        note(
            f"until its drafts are decided {folder} does not load, and no tool of it can be called;"
            " write drafts elsewhere with --folder FOLDER"
        )
    return Exit.REJECTED if problems else Exit.ACCEPTED


def _tell(drafts: Sequence[Draft], problems: Sequence[Problem], folder: str, form: str) -> None:
    from sluicegate.lifecycle.importing.telling import tell_decisions, tell_left_out

    for line in (*tell_left_out(problems), *tell_decisions(drafts, Path(folder))):
        note(line)
    if form == HUMAN:
        from sluicegate.rendering.escaping import escape_terminal

        for each in drafts:
            state = "loads" if each.loads else f"{len(each.open)} to decide"
            put(escape_terminal(f"{Path(folder, each.tool)}: {state}") + "\n")
        return
    put_object(
        "import",
        {
            "drafts": [
                {
                    "tool": each.tool,
                    "folder": str(Path(folder, each.tool)),
                    "loads": each.loads,
                    "files": sorted(each.files),
                    "decisions": [
                        {
                            "at": decision.at,
                            "question": decision.question,
                            "open": decision in each.open,
                        }
                        for decision in each.decisions
                    ],
                }
                for each in drafts
            ],
            "left_out": [
                {
                    "code": problem.code,
                    "file": problem.document,
                    "pointer": problem.pointer,
                    "line": problem.line,
                    "column": problem.column,
                    "message": problem.message,
                    "mend": problem.mend,
                }
                for problem in problems
            ],
        },
    )
