"""The names that a folder knows, read without loading it: a broken one is asked about too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sluicegate.contracts.marks import Document
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.opening.documents import Folder, read_inside
from sluicegate.opening.released import tool_of
from sluicegate.opening.released_folder import ReleasedFolder
from sluicegate.values.codes import AgentCode, Code


def list_tools(read: Folder) -> dict[str, Path]:
    """Return the folder of each tool; its folder's name stands for one that cannot be read."""
    return {tool_of(read, name): home for name, home in read.tool_folders().items()}


def list_codes(read: Folder) -> frozenset[str]:
    """Return every code of the table, and those that a contract or a release of it declares.

    What cannot be read declares nothing. Source: SPEC 2, 15.
    """
    return frozenset({*map(str, Code), *map(str, AgentCode), *_declared(read)})


def _declared(read: Folder) -> Iterator[str]:
    for name, home in read.tool_folders().items():
        yield from _errors_of(name, read.documents[name])
        released = ReleasedFolder(root=read.root, home=home)
        for version in released.versions():
            content = read_inside(read.root, released.document_path(version))
            if isinstance(content, bytes):
                yield from _errors_of(released.document_name(version), content)


def _errors_of(name: str, raw: bytes) -> Iterator[str]:
    document = read_document(name, raw)
    if not isinstance(document, Document) or not isinstance(document.value, Mapping):
        return
    errors = document.value.get("errors")
    if isinstance(errors, Mapping):
        yield from map(str, errors)
