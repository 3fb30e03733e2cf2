"""A rollback at work: the released version that an operator chose stands in for the current one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.opening.documents import Folder
from sluicegate.opening.released_folder import ReleasedFolder
from sluicegate.values.codes import Code
from sluicegate.values.names import show_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A released document that stands in for the contract document ``source``."""

    source: str
    document: str
    tool: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Steered:
    """``documents`` to load; ``replaced`` maps the name of a contract document to what stands in.

    A released document is loaded under the name of the contract that it stands in for, so that
    its references lead where they led; what is wrong with it is told of the released document.
    """

    documents: Mapping[str, bytes]
    replaced: Mapping[str, Release] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def tell(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return ``problems`` with those of a released document under its own name."""
        return tuple(tell_of_releases(problems, self.replaced))

    def find_strangers(self, contracts: Iterable[Contract]) -> Iterator[Problem]:
        """Yield a problem for each released document that is not of its tool and version."""
        for contract in contracts:
            release = self.replaced.get(contract.source)
            if release is None:
                continue
            for key, is_, wanted in (
                ("tool", contract.tool, release.tool),
                ("version", contract.version, release.version),
            ):
                if is_ != wanted:
                    yield Problem(
                        code=Code.CONTRACT_INVALID,
                        document=contract.source,
                        message=f"`{key}` is {show_name(is_)} here, and must be "
                        f"{show_name(wanted)}.",
                        mend="Restore the file as it was released.",
                        pointer=f"/{key}",
                    )


def tell_of_releases(
    problems: Iterable[Problem], replaced: Mapping[str, Release]
) -> Iterator[Problem]:
    """Yield ``problems``, with those of a released document under its own name."""
    for problem in problems:
        release = replaced.get(problem.document)
        yield problem if release is None else replace(problem, document=release.document)


def put_released(read: Folder, tools: Mapping[str, str], versions: Mapping[str, str]) -> Steered:
    """Put ``released/VERSION.yaml`` in the place of each contract whose tool ``versions`` names.

    ``tools`` has the tool of each contract document. The release is read as every document is:
    from inside the folder, up to its size. One that cannot be read, or is not what was released,
    is a problem.
    """
    documents = dict(read.documents)
    replaced: dict[str, Release] = {}
    problems: list[Problem] = []
    for name, home in read.tool_folders().items():
        tool = tools[name]
        if tool not in versions:
            continue
        released = ReleasedFolder(root=read.root, home=home)
        content = released.document(versions[tool])
        if isinstance(content, bytes):
            documents[name] = content
            replaced[name] = Release(
                source=name,
                document=released.document_name(versions[tool]),
                tool=tool,
                version=versions[tool],
            )
        else:
            problems.append(replace(content, mend="Restore that file as it was released."))
    return Steered(documents=documents, replaced=replaced, problems=tuple(problems))


def tool_of(read: Folder, name: str) -> str:
    """Return the tool of the contract document ``name``; its folder's name if it cannot be read."""
    document = read_document(name, read.documents[name])
    if isinstance(document, Document) and isinstance(document.value, Mapping):
        return str(document.value.get("tool"))
    return (read.root / name).resolve().parent.name
