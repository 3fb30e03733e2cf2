"""Files for an import: what it reads, and the drafts that it writes. Nothing is overwritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.sources import schema_of
from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.gates.plain_files import read_plain
from sluicegate.lifecycle.importing.blueprint import Blueprint, LeftOut, SourceError
from sluicegate.lifecycle.importing.drafts import Draft, Unfit, draft
from sluicegate.lifecycle.lint.subject import SideName
from sluicegate.opening.documents import MAX_DOCUMENT_BYTES
from sluicegate.opening.python_names import resolve
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name

_MEMBERS: Final[Mapping[SideName, str]] = {"arguments": "inputSchema", "result": "outputSchema"}


def read_source(path: Path) -> JsonValue:
    """Return one parsed JSON or YAML document, strictly read. Raises: as read_marked."""
    return read_marked(path).value


def read_marked(path: Path) -> Document:
    """Return one JSON or YAML document, strictly read, that knows where each value stands.

    Raises: OSError; SourceError, whose text names file, line and column.
    """
    found = read_document(str(path), read_plain(path, MAX_DOCUMENT_BYTES))
    if isinstance(found, Document):
        return found
    raise SourceError("\n".join(str(problem) for problem in found))


def draft_all(
    blueprints: Iterable[Blueprint],
    source: Document | None,
    *,
    owner: str | None = None,
    accept_defaults: bool,
) -> tuple[list[Draft], list[Problem]]:
    """Return the drafts, and what stands against the tools of a list that got none.

    ``source`` is the list. Raises: SourceError where the one tool of a source cannot be drafted.
    """
    drafts: list[Draft] = []
    problems: list[Problem] = []
    for blueprint in blueprints:
        made = draft(blueprint, owner=owner, accept_defaults=accept_defaults)
        if isinstance(made, Draft):
            drafts.append(made)
        elif source is None or blueprint.pointer is None:
            raise SourceError(_say_unfit(made))
        else:
            problems += _locate_unfit(made, blueprint.pointer, source)
    return drafts, problems


def locate(left_out: LeftOut, source: Document) -> Problem:
    """Return why a tool of the list ``source`` was left out, with line and column."""
    return source.problem(left_out.pointer, left_out.message, left_out.mend, code=left_out.code)


def say_where(error: SourceError, source: Document) -> str:
    """Return what ``error`` says, with file, line and column where it speaks of one place."""
    if error.pointer is None:
        return f"{source.name}: {error}"
    problem = source.problem(error.pointer, str(error), "")
    place = "" if problem.line is None else f":{problem.line}:{problem.column}"
    return f"{source.name}{place}: {error}"


def _locate_unfit(unfit: Unfit, pointer: str, source: Document) -> Iterator[Problem]:
    """Yield the faults of a schema, at the schema: it was closed since, and places have moved."""
    at = f"{pointer}/{_MEMBERS[unfit.side]}"
    for fault in unfit.faults:
        told = f"the {unfit.side} schema of {show_name(unfit.tool)}, {_say_place(fault)}: "
        yield source.problem(at, told + fault.message, fault.mend, code=fault.code)


def _say_unfit(unfit: Unfit) -> str:
    lines = [f"{unfit.tool}: the {unfit.side} schema cannot be drafted; nothing was written."]
    lines += [
        f"{fault.code} at {_say_place(fault)}: {fault.message} {fault.mend}"
        for fault in unfit.faults
    ]
    return "\n".join(lines)


def _say_place(fault: SchemaFault) -> str:
    return fault.pointer or "the root"


def read_named(paths: Iterable[Path]) -> dict[str, JsonValue]:
    """Return parsed documents by the stem of their files, made distinct. Raises: as read_source."""
    named: dict[str, JsonValue] = {}
    for path in paths:
        stem = path.name.removesuffix(".json").replace(".", "-")
        name, count = stem, 1
        while name in named:
            count += 1
            name = f"{stem}-{count}"
        named[name] = read_source(path)
    return named


def read_python(name: str, side: Literal["arguments", "result"]) -> JsonObject:
    """Import ``module:name`` and return its closed schema.

    Raises: ConfigurationError where it cannot be imported; SourceError where it has no schema.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise SourceError(f"{show_name(name)} is no Python name such as acme.models:Job.")
    schema = schema_of(resolve(PythonName(module, attribute)), side=side)
    if isinstance(schema, str):
        raise SourceError(f"{show_name(name)}: {schema}")
    return schema


def find_taken(folder: Path, drafts: Iterable[Draft]) -> Path | None:
    """Return the first contract folder that exists already; None where none does."""
    homes = (folder / each.tool for each in drafts)
    return next((home for home in homes if home.exists()), None)


def write_drafts(folder: Path, drafts: Iterable[Draft], settings: Mapping[str, str]) -> None:
    """Write each draft into its own folder, and those of ``settings`` that are not there.

    Raises: OSError, FileExistsError where a file is there already.
    """
    for path, text in settings.items():
        if not (folder / path).exists():
            _write(folder / path, text.encode())
    for each in drafts:
        for path, content in each.files.items():
            _write(folder / each.tool / path, content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(content)
