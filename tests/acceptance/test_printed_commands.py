"""Every command that a message or a page tells its reader to run is one that can be run."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from sluicegate.cli.main import program

SOURCE = Path(__file__).parents[2] / "src" / "sluicegate"
VERBS = "|".join(program.list_commands(click.Context(program)))
QUOTED = re.compile(rf"(?<!`)`sluicegate ((?:{VERBS}) [^`]+)`")
AT_THE_END = re.compile(rf"(?:^|: )sluicegate ((?:{VERBS}) [^`;:,]+)$")


def texts(path: Path) -> Iterator[str]:
    """Yield the texts of a module, a letter where a value is put in; a page is one text."""
    if path.name == "recognising.py":  # what it puts in is itself a verb of `import`
        return
    if path.suffix == ".md":
        yield path.read_text(encoding="utf-8")
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values
            )
        elif isinstance(node, ast.Constant) and id(node) not in inner:
            yield node.value if isinstance(node.value, str) else ""


def printed() -> list[tuple[str, str]]:
    found = {
        (path.relative_to(SOURCE).as_posix(), " ".join(command.split()))
        for path in sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.md")])
        for text in texts(path)
        for command in [*QUOTED.findall(text), *AT_THE_END.findall(text)]
    }
    return sorted(found)


def parse(line: str) -> None:
    """Raises: click.UsageError where click does not take ``line``.

    The bare name of a verb within a group, `audit reveal`, is a name and no command line.
    """
    command: click.Command = program
    words = [word.partition("|")[0] for word in shlex.split(line)]
    context = click.Context(program)
    while isinstance(command, click.Group):
        name, *words = words
        found = command.get_command(context, name)
        if found is None:
            raise click.UsageError(f"there is no {name}")
        command = found
    if not words and " " in line:
        return
    command.make_context("sluicegate", words)


PRINTED = printed()


def test_the_commands_that_are_printed_are_found() -> None:
    assert ("stores/keys.py", "audit rotate --rewrap-only --reason TEXT") in PRINTED
    assert ("cli/call.py", "why xx") in PRINTED
    with pytest.raises(click.UsageError, match="reason"):
        parse("audit rotate --rewrap-only")


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize(("where", "line"), PRINTED)
def test_a_command_that_is_printed_parses(where: str, line: str) -> None:
    parse(line)
