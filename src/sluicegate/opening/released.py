"""A rollback at work: the released version that an operator chose stands in for the current one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sluicegate.contracts.problems import Problem
from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.opening.documents import Folder, read_inside
from sluicegate.opening.steering import Steering
from sluicegate.values.names import show_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """``documents`` to load; ``replaced`` names the contract documents that stand in for others."""

    documents: Mapping[str, bytes]
    replaced: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


def put_released(read: Folder, steering: Steering) -> Steered:
    """Put ``released/VERSION.yaml`` in the place of each contract that was rolled back.

    It is read as every document is: from inside the folder, up to its size. One that cannot be
    read is a problem of the contract it belongs to.
    """
    documents = dict(read.documents)
    replaced: set[str] = set()
    problems: list[Problem] = []
    for name, home in read.tool_folders().items():
        document = read_document(name, documents[name])
        if not isinstance(document, Document) or not isinstance(document.value, Mapping):
            continue  # the loader says what is wrong with it
        version = steering.versions.get(str(document.value.get("tool")))
        if version is None:
            continue
        content = read_inside(read.root, home / "released" / f"{version}.yaml")
        if isinstance(content, bytes):
            documents[name] = content
            replaced.add(name)
        else:
            problems.append(_explain(content, name, version))
    return Steered(documents=documents, replaced=frozenset(replaced), problems=tuple(problems))


def _explain(problem: Problem, name: str, version: str) -> Problem:
    return replace(
        problem,
        document=name,
        message=f"An operator rolled back to {show_name(version)}, "
        f"and {problem.document} cannot be served: {problem.message}",
        mend="Restore that file, or run `sluicegate rollback` to another version.",
    )
