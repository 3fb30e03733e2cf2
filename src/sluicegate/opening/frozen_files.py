"""Everything below ``released``, held to its digests: what was edited, what is gone, what strayed.

A release writes its fixtures first, then DIGESTS, and its document last. So a document that DIGESTS
holds and that is not there was removed, or its release did not end: then all else of it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.releasing import DIGESTS_NAME, judge_frozen
from sluicegate.opening.documents import Folder, read_inside
from sluicegate.opening.frozen_fixtures import find_edited_fixtures
from sluicegate.opening.released_folder import DOCUMENT, ReleasedFolder
from sluicegate.values.names import show_name


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
    released = ReleasedFolder(root=root, home=home)
    for path in released.strays():
        says = f"{show_name(path.stem)} is no version, and only released versions stand here."
        yield released.problem(path, says, "Move the file elsewhere.")
    recorded = released.digests()
    if isinstance(recorded, Problem):
        yield recorded
        return
    if recorded is None:
        return
    versions = released.versions()
    for version in versions:
        content = released.document(version)
        if isinstance(content, Problem):
            yield content
    for version in sorted({*versions, *_versions_with_fixtures(recorded)}):
        if version in versions or _is_unfinished(version, recorded, unfinished):
            yield from find_edited_fixtures(released, version, recorded)
        elif f"{version}{DOCUMENT}" not in recorded:
            yield _gone(released, version, "Restore it")
    for name, digest in sorted(recorded.items()):
        path = released.path / name
        version = name.removesuffix(DOCUMENT)
        if "/" in name or version in versions or unfinished == (version, digest):
            continue
        if not path.exists() and not path.is_symlink():
            yield _gone(released, name, _mend(name, home))
            continue
        content = read_inside(root, path)
        fault = judge_frozen(name, content, recorded) if isinstance(content, bytes) else None
        if isinstance(content, Problem):
            yield content
        elif fault is not None:
            yield released.problem(path, fault, "Restore the file as it was released.")


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


def _gone(released: ReleasedFolder, name: str, mend: str) -> Problem:
    says = f"It is gone, and {DIGESTS_NAME} holds it."
    return released.problem(released.path / name, says, f"{mend}.")
