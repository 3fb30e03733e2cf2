"""Lint of files and folders: what is read, judged in one run, and led back to its lines (LIF-1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

from sluicegate.contracts.file_names import SETTINGS_NAME, is_contract
from sluicegate.contracts.loading import load
from sluicegate.contracts.marks import Document, Mark
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.settings import FolderLimits
from sluicegate.contracts.tool_lists import find_tool_list
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import read_plain
from sluicegate.lifecycle.lint.baseline import Entry
from sluicegate.lifecycle.lint.findings import LintFinding
from sluicegate.lifecycle.lint.linting import Profile, lint
from sluicegate.lifecycle.lint.subject import SideName, Subject
from sluicegate.lifecycle.lint.table import RULES
from sluicegate.opening.deciding import decide
from sluicegate.opening.documents import MAX_DOCUMENT_BYTES, Folder, file_problem, read_folder
from sluicegate.opening.lint_subjects import (
    Derive,
    Homed,
    Written,
    name_from_here,
    subjects_of_contract,
    subjects_of_tools,
)
from sluicegate.opening.python_names import resolve
from sluicegate.opening.repeated_members import find_repeated
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Linted:
    """A finding with its place in a file; ``pointer`` leads into the file.

    ``owner`` is the tool, where one is known; ``entry`` is what a baseline knows it by.
    """

    finding: LintFinding
    file: str
    pointer: str
    owner: str
    line: int | None
    column: int | None
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class LintReport:
    """``checked`` schemas were judged; ``problems`` kept documents from being read at all.

    ``unreadable`` are paths that could not be opened, each with the reason.
    """

    findings: tuple[Linted, ...]
    checked: int
    problems: tuple[Problem, ...] = ()
    unreadable: tuple[Problem, ...] = ()


def lint_paths(
    paths: Sequence[Path],
    *,
    side: SideName | None = None,
    profile: Profile | None = None,
    python: bool = True,
    today: date,
) -> LintReport:
    """Lint bare schemas, tool lists and contract folders, all in one run.

    ``side`` says what a bare schema is for; ``python`` whether schemas may be derived from Python
    that the settings admit. Raises: ConfigurationError for a bare schema without ``side``.
    """
    gathered = _Gathered(side, python=python)
    for path in paths:
        gathered.take(path)
    judged = lint(
        [homed.subject for homed in gathered.homed], decide=decide, today=today, profile=profile
    )
    findings = [
        _place(homed, finding)
        for homed, found in zip(gathered.homed, judged, strict=True)
        for finding in found
    ]
    return LintReport(
        findings=tuple(sorted((*gathered.repeated, *findings), key=_by_rule)),
        checked=len(gathered.homed) + len(gathered.repeated),
        problems=tuple(gathered.problems),
        unreadable=tuple(gathered.unreadable),
    )


def _by_rule(linted: Linted) -> int:
    """Findings of one rule stand together, in the order of the table."""
    return list(RULES).index(linted.finding.rule)


def subtract_baseline(
    report: LintReport, known: frozenset[Entry], file: str, *, whole: bool = True
) -> LintReport:
    """Leave out what a baseline knows; an entry that nothing answers to is a finding of its own.

    ``whole`` false: not everything was read, so nothing is said about entries.
    """
    met = {linted.entry for linted in report.findings}
    rule = RULES["L04"]
    stale = [
        Linted(
            finding=LintFinding(
                rule=rule.id,
                name=rule.name,
                severity="warning",
                pointer=entry.pointer,
                message=f"{entry.rule} finds nothing any more in {show_name(entry.contract)}.",
                hint=rule.mend,
            ),
            file=file,
            pointer=entry.pointer,
            owner="",
            line=None,
            column=None,
            entry=Entry(rule.id, file, f"{entry.rule} {entry.contract} {entry.pointer}"),
        )
        for entry in sorted(known - met if whole else ())
    ]
    left = tuple(linted for linted in report.findings if linted.entry not in known)
    return replace(report, findings=(*left, *stale))


def _place(homed: Homed, finding: LintFinding) -> Linted:
    file, pointer, find = homed.file, homed.base + finding.pointer, homed.find
    known_as, known_at = homed.known_as, homed.known_base + finding.pointer
    other = None if finding.resource is None else homed.beside.get(finding.resource)
    if other is not None:
        file, pointer, find = other[0], finding.pointer, other[1]
        known_as, known_at = f"{known_as}#{finding.resource}", finding.pointer
    mark = find(pointer)
    line, column = mark if mark is not None else (None, None)
    return Linted(
        finding=finding,
        file=file,
        pointer=pointer,
        owner=homed.owner,
        line=line,
        column=column,
        entry=Entry(finding.rule, known_as, known_at),
    )


class _Gathered:
    """What the paths hold, as far as it can be read."""

    def __init__(self, side: SideName | None, *, python: bool) -> None:
        self._side = side
        self._python = python
        self.homed: list[Homed] = []
        self.repeated: list[Linted] = []
        self.problems: list[Problem] = []
        self.unreadable: list[Problem] = []

    def take(self, path: Path) -> None:
        if path.is_dir():
            self._take_folder(read_folder(path), None)
        elif is_contract(path.name):
            root = next((one for one in path.absolute().parents[:3] if _is_root(one)), path.parent)
            name = path.absolute().relative_to(root.absolute()).as_posix()
            self._take_folder(read_folder(_shorter(root, path)), name)
        else:
            self._take_file(path)

    def _take_file(self, path: Path) -> None:
        try:
            raw = read_plain(path, MAX_DOCUMENT_BYTES)
        except OSError as error:
            self.unreadable.append(
                file_problem(
                    str(path),
                    f"cannot be read: {error.strerror}.",
                    "Name a file or a folder that can be read.",
                )
            )
            return
        read = read_document(str(path), raw)
        if isinstance(read, Document):
            self._take_value(read.value, str(path), read.marks.of_value, ())
            return
        repeated = find_repeated(raw) if _is_repeated(read) else None
        if repeated is None:
            self.problems.extend(read)
        else:
            self._take_value(repeated.value, str(path), repeated.find, repeated.pointers)

    def _take_value(
        self,
        value: Any,
        file: str,
        find: Callable[[str], Mark | None],
        repeated: tuple[str, ...],
    ) -> None:
        listed = find_tool_list(value)
        if listed is not None:
            self.homed.extend(subjects_of_tools(listed, file, find, self._side))
            return
        if self._side is None:
            raise ConfigurationError(
                f"{file} is a bare schema: say --side arguments or --side result"
            )
        subject = Subject(schema=value, side=self._side, repeated=repeated)
        known_as = name_from_here(file)
        self.homed.append(
            Homed(subject=subject, file=file, base="", find=find, known_as=known_as, known_base="")
        )

    def _take_folder(self, folder: Folder, only: str | None) -> None:
        def shown(name: str) -> str:
            return str(folder.root / name)

        self.problems.extend(
            replace(problem, document=shown(problem.document)) for problem in folder.problems
        )
        documents: dict[str, Document] = {}
        unread: dict[str, tuple[Problem, ...]] = {}
        for name, raw in folder.documents.items():
            if only is not None and is_contract(name) and name != only:
                continue
            read = read_document(name, raw)
            if isinstance(read, Document):
                documents[name] = read
            elif _is_repeated(read):
                self.repeated.extend(_as_repeated(problem, shown) for problem in read)
                unread[name] = ()
            elif is_contract(name) or name == SETTINGS_NAME:
                self._tell(read, shown)
            else:
                unread[name] = read
        schemas = {
            name: document
            for name, document in documents.items()
            if not is_contract(name) and name != SETTINGS_NAME
        }
        self._tell(_judge_settings(folder), shown)
        limits = _limits(documents.get(SETTINGS_NAME))
        for name in sorted(filter(is_contract, documents)):
            written = Written(
                document=documents[name],
                home=(folder.root / name).parent,
                schemas=schemas,
                limits=limits,
                shown=shown,
                unread=unread,
            )
            for found in subjects_of_contract(written, self._derive(folder, documents[name])):
                if isinstance(found, Problem):
                    self._tell((found,), shown)
                else:
                    self.homed.append(found)

    def _tell(self, problems: Sequence[Problem], shown: Callable[[str], str]) -> None:
        """Note what kept a schema from being judged, once."""
        told = [replace(problem, document=shown(problem.document)) for problem in problems]
        self.problems.extend(problem for problem in told if problem not in self.problems)

    def _derive(self, folder: Folder, document: Document) -> Derive:
        """Schemas from Python are those of the loaded contract; one that does not load has none."""
        name = document.name

        def derive(side: SideName) -> JsonObject | tuple[Problem, ...]:
            if not self._python:
                return (
                    document.problem(
                        f"/{side}/schema/python",
                        "the schema is made by Python, which --no-python forbids.",
                        "Allow Python, or write the schema here.",
                    ),
                )
            wanted = {
                one: raw
                for one, raw in folder.documents.items()
                if not is_contract(one) or one == name
            }
            loaded = load(wanted, resolve=resolve)
            if isinstance(loaded, tuple):
                return loaded
            (contract,) = loaded.contracts.values()
            part = contract.arguments if side == "arguments" else contract.result
            return part.schema.document

        return derive


def _judge_settings(folder: Folder) -> Sequence[Problem]:
    """Return what keeps the settings from being valid: such a folder cannot be served."""
    alone = {name: raw for name, raw in folder.documents.items() if name == SETTINGS_NAME}
    loaded = load(alone, resolve=None)
    return loaded if isinstance(loaded, tuple) else ()


def _is_root(folder: Path) -> bool:
    return (folder / SETTINGS_NAME).is_file()


def _shorter(root: Path, path: Path) -> Path:
    """``root`` as the person who named ``path`` would write it."""
    for here in path.parents:
        if here.absolute() == root:
            return here
    return root


def _is_repeated(problems: Sequence[Problem]) -> bool:
    return all(problem.code is Code.DUPLICATE_MEMBER for problem in problems)


def _as_repeated(problem: Problem, shown: Callable[[str], str]) -> Linted:
    rule, file = RULES["D05"], shown(problem.document)
    return Linted(
        finding=LintFinding(
            rule=rule.id,
            name=rule.name,
            severity="error",
            pointer=problem.pointer,
            message=problem.message,
            hint=problem.mend,
        ),
        file=file,
        pointer=problem.pointer,
        owner="",
        line=problem.line,
        column=problem.column,
        entry=Entry(rule.id, problem.document, problem.pointer),
    )


def _limits(settings: Document | None) -> FolderLimits:
    """The limits of a folder, read leniently: what is no number leaves the default."""
    value = settings.value if settings is not None else None
    given = value.get("limits") if isinstance(value, Mapping) else None
    default = FolderLimits()

    def most(name: str, otherwise: int) -> int:
        found = given.get(name) if isinstance(given, Mapping) else None
        return found if isinstance(found, int) else otherwise

    return replace(
        default,
        max_call_bytes=most("max_call_bytes", default.max_call_bytes),
        max_bytes=most("max_bytes", default.max_bytes),
        max_depth=most("max_depth", default.max_depth),
    )
