"""What ``diff`` is given, read and judged: two contract folders, or two files (SPEC LIF-3).

A file holds one schema, or a list of tool definitions as MCP servers publish them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sluicegate.contracts.loading import load
from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.schemas.registration import register
from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.tool_lists import find_tool_list
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.gates.plain_files import read_plain
from sluicegate.lifecycle.diff.changes import Change
from sluicegate.lifecycle.diff.comparison import (
    Comparison,
    ToolDiff,
    compare_contracts,
    compare_presence,
    compare_schemas,
    judge,
)
from sluicegate.lifecycle.diff.definitions import Definition, compare_definitions
from sluicegate.lifecycle.diff.outcome import Diff
from sluicegate.lifecycle.diff.waiving import Waiver, apply_waivers, read_waivers
from sluicegate.opening.documents import MAX_DOCUMENT_BYTES, read_folder
from sluicegate.opening.proving import prove_parts
from sluicegate.opening.python_names import resolve
from sluicegate.opening.trial import try_contracts
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.sides import SideName

WAIVERS_NAME: Final = "diff-waivers.yaml"


class SideMissing(Exception):  # noqa: N818  (a question, not a fault of the file)
    """The file that the text names holds a schema, and nobody said which side it stands on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where a tool is written: its file, the document in it, and the place in that document."""

    path: str
    document: Document
    place: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One version: ``path`` as it was given, and where each of its tools is written."""

    path: str
    written: Mapping[str, Written] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What ``diff`` found; ``problems`` are what keeps it from being judged: then it is empty."""

    diff: Diff
    old: Side
    new: Side
    problems: tuple[Problem, ...] = ()

    def place(self, change: Change) -> tuple[str, int | None, int | None]:
        """Return file, line and column of a change; line and column None: in no one place."""
        side = self.new if change.within == "new" else self.old
        written = side.written.get(change.tool)
        if written is None:
            return side.path, None, None
        mark = written.document.marks.of_key(written.place + change.pointer)
        return (written.path, None, None) if mark is None else (written.path, *mark)

    def place_version(self, tool: str) -> tuple[str, int | None, int | None]:
        """Return file, line and column of the version that the new side declares for ``tool``."""
        written = self.new.written.get(tool)
        if written is None:
            return self.new.path, None, None
        mark = written.document.marks.of_key(f"{written.place}/version")
        return (written.path, None, None) if mark is None else (written.path, *mark)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    """The tools of a file: one without a name for a bare schema."""

    side: Side
    tools: Mapping[str, Definition | JsonObject] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def compare_files(
    old: str, new: str, side: SideName | None, *, waivers: Sequence[Waiver] = (), now: datetime
) -> Compared:
    """Compare two files as they are written; definitions tool by tool, both sides of each.

    ``side`` says which side of the boundary a bare schema stands on; definitions need none. ``now``
    is the time by which waivers expire. A contract is a problem: it is compared by its folder.
    Raises: OSError where a file cannot be read; SideMissing for a schema without ``side``.
    """
    before, after = (_read_tools(path, side or "arguments") for path in (old, new))
    problems = before.problems + after.problems
    if not problems and ("" in before.tools) != ("" in after.tools):
        problems = (_unlike(new),)
    if problems:
        return _failed(before.side, after.side, problems)
    if side is None and "" in before.tools:
        raise SideMissing(old)
    comparisons = []
    for tool in before.tools:
        if tool not in after.tools:
            continue
        was, is_ = before.tools[tool], after.tools[tool]
        if isinstance(was, Definition) and isinstance(is_, Definition):
            comparisons.append(compare_definitions(was, is_))
        elif side and not isinstance(was, Definition) and not isinstance(is_, Definition):
            comparisons.append(compare_schemas(was, is_, side))
    tools = (*compare_presence(before.tools, after.tools), *_judge(comparisons))
    return _finish(before.side, after.side, tools, waivers, now)


def compare_folders(
    old: str, new: str, *, python: bool, waivers: Sequence[Waiver] = (), now: datetime
) -> Compared:
    """Compare two contract folders, tool by tool, on effective schemas and policies.

    The versions being worked on are compared, whatever an operator rolled back to.
    ``python=False`` forbids every Python name in them. ``now`` as in ``compare_files``.
    """
    before, old_side, old_problems = _read_contracts(old, python=python)
    after, new_side, new_problems = _read_contracts(new, python=python)
    if before is None or after is None:
        return _failed(old_side, new_side, old_problems + new_problems)
    comparisons = [
        compare_contracts(contract, after.contracts[tool])
        for tool, contract in sorted(before.contracts.items())
        if tool in after.contracts
    ]
    tools = (*compare_presence(before.contracts, after.contracts), *_judge(comparisons))
    return _finish(old_side, new_side, tools, waivers, now)


def read_waiver_file(path: Path) -> tuple[Waiver, ...]:
    """Return the waivers of a file.

    Raises: OSError where it cannot be read; ValueError saying what is wrong with it.
    """
    document = _open_document(str(path))
    if not isinstance(document, Document):
        raise ValueError("; ".join(str(problem) for problem in document))
    return read_waivers(document.value)


def read_folder_waivers(folder: Path) -> tuple[Waiver, ...]:
    """Return the waivers that stand in a contract folder. Raises: as ``read_waiver_file``."""
    path = folder / WAIVERS_NAME
    return read_waiver_file(path) if path.is_file() else ()


def _judge(comparisons: Sequence[Comparison]) -> tuple[ToolDiff, ...]:
    proofs = prove_parts([part for one in comparisons for part in one.unproven])
    tools = []
    used = 0
    for one in comparisons:
        count = len(one.unproven)
        tools.append(judge(one, proofs[used : used + count]))
        used += count
    return tuple(tools)


def _finish(
    old: Side, new: Side, tools: Sequence[ToolDiff], waivers: Sequence[Waiver], now: datetime
) -> Compared:
    waived, idle = apply_waivers(tools, waivers, now.astimezone(UTC).date())
    return Compared(diff=Diff(tools=waived, idle=idle), old=old, new=new)


def _failed(old: Side, new: Side, problems: tuple[Problem, ...]) -> Compared:
    return Compared(diff=Diff(tools=()), old=old, new=new, problems=problems)


# --- files -------------------------------------------------------------------------------------


def _read_tools(path: str, side: SideName) -> _Tools:
    document = _open_document(path)
    if not isinstance(document, Document):
        return _Tools(side=Side(path=path), problems=document)
    if isinstance(document.value, Mapping) and "sluicegate" in document.value:
        return _Tools(side=Side(path=path), problems=(_of_folder(document),))
    listed = find_tool_list(document.value)
    if listed is None:
        schema = _register(document, "", document.value, side)
        if isinstance(schema, tuple):
            return _Tools(side=Side(path=path), problems=schema)
        written = {"": Written(path=path, document=document)}
        return _Tools(side=Side(path=path, written=written), tools={"": schema})
    tools: dict[str, Definition] = {}
    places: dict[str, Written] = {}
    problems: list[Problem] = []
    for place, told in listed.places():
        definition = _define(document, place, told if isinstance(told, Mapping) else {})
        if isinstance(definition, tuple):
            problems.extend(definition)
        elif definition.name in tools:
            problems.append(
                document.problem(f"{place}/name", "Two tools bear this name.", "Keep one of them.")
            )
        else:
            tools[definition.name] = definition
            places[definition.name] = Written(path=path, document=document, place=place)
    return _Tools(
        side=Side(path=path, written=places),
        tools=tools,
        problems=tuple(problems),
    )


def _open_document(path: str) -> Document | tuple[Problem, ...]:
    return read_document(path, read_plain(Path(path), MAX_DOCUMENT_BYTES))


def _define(
    document: Document, place: str, written: JsonObject
) -> Definition | tuple[Problem, ...]:
    name, described = written.get("name"), written.get("inputSchema")
    if not isinstance(name, str) or not name or not isinstance(described, Mapping):
        return (
            document.problem(
                place, "This is no tool definition.", "Write an object with name and inputSchema."
            ),
        )
    arguments = _register(document, f"{place}/inputSchema", described, "arguments")
    result: JsonObject | tuple[Problem, ...] | None = None
    if "outputSchema" in written:
        place_of_result = f"{place}/outputSchema"
        result = _register(document, place_of_result, written["outputSchema"], "result")
    if isinstance(arguments, tuple) or isinstance(result, tuple):
        return tuple(
            problem for one in (arguments, result) if isinstance(one, tuple) for problem in one
        )
    return Definition(name=name, written=written, arguments=arguments, result=result)


def _register(
    document: Document, place: str, schema: JsonValue, side: SideName
) -> JsonObject | tuple[Problem, ...]:
    registered = register(schema, side=side, strict=False)
    if not isinstance(registered, tuple):
        return registered.document
    return tuple(
        document.problem(place + fault.pointer, fault.message, fault.mend, code=fault.code)
        for fault in registered
    )


def _of_folder(document: Document) -> Problem:
    return document.problem(
        "/sluicegate",
        "This file belongs to a contract folder; it is neither a schema nor a tool list.",
        "Compare two contract folders, those that hold sluicegate.yaml; the former one comes out"
        " of version control, for example by `git worktree add`.",
    )


def _unlike(path: str) -> Problem:
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=path,
        message="One file lists tools and the other holds a schema.",
        mend="Compare like with like.",
    )


# --- folders -----------------------------------------------------------------------------------


def _read_contracts(
    path: str, *, python: bool
) -> tuple[ContractSet | None, Side, tuple[Problem, ...]]:
    read = read_folder(Path(path))
    loaded = read.problems or load(read.documents, resolve=resolve if python else None)
    problems = loaded if isinstance(loaded, tuple) else try_contracts(loaded.contracts.values())
    if isinstance(loaded, tuple) or problems:
        there = tuple(
            replace(problem, document=str(Path(path, problem.document))) for problem in problems
        )
        return None, Side(path=path), there
    written: dict[str, Written] = {}
    for tool, contract in loaded.contracts.items():
        document = read_document(contract.source, read.documents[contract.source])
        if isinstance(document, Document):
            file = str(Path(path, contract.source))
            written[tool] = Written(path=file, document=document)
    return loaded, Side(path=path, written=written), ()
