"""The fixtures that a release froze with it: copied when it is written, held to their digests.

They lie in ``released/VERSION/fixtures``, in the form of those of the folder, and judge that
version where it is served beside others. Source: SPEC LIF-2, LIF-3.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from sluicegate.contracts.problems import Problem
from sluicegate.lifecycle.releasing import DIGESTS_NAME, judge_frozen
from sluicegate.opening.collecting import SIDECAR, Stray, collect
from sluicegate.opening.documents import read_inside
from sluicegate.opening.released_folder import ReleasedFolder
from sluicegate.opening.situations import read_fixture

_RESTORE = "Restore the fixtures of the release; those of a new version are its own."


def copy_fixtures(home: Path, version: str) -> dict[str, bytes]:
    """Return the fixtures and sidecars below ``home`` by their names below ``released``.

    Raises: ValueError for a name that DIGESTS cannot hold and for a link that leaves the folder.
    """
    copies = {}
    for found in collect(home):
        if isinstance(found, Stray):
            continue
        sidecar = found.path.with_name(found.path.stem + SIDECAR)
        for path in (found.path, sidecar):
            if path is sidecar and not path.is_file():
                continue
            name = f"{version}/{path.relative_to(home).as_posix()}"
            if not name.isprintable() or "\\" in name:
                raise ValueError(f"{name!a} is no name that {DIGESTS_NAME} can hold: rename it")
            copies[name] = read_fixture(home, path)
    return copies


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
