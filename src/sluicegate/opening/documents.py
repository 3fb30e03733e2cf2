"""Reading the contract folder: plain files below it, nothing from outside, links included."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sluicegate.contracts.file_names import NEAR_SETTINGS_NAMES, SETTINGS_NAME, is_contract
from sluicegate.contracts.problems import Problem
from sluicegate.gates.plain_files import read_plain
from sluicegate.values.codes import Code
from sluicegate.values.names import show_name

MAX_DOCUMENT_BYTES: Final = 1_048_576
_SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
_MISSPELT: Final = frozenset({*NEAR_SETTINGS_NAMES, "contract.yml"})
"""Names that a reader would take for settings or a contract, and that nothing reads."""

_ASIDE: Final = frozenset({"fixtures", "released", "state", "keys", "__pycache__"})
_MAX_DOCUMENTS: Final = 10_000
_THE_FILE: Final = "The file "


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """``documents`` by folder-relative POSIX path; ``problems`` are files that were not read."""

    root: Path
    documents: Mapping[str, bytes] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def tool_folders(self) -> dict[str, Path]:
        """Return the folder of each contract document, by document name."""
        return {name: (self.root / name).parent for name in self.documents if is_contract(name)}


def read_folder(root: Path) -> Folder:
    """Read settings, contracts and the schema files beside them.

    Fixtures, released copies and state are not contracts and are not read here. A link that
    leaves the folder, a file that is too large and a file that cannot be read are problems.
    """
    documents: dict[str, bytes] = {}
    problems: list[Problem] = []
    if not root.is_dir():
        return Folder(root=root, problems=(_missing(root),))
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        if path.name in _MISSPELT:
            problems.append(
                file_problem(name, "is not read under this name.", f"Call it {path.stem}.yaml.")
            )
            continue
        if len(documents) >= _MAX_DOCUMENTS:
            problems.append(file_problem(name, "is one file too many.", "Split the folder."))
            break
        content = read_inside(root, path)
        if isinstance(content, bytes):
            documents[name] = content
        else:
            problems.append(content)
    return Folder(root=root, documents=documents, problems=tuple(problems))


def read_inside(root: Path, path: Path) -> bytes | Problem:
    """Return what the file ``path`` below ``root`` holds, or why it was not read.

    A link that leaves ``root``, what is absent or no plain file, a file over ``MAX_DOCUMENT_BYTES``
    and one that cannot be read are problems.
    """
    name = path.relative_to(root).as_posix()
    try:
        leaves = not path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):  # a link in a circle, a NUL in a name
        leaves = True
    if leaves:
        return file_problem(name, "is a link that leaves the folder.", "Copy the file into it.")
    content = _content(path)
    if isinstance(content, bytes):
        return content
    return file_problem(name, content, "Mend the file or remove it.")


def say_unread(problem: Problem) -> str:
    """Return why a file was not read, to go on from a name that stands for it."""
    return problem.message.removeprefix(_THE_FILE).rstrip(".")


def find_settings_around(root: Path) -> Path | None:
    """Return the folder around ``root`` where its settings stand and ``root`` has none."""
    if (root / SETTINGS_NAME).is_file() or not root.is_dir():
        return None
    around = Path(os.path.normpath(root / ".."))
    return around if (around / SETTINGS_NAME).is_file() else None


def say_misplaced(root: Path) -> str | None:
    """Return the sentence for a folder inside a contract folder, taken for one; else None."""
    around = find_settings_around(root)
    if around is None:
        return None
    return f"{root} holds no {SETTINGS_NAME}, and {around} around it does: name that folder"


def find_settings_near(root: Path) -> Path | None:
    """As ``find_settings_around``, else the first folder just below ``root`` that has settings."""
    around = find_settings_around(root)
    if around is not None or (root / SETTINGS_NAME).is_file() or not root.is_dir():
        return around
    below = sorted(path for path in root.iterdir() if not path.name.startswith("."))
    return next((path for path in below if (path / SETTINGS_NAME).is_file()), None)


def _files(root: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(root, followlinks=False):
        linked = [name for name in folders if (Path(here) / name).is_symlink()]
        folders[:] = sorted(
            name
            for name in folders
            if name not in _ASIDE and not name.startswith(".") and name not in linked
        )
        # A linked folder is named as a file would be, so that it becomes a problem, not a gap.
        for name in sorted(files + [name for name in linked if name not in _ASIDE]):
            path = Path(here) / name
            if path.suffix in _SUFFIXES or path.is_symlink():
                yield path


def _content(path: Path) -> bytes | str:
    try:
        content = read_plain(path, MAX_DOCUMENT_BYTES)
    except FileNotFoundError:
        return "does not exist."
    except OSError as error:
        if not os.path.isfile(path):  # noqa: PTH113  (which raises for no name)
            return "is not a plain file."
        return f"cannot be read: {error.strerror}."
    if len(content) > MAX_DOCUMENT_BYTES:
        return f"has more than {MAX_DOCUMENT_BYTES} bytes."
    return content


def _missing(root: Path) -> Problem:
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=show_name(str(root)),
        message="There is no such folder.",
        mend="Name the folder that holds sluicegate.yaml, or make one with `sluicegate init`.",
    )


def file_problem(name: str, message: str, mend: str) -> Problem:
    """Return what is wrong with the file ``name``; ``message`` goes on from ``The file``."""
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=show_name(name),
        message=f"{_THE_FILE}{message}",
        mend=mend,
    )
