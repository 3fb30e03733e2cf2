"""Everything below ``released``, held to its digests: what was edited, what is gone, what strayed.

A release writes its fixtures first, then DIGESTS, and its document last. So a document that DIGESTS
holds and that is not there was removed, or its release did not end: then all else of it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.releasing import DIGESTS_NAME, is_version, judge_frozen
from sluicegate.opening.documents import Folder, read_inside
from sluicegate.opening.frozen_fixtures import find_edited_fixtures
from sluicegate.opening.released import list_released, read_frozen, read_recorded
from sluicegate.values.codes import Code
from sluicegate.values.names import show_name

DOCUMENT: Final = ".yaml"
ROLLOUT: Final = ".rollout.txt"
WAIVED: Final = ".waived.json"
"""What a release keeps beside its document: how a major is rolled out, and what was accepted."""


def find_edited(read: Folder) -> tuple[Problem, ...]:
    """Return a problem for each frozen file of the folder that is not what was released."""
    found: dict[str, Problem] = {}
    for _, home in sorted(read.tool_folders().items()):
        found.update((str(problem), problem) for problem in judge_home(read.root, home))
    return tuple(found.values())


def judge_home(
    root: Path, home: Path, unfinished: tuple[str, str] | None = None
) -> Iterator[Problem]:
    """Yield what is wrong below ``released`` of the contract's folder ``home``.

    ``unfinished`` is version and digest of a document that is about to be written: that it is not
    there is no problem where DIGESTS holds this very digest. Source: SPEC 2, LIF-3.
    """
    yield from _find_strays(root, home)
    recorded = read_recorded(root, home)
    if isinstance(recorded, Problem):
        yield recorded
        return
    if recorded is None:
        return
    released = list_released(home)
    for version in released:
        content = read_frozen(root, home, version)
        if isinstance(content, Problem):
            yield content
    for version in sorted({*released, *_versions_with_fixtures(recorded)}):
        if version in released or _is_unfinished(version, recorded, unfinished):
            yield from find_edited_fixtures(root, home, version, recorded)
        elif f"{version}{DOCUMENT}" not in recorded:
            yield _gone(root, home / "released" / version, "Restore it")
    for name, digest in sorted(recorded.items()):
        path = home / "released" / name
        version = name.removesuffix(DOCUMENT)
        if "/" in name or version in released or unfinished == (version, digest):
            continue
        if not path.exists() and not path.is_symlink():
            yield _gone(root, path, _mend(name, home))
            continue
        content = read_inside(root, path)
        fault = judge_frozen(name, content, recorded) if isinstance(content, bytes) else None
        if isinstance(content, Problem):
            yield content
        elif fault is not None:
            yield _problem(root, path, fault, "Restore the file as it was released.")


def _find_strays(root: Path, home: Path) -> Iterator[Problem]:
    for path in sorted((home / "released").glob(f"*{DOCUMENT}")):
        if not is_version(path.stem):
            yield _problem(
                root,
                path,
                f"{show_name(path.stem)} is no version, and only released versions stand here.",
                "Move the file elsewhere.",
            )


def _versions_with_fixtures(recorded: Mapping[str, str]) -> set[str]:
    return {name.partition("/")[0] for name in recorded if "/" in name}


def _is_unfinished(
    version: str, recorded: Mapping[str, str], unfinished: tuple[str, str] | None
) -> bool:
    return unfinished == (version, recorded.get(f"{version}{DOCUMENT}"))


def _mend(name: str, home: Path) -> str:
    if not name.endswith(DOCUMENT):
        return "Restore it"
    return (
        f"Restore it; if its release did not end, `sluicegate release {show_name(home.name)}` with"
        " the same contract completes it"
    )


def _gone(root: Path, path: Path, mend: str) -> Problem:
    return _problem(root, path, f"It is gone, and {DIGESTS_NAME} holds it.", f"{mend}.")


def _problem(root: Path, path: Path, message: str, mend: str) -> Problem:
    return Problem(
        code=Code.CONTRACT_INVALID,
        document=path.relative_to(root).as_posix(),
        message=message,
        mend=mend,
    )
