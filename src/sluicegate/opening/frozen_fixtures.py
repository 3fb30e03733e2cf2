"""The fixtures that a release froze with it: written as they were judged, held to their digests.

They lie in ``released/VERSION/fixtures``, in the form of those of the folder, and judge that
version where it is served beside others. Source: SPEC LIF-2, LIF-3.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.releasing import DIGESTS_NAME, judge_frozen
from sluicegate.opening.collecting import SIDECAR
from sluicegate.opening.documents import read_inside
from sluicegate.opening.fixtures import TriedFixture, UnreadFixture
from sluicegate.opening.released_folder import ReleasedFolder

_RESTORE = "Restore the fixtures of the release; those of a new version are its own."


def name_frozen(
    judged: Iterable[TriedFixture], home: PurePosixPath, version: str
) -> dict[str, bytes]:
    """Return fixtures and sidecars, as they were judged, by their names below ``released``.

    ``home`` is the contract's folder as their paths begin. The files are not read again: what
    nobody judged must not be frozen. Raises: ValueError for a name that DIGESTS cannot hold.
    """
    named = {}
    for each in judged:
        if isinstance(each, UnreadFixture):
            continue
        path = PurePosixPath(each.path).relative_to(home)
        beside = path.with_name(path.stem + SIDECAR)
        for at, raw in ((path, each.raw), (beside, each.sidecar)):
            if raw is None:
                continue
            name = f"{version}/{at.as_posix()}"
            if not name.isprintable() or "\\" in name:
                raise ValueError(f"{name!a} is no name that {DIGESTS_NAME} can hold: rename it")
            named[name] = raw
    return named


def find_edited_fixtures(
    released: ReleasedFolder, version: str, recorded: Mapping[str, str]
) -> Iterator[Problem]:
    """Yield a problem for each file of ``released/VERSION`` that is not what was released."""
    there = {
        path.relative_to(released.path).as_posix(): path
        for path in _walk(released.fixtures(version))
    }
    for name, path in there.items():
        content = read_inside(released.root, path)
        if isinstance(content, Problem):
            yield content
            continue
        fault = judge_frozen(name, content, recorded)
        if fault is not None:
            yield released.problem(path, fault, _RESTORE)
    for name in sorted(recorded):
        if name.startswith(f"{version}/") and name not in there:
            yield released.problem(released.path / name, "It is gone, and was released.", _RESTORE)


def _walk(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        linked = [name for name in folders if (Path(here) / name).is_symlink()]
        folders.sort()
        yield from (Path(here, name) for name in sorted(files + linked))
