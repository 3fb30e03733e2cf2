"""Which files below a contract's folder are fixtures, and which only look like some (SPEC 2).

A file that nothing reads proves nothing, and nobody would miss it: each file below ``fixtures`` is
a fixture, the sidecar of one, or a stray that is told of.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from sluicegate.contracts.places import suggest
from sluicegate.values.names import say_near, show_name

FIXTURES: Final = "fixtures"
SUFFIXES: Final = frozenset({".json", ".bin"})
SIDECAR: Final = ".expect.yaml"
EQUIVALENTS: Final = "equivalents.yaml"
"""Beside the sides: mutants that are declared to be no other answer, which `test` reads."""

_EXPECTED: Final[Mapping[str, str]] = {
    "accepted": "accepted",
    "former": "accepted",
    "rejected": "rejected",
}
_SIDES: Final = ("arguments", "result")
_NEAR: Final = 0.82
"""``fixture`` and ``fixtrues`` are near, ``features`` is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One fixture: ``side`` and ``expected`` are said by the folders that it lies in."""

    side: str
    expected: str
    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A file or folder that no ladder climbs, and ``note`` why."""

    path: Path
    note: str


def collect(home: Path) -> Iterator[Case | Stray]:
    """Yield the fixtures of a contract's folder, by side and kind, and then the strays.

    Names that begin with a dot and READMEs are passed over.
    """
    strays = list(_misnamed(home))
    outside = _outside(home / FIXTURES, _SIDES, f"it is none of {', '.join(_SIDES)}")
    strays += (each for each in outside if each.path.name != EQUIVALENTS)
    for side in _SIDES:
        base = home / FIXTURES / side
        strays += _outside(base, _EXPECTED, f"it is none of {', '.join(_EXPECTED)}")
        for kind, expected in _EXPECTED.items():
            for path in _walk(base / kind):
                note = _doubt(path)
                if note:
                    strays.append(Stray(path=path, note=note))
                elif path.suffix in SUFFIXES:
                    yield Case(side=side, expected=expected, path=path)
    yield from strays


def _misnamed(home: Path) -> Iterator[Stray]:
    for path in _entries(home):
        near = get_close_matches(path.name.lower(), [FIXTURES], n=1, cutoff=_NEAR)
        if near and path.name != FIXTURES and path.is_dir():
            yield Stray(path=path, note=f"is not read under this name: call it {FIXTURES}")


def _outside(folder: Path, known: Mapping[str, str] | tuple[str, ...], why: str) -> Iterator[Stray]:
    for path in _entries(folder):
        if path.name not in known:
            yield Stray(path=path, note=f"is not read, for {why}. {suggest(path.name, known)}")
        elif not path.is_dir():
            yield Stray(path=path, note="is not read, for it is no folder")


def _doubt(path: Path) -> str:
    """Return why the file at ``path`` is neither a fixture nor the sidecar of one; else nothing."""
    if path.is_dir():
        return "is a link to a folder, which is not followed: copy it"
    if path.name.endswith(SIDECAR):
        stem = path.name.removesuffix(SIDECAR)
        if any(path.with_name(stem + suffix).is_file() for suffix in SUFFIXES):
            return ""
        others = {each.stem for each in _entries(path.parent) if each.suffix in SUFFIXES}
        near = say_near(stem, others, ending=SIDECAR)
        return f"stands beside no {show_name(stem)}.json and no {show_name(stem)}.bin{near}"
    if not path.is_file():
        return "is no plain file"
    if Path(path.stem).suffix == ".expect":
        return f"is not read under this name: call it {show_name(Path(path.stem).stem)}{SIDECAR}"
    if path.suffix not in SUFFIXES:
        return "is not read: a fixture ends in .json or .bin, and its sidecar in .expect.yaml"
    return ""


def _walk(folder: Path) -> Iterator[Path]:
    """Yield files, and links to folders, at every depth, in the order of their paths."""
    found = []
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        linked = [name for name in folders if (Path(here) / name).is_symlink()]
        found += [Path(here) / name for name in files + linked if not _is_passed_over(name)]
    return iter(sorted(found))


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if not _is_passed_over(path.name))


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or Path(name).stem == "README"
