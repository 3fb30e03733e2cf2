"""Every member that a schema declares by name, as pointers into what it describes (LIF-3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.keywords import Schema, schema_at, schema_list, schema_map
from sluicegate.contracts.schemas.tree import SchemaTree
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import EVERY, Pointer

MAX_MEMBERS: Final = 100_000
"""Places, counted once for each way that leads to them."""


class TooManyMembersError(ValueError):
    """A schema has more members than are listed."""


def list_members(document: JsonObject) -> frozenset[Pointer]:
    """Return where ``document`` declares a member: in any branch, ``*`` for every item.

    A member that no value may have (``false``) is not declared; names below a map have no pointer.
    Where a schema holds itself, the members of its first round are listed: those of the next are
    the same. Raises: TooManyMembersError beyond ``MAX_MEMBERS``.
    """
    tree = SchemaTree(document)
    found: set[Pointer] = set()
    waiting: list[tuple[Pointer, tuple[Schema, ...], frozenset[int]]] = [
        (Pointer(()), (document,), frozenset())
    ]
    while waiting:
        place, schemas, above = waiting.pop()
        here = {
            id(inner): inner
            for schema in schemas
            if isinstance(schema, Mapping)
            for inner in tree.reachable(schema)
            if isinstance(inner, Mapping) and id(inner) not in above
        }
        below: dict[str, list[Schema]] = {}
        for schema in here.values():
            for segment, inner in _steps(schema):
                if inner is not False:
                    below.setdefault(segment, []).append(inner)
        for segment, inners in below.items():
            at = place.child(segment)
            if segment != EVERY:
                found.add(at)
            waiting.append((at, tuple(inners), above | here.keys()))
        if len(found) + len(waiting) > MAX_MEMBERS:
            raise TooManyMembersError(f"more than {MAX_MEMBERS} members")
    return frozenset(found)


def _steps(schema: JsonObject) -> Iterator[tuple[str, Schema]]:
    yield from schema_map(schema, "properties").items()
    for inner in (*schema_list(schema, "prefixItems"), schema_at(schema, "items")):
        if inner is not None:
            yield EVERY, inner
