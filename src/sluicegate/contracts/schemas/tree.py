"""An effective schema document, read as a tree with its local references resolved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.keywords import Schema, Segments, schema_list, schema_map, walk
from sluicegate.contracts.schemas.references import split_fragment
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import NOTHING, step

OPAQUE: Final[JsonObject] = {}
"""Stands for a target that nothing is known about: it admits everything and proves nothing."""


class SchemaTree:
    """The document with the place of each subschema and the target of each local ``$ref``.

    ``$dynamicRef``, meta-schemas and documents of several resources are opaque: they count as a
    schema that admits everything, so that whatever is proven holds.
    """

    __slots__ = ("_local", "_places", "_targets", "document")

    def __init__(self, document: JsonObject) -> None:
        self.document = document
        self._places: dict[int, Segments] = {}
        self._targets: dict[str, Schema] = {}
        self._local = True
        for at, schema in walk(document):
            if isinstance(schema, Mapping):
                self._places.setdefault(id(schema), at)
                self._local = self._local and (at == () or "$id" not in schema)

    def place_of(self, schema: Schema) -> Segments | None:
        """Return the pointer segments of a subschema of this document."""
        return self._places.get(id(schema)) if isinstance(schema, Mapping) else None

    def subschemas(self) -> Iterator[JsonObject]:
        """Yield every subschema that is an object, outside in."""
        for _, schema in walk(self.document):
            if isinstance(schema, Mapping):
                yield schema

    def referred(self, schema: JsonObject) -> Iterator[Schema]:
        """Yield what the references of ``schema`` lead to; OPAQUE where that is not known."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield self._target(reference)
        if "$dynamicRef" in schema:
            yield OPAQUE

    def in_place(self, schema: JsonObject) -> Iterator[Schema]:
        """Yield what applies to the same value and may leave annotations: all but ``not``."""
        for keyword in ("allOf", "anyOf", "oneOf"):
            yield from schema_list(schema, keyword)
        if "if" in schema:
            for keyword in ("if", "then", "else"):
                inner = schema.get(keyword)
                if isinstance(inner, Mapping | bool):
                    yield inner
        yield from schema_map(schema, "dependentSchemas").values()
        yield from self.referred(schema)

    def reachable(self, schema: JsonObject) -> Iterator[Schema]:
        """Yield ``schema`` and all that is reached from it in place, each once, outside in."""
        met: set[int] = set()
        waiting: list[Schema] = [schema]
        while waiting:
            inner = waiting.pop()
            if isinstance(inner, bool):
                yield inner
            elif id(inner) not in met:
                met.add(id(inner))
                yield inner
                waiting.extend(reversed(list(self.in_place(inner))))

    def _target(self, reference: str) -> Schema:
        found = self._targets.get(reference)
        if found is None:
            found = self._targets[reference] = self._find(reference)
        return found

    def _find(self, reference: str) -> Schema:
        if not self._local or not reference.startswith("#"):
            return OPAQUE
        _, fragment = split_fragment(reference)
        value: object = self.document
        if fragment == "":
            return self.document
        if not fragment.startswith("/"):
            return OPAQUE
        for segment in fragment[1:].split("/"):
            value = step(value, segment.replace("~1", "/").replace("~0", "~"))
            if value is NOTHING:
                return OPAQUE
        return value if isinstance(value, Mapping | bool) else OPAQUE
