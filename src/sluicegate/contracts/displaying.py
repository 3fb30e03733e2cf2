"""``result.display`` is bounded: each text that a pointer names ends somewhere (SPEC RES-7)."""

from __future__ import annotations

from collections.abc import Mapping

from sluicegate.contracts.schemas.keywords import Schema, integer_at
from sluicegate.contracts.schemas.projection import find_subschemas, project
from sluicegate.contracts.schemas.proofs import choices, conjuncts, own_types
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import EVERY, Pointer


def is_bounded(document: JsonObject, pointer: Pointer) -> bool:
    """Whether a text at ``pointer`` has a ``maxLength``, an ``enum`` or a ``const`` in every case.

    What can be no text counts as bounded; texts inside a displayed object or array are not judged,
    for the limit on the whole answer bounds them.
    """
    if "string" not in find_subschemas(document, pointer).types:
        return True
    tree, schema = _schema_at(document, pointer)
    return _is_bounded(tree, schema, frozenset())


def _schema_at(document: JsonObject, pointer: Pointer) -> tuple[SchemaTree, Schema]:
    """The published schema joins layers and branches; where there is none, what is certain."""
    published = project(document, [pointer], {})
    if isinstance(published, tuple):
        certain = {
            "allOf": list(find_subschemas(document, pointer).schemas),
            "$defs": document.get("$defs", {}),
        }
        return SchemaTree(certain), certain
    at: object = published
    for segment in pointer.segments:
        keyword = "items" if segment == EVERY else "properties"
        below = at.get(keyword) if isinstance(at, Mapping) else None
        at = below.get(segment) if keyword == "properties" and isinstance(below, Mapping) else below
    return SchemaTree(published), at if isinstance(at, Mapping | bool) else True


def _is_bounded(tree: SchemaTree, schema: Schema, above: frozenset[int]) -> bool:
    if isinstance(schema, bool) or id(schema) in above:
        return schema is False
    if "string" not in own_types(schema) or "enum" in schema or "const" in schema:
        return True
    if integer_at(schema, "maxLength") is not None:
        return True
    within = above | {id(schema)}
    if any(_is_bounded(tree, inner, within) for inner in conjuncts(tree, schema)):
        return True
    return any(
        all(any(_is_bounded(tree, inner, within) for inner in branch) for branch in branches)
        for branches in choices(schema)
    )
