"""Where a schema comes from: inline, a file of the folder, or Python; then its registration."""

from __future__ import annotations

from collections.abc import Mapping

from sluicegate.contracts.file_names import SETTINGS_NAME, is_contract
from sluicegate.contracts.marks import Document
from sluicegate.contracts.naming import PythonNames
from sluicegate.contracts.near_names import say_meant
from sluicegate.contracts.places import Place
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.quoting import is_shown_whole, show_member
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.keywords import walk
from sluicegate.contracts.schemas.references import FOLDER, join_uri, split_fragment
from sluicegate.contracts.schemas.registration import SchemaFault, register
from sluicegate.contracts.sources import schema_of
from sluicegate.contracts.yaml_reading import read_document
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.sides import SideName


class Shelf:
    """The documents of a folder beside settings and contracts: schemas that may be referred to.

    They are read when a schema first needs one. A file that no schema refers to may be anything;
    one that cannot be read is a problem as soon as a reference fails.
    """

    def __init__(self, documents: Mapping[str, bytes]) -> None:
        self._raw = {
            name: raw
            for name, raw in documents.items()
            if name != SETTINGS_NAME and not is_contract(name)
        }
        self._read: dict[str, Document | tuple[Problem, ...]] = {}
        self._ids: dict[str, tuple[str, str]] = {}

    @property
    def names(self) -> frozenset[str]:
        """The names of all documents here."""
        return frozenset(self._raw)

    def read(self, name: str) -> Document | tuple[Problem, ...]:
        """Return one document. Raises: KeyError if there is none of that name."""
        if name not in self._read:
            self._read[name] = read_document(name, self._raw[name])
        return self._read[name]

    def resources(self) -> dict[str, JsonValue]:
        """Return the value of every document that can be read."""
        return {
            document.name: document.value
            for document in map(self.read, sorted(self._raw))
            if isinstance(document, Document)
        }

    def broken(self) -> list[Problem]:
        """Return what keeps the other documents from being read."""
        return [
            problem
            for read in map(self.read, sorted(self._raw))
            if not isinstance(read, Document)
            for problem in read
        ]

    def claim_ids(self, place: Place) -> None:
        """Note each ``$id`` of the schema at ``place``, unless another schema bears it already."""
        if not isinstance(place.value, Mapping):
            return
        base = join_uri(FOLDER, place.document.name)
        for segments, schema in walk(place.value):
            identifier = schema.get("$id") if isinstance(schema, Mapping) else None
            if not isinstance(identifier, str):
                continue
            here = place
            for segment in segments:
                here = here.step(segment)
            owner = (place.document.name, here.pointer)
            uri = split_fragment(join_uri(base, identifier))[0]
            if self._ids.setdefault(uri, owner) != owner:
                name, pointer = self._ids[uri]
                here.fault(
                    f"`$id: {show_name(identifier)}` is borne by another schema, at "
                    f"{name}#{pointer}.",
                    "Give each schema an `$id` of its own, or refer to the one with `$ref`.",
                    code=Code.SCHEMA_ID_COLLISION,
                    below="/$id",
                )


def register_schema(
    place: Place, side: SideName, shelf: Shelf, names: PythonNames
) -> CompiledSchema | None:
    """Return the compiled schema that ``place`` holds or names; every fault becomes a Problem.

    ``{file: PATH}`` is relative to the contract's own folder; ``{python: module:name}`` is
    converted (CON-5). Source: SPEC CON-1, CON-2.
    """
    value = place.value
    source: Place | None = place
    if isinstance(value, Mapping) and set(value) == {"file"}:
        source = _open_file(place, shelf)
    elif isinstance(value, Mapping) and set(value) == {"python"}:
        source = _convert(place, side, names)
    if source is None:
        return None
    shelf.claim_ids(source)
    registered = register(
        source.value,
        side=side,
        strict=True,
        resources=shelf.resources() if shelf.names else {},
        base=source.document.name,
    )
    if isinstance(registered, CompiledSchema):
        return registered
    for fault in registered:
        _note(source, fault, shelf)
    return None


def _open_file(place: Place, shelf: Shelf) -> Place | None:
    inner = place.follow("file")
    path = inner.text(wanted="the path of a schema file, relative to this contract")
    if path is None:
        return None
    name = _join(place.document.name, path)
    if name is None:
        inner.fault(
            f"`{show_member(path)}` leads out of the contract folder.",
            "Copy the schema into the folder and write its relative path.",
            code=Code.SCHEMA_REMOTE_REF,
            discreet=not is_shown_whole(path),
        )
        return None
    if name not in shelf.names:
        inner.fault(
            f"there is no schema file `{show_member(name)}` in this folder.",
            say_meant(name, shelf.names) if shelf.names else "Write the file, or the schema here.",
            code=Code.SCHEMA_UNRESOLVED_REF,
            discreet=not is_shown_whole(name),
        )
        return None
    document = shelf.read(name)
    if not isinstance(document, Document):
        place.problems.extend(problem for problem in document if problem not in place.problems)
        return None
    return Place(document, document.value, "", place.problems)


def _join(home: str, path: str) -> str | None:
    """Return the folder-relative name that ``path`` means in the document ``home``."""
    if path.startswith("/") or "\\" in path or ":" in path:
        return None
    segments = home.split("/")[:-1]
    for segment in path.split("/"):
        if segment == "..":
            if not segments:
                return None
            segments.pop()
        elif segment not in ("", "."):
            segments.append(segment)
    return "/".join(segments)


def _convert(place: Place, side: SideName, names: PythonNames) -> Place | None:
    inner = place.follow("python")
    name = names.read(inner)
    found = None if name is None else names.find(inner, name)
    if found is None:
        return None
    schema = schema_of(found[0], side=side)
    if isinstance(schema, str):
        inner.fault(f"`{name}` gives no schema: {schema}", "Mend it, or write the schema here.")
        return None
    return Place(place.document, schema, place.pointer, place.problems)


def _note(source: Place, fault: SchemaFault, shelf: Shelf) -> None:
    document, prefix = source.document, source.pointer
    if fault.resource is not None and fault.resource in shelf.names:
        read = shelf.read(fault.resource)
        if isinstance(read, Document):
            document, prefix = read, ""
    problem = document.problem(
        prefix + fault.pointer,
        fault.message[:1].upper() + fault.message[1:],
        fault.mend,
        code=fault.code,
        at_key=True,
    )
    if problem not in source.problems:
        source.problems.append(problem)
    if fault.code is Code.SCHEMA_UNRESOLVED_REF:
        broken = shelf.broken()
        source.problems.extend(found for found in broken if found not in source.problems)
