"""Schema files that refer to one another → one schema that refers to nothing outside itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sluicegate.contracts.schemas.bundling import Bundle, bundle
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.keywords import walk
from sluicegate.contracts.schemas.references import Library
from sluicegate.lifecycle.importing.dialects import Dialect, convert, dialect_of
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue

_NO_OBJECT: Final = SchemaFault(
    code=Code.SCHEMA_META_INVALID,
    message="the file holds no schema.",
    mend="Name a file whose document is a JSON Schema object.",
)


def gather(
    name: str, documents: Mapping[str, JsonValue], *, dialect: Dialect | None = None
) -> JsonObject | tuple[SchemaFault, ...]:
    """Return the schema of the document ``name``, converted, with what it refers to in ``$defs``.

    ``documents`` maps names relative to one root to parsed documents. A reference is read against
    the ``$id`` of its document, as JSON Schema says; where that leads nowhere, against its name.
    Returns the faults where a reference leads nowhere. Raises: DialectError.
    """
    if not isinstance(documents.get(name), Mapping):
        return (_NO_OBJECT,)
    converted = _convert_reached(name, documents, dialect)
    found = _bundle(name, converted, by_id=True)
    if isinstance(found, tuple):
        by_name = _bundle(name, converted, by_id=False)
        found = found if isinstance(by_name, tuple) else by_name
    return found


def _convert_reached(
    name: str, documents: Mapping[str, JsonValue], dialect: Dialect | None
) -> dict[str, dict[str, JsonValue]]:
    """Convert the document and those that its references may mean, and theirs."""
    by_end: dict[str, list[str]] = {}
    for each, document in documents.items():
        if isinstance(document, Mapping):
            for known in (each, _id_of(document)):
                by_end.setdefault(known.rpartition("/")[2], []).append(each)
    converted: dict[str, dict[str, JsonValue]] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        document = documents[each]
        if each in converted or not isinstance(document, Mapping):
            continue
        converted[each] = _convert(document, dialect)
        for _, schema in walk(converted[each]):
            reference = schema.get("$ref") if isinstance(schema, Mapping) else None
            if isinstance(reference, str):
                end = reference.partition("#")[0].rpartition("/")[2]
                waiting += by_end.get(end, ()) if end else ()
    return converted


def _convert(document: JsonObject, dialect: Dialect | None) -> dict[str, JsonValue]:
    converted = convert(document, dialect or dialect_of(document))
    return dict(converted) if isinstance(converted, Mapping) else {}


def _bundle(
    name: str, converted: Mapping[str, JsonObject], *, by_id: bool
) -> JsonObject | tuple[SchemaFault, ...]:
    named = {(_id_of(each) if by_id else "") or key: each for key, each in converted.items()}
    plain = {key: _without_id(each) for key, each in named.items()}
    root = (_id_of(converted[name]) if by_id else "") or name
    schema = plain.pop(root)
    library = Library(schema, root, plain)
    if library.root is None:
        return (_NO_OBJECT,)
    found = bundle(library, library.root)
    return found.document if isinstance(found, Bundle) else found


def _id_of(schema: JsonObject) -> str:
    named = schema.get("$id")
    return named.rstrip("#") if isinstance(named, str) else ""


def _without_id(schema: JsonObject) -> dict[str, JsonValue]:
    return {key: member for key, member in schema.items() if key != "$id"}
