"""Reading a folder of policies: all of it, and nothing that stands there is passed over in silence.

A file that nothing reads might be the one that forbids.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from sluicegate.access.cedar_folder import ENTITIES, JSON_SCHEMA, POLICY_SUFFIX, TEXT_SCHEMA
from sluicegate.contracts.problems import Problem
from sluicegate.opening.documents import file_problem, read_inside

_ONCE: Final = frozenset({ENTITIES, JSON_SCHEMA, TEXT_SCHEMA})
_MAX_DOCUMENTS: Final = 1_000


def read_policies(root: Path, folder: str) -> Mapping[str, bytes] | tuple[Problem, ...]:
    """Return the documents below ``folder`` by name relative to ``root``, or what was not read.

    Folders in it are read too; names that begin with a dot and READMEs are passed over, unless
    they end as policies do. A link that leaves ``root``, a file of another kind and a file that
    cannot be read are problems.
    """
    folder = folder.rstrip("/")
    documents: dict[str, bytes] = {}
    problems: list[Problem] = []
    for path in _files(root / folder):
        name = path.relative_to(root).as_posix()
        if len(documents) + len(problems) >= _MAX_DOCUMENTS:
            problems.append(file_problem(name, "is one file too many.", "Join the policies."))
            break
        if not name.endswith(POLICY_SUFFIX) and name.removeprefix(f"{folder}/") not in _ONCE:
            problems.append(
                file_problem(
                    name,
                    "is read by nothing.",
                    f"Policies end in {POLICY_SUFFIX}; {', '.join(sorted(_ONCE))} stand in "
                    f"{folder} itself.",
                )
            )
            continue
        content = read_inside(root, path)
        if isinstance(content, bytes):
            documents[name] = content
        else:
            problems.append(content)
    return tuple(problems) or documents


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder, followlinks=False):
        linked = [name for name in folders if (Path(here) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in linked)
        for name in sorted(files + linked):
            is_aside = name[0] == "." or name.upper().startswith("README")
            if not is_aside or name.endswith(POLICY_SUFFIX):
                yield Path(here) / name
