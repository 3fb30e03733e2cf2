"""A schema file for an import, with the files of one folder that its references lead into."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.yaml_reading import Document, read_document
from sluicegate.gates.plain_files import read_plain
from sluicegate.lifecycle.importing.blueprint import SourceError
from sluicegate.lifecycle.importing.gathering import gather
from sluicegate.lifecycle.importing.recognising import demand_kind
from sluicegate.opening.documents import MAX_DOCUMENT_BYTES
from sluicegate.opening.drafting import read_source
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue

_MAX_FILES: Final = 5_000
_LOST: Final = frozenset({Code.SCHEMA_UNRESOLVED_REF, Code.SCHEMA_REMOTE_REF})


def read_schema(source: Path, root: Path | None) -> JsonObject:
    """Return the schema of ``source`` as one document; its references lead into ``root`` alone.

    ``root`` holds ``source``; None: the folder of it. Raises: OSError; SourceError, which says of
    a file that is not found where it was looked for.
    """
    document = read_source(source)
    try:
        demand_kind(document, "schema")
    except SourceError as error:
        raise SourceError(f"{source}: {error}") from error
    home = (root or source.parent).resolve()
    name = source.resolve().relative_to(home).as_posix()
    schema = gather(name, {**read_tree(home), name: document})
    if isinstance(schema, tuple):
        lines = [f"{source}: {_say(fault, name, root or source.parent, root)}" for fault in schema]
        raise SourceError("\n".join(lines))
    return schema


def _say(fault: SchemaFault, name: str, home: Path, root: Path | None) -> str:
    at = "" if fault.resource in (None, name) else f"{fault.resource}"
    at += f"#{fault.pointer}: " if fault.pointer else ""
    if not _is_lost_file(fault):
        return f"{at}{fault.message} {fault.mend}"
    known = "another --root" if root is not None else "--root DIR"
    return (
        f"{at}{fault.message.partition('` ')[0]}` leads to nothing. References lead into {home}"
        f" alone: name the folder that holds all files by {known}."
    )


def _is_lost_file(fault: SchemaFault) -> bool:
    """Whether a reference to a file of a folder, of this one or another, leads to none."""
    _, _, reference = fault.message.partition(": ")
    is_file = not reference.startswith("#") and "://" not in reference
    return fault.code in _LOST and is_file


def read_tree(root: Path) -> dict[str, JsonValue]:
    """Return every JSON document below ``root`` that can be read, by its path below it.

    What is no strict JSON is left out: a reference to it leads nowhere, and says so. Raises:
    OSError; SourceError for a folder of more than 5,000 files.
    """
    documents: dict[str, JsonValue] = {}
    paths = sorted(path for path in root.rglob("*.json") if path.is_file())
    if len(paths) > _MAX_FILES:
        raise SourceError(f"{root} holds more than {_MAX_FILES} JSON files; name a folder below.")
    for path in paths:
        found = read_document(path.name, read_plain(path, MAX_DOCUMENT_BYTES))
        if isinstance(found, Document):
            documents[path.relative_to(root).as_posix()] = found.value
    return documents
