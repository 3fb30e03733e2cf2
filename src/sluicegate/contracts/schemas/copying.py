"""Copying subschemas out of an effective document, with what their references lead to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sluicegate.contracts.schemas.formulas import is_extension
from sluicegate.contracts.schemas.keywords import Schema, rebuild_member
from sluicegate.contracts.schemas.references import META_SCHEMAS, split_fragment
from sluicegate.contracts.schemas.tree import OPAQUE, SchemaTree
from sluicegate.values.json import JsonValue

_LEFT_BEHIND: Final = frozenset({"$defs", "$id", "$schema", "$anchor", "$dynamicAnchor"})


class UncopyableError(Exception):
    """A subschema cannot leave its document; the text says why, as the end of a sentence."""


class SubschemaCopier:
    """Copies subschemas; their local references then lead into ``definitions()``."""

    __slots__ = ("_copies", "_names", "_tree")

    def __init__(self, tree: SchemaTree) -> None:
        self._tree = tree
        self._names: dict[int, str] = {}
        self._copies: dict[str, JsonValue] = {}

    def copy(self, schema: Schema) -> Schema:
        """Return a copy of ``schema`` that stands on ``definitions()`` alone.

        Raises: UncopyableError for an ``x-extension`` or a dynamic reference in it.
        """
        if isinstance(schema, bool):
            return schema
        if is_extension(schema):
            raise UncopyableError("holds an extension, and an extension never reaches the agent")
        if "$dynamicRef" in schema:
            raise UncopyableError("rests on `$dynamicRef`, whose target is known at run time only")
        copied: dict[str, JsonValue] = {}
        for keyword, member in schema.items():
            if keyword in _LEFT_BEHIND:
                continue
            if keyword == "$ref" and isinstance(member, str):
                copied[keyword] = self._refer(member)
            else:
                copied[keyword] = rebuild_member(keyword, member, self.copy)
        return copied

    def definitions(self) -> dict[str, JsonValue]:
        """Return what the copies refer to, by name; empty where they refer to nothing."""
        return dict(self._copies)

    def _refer(self, reference: str) -> str:
        target = next(iter(self._tree.referred({"$ref": reference})), OPAQUE)
        if target is OPAQUE:
            if split_fragment(reference)[0] in META_SCHEMAS:
                return reference
            raise UncopyableError("refers to a part of another resource")
        key = id(target)
        if isinstance(target, Mapping) and key in self._names:
            return f"#/$defs/{self._names[key]}"
        name = self._name(reference)
        if isinstance(target, Mapping):
            self._names[key] = name
        self._copies[name] = True  # holds the name while the copy may refer to itself
        self._copies[name] = self.copy(target)
        return f"#/$defs/{name}"

    def _name(self, reference: str) -> str:
        last = split_fragment(reference)[1].rsplit("/", 1)[-1]
        stem = "".join(c for c in last if c.isascii() and (c.isalnum() or c in "_-")) or "root"
        name, number = stem, 1
        while name in self._copies:
            number += 1
            name = f"{stem}_{number}"
        return name
