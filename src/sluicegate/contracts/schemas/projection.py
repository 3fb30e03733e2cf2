"""The agent-side schema: exactly the selected fields, closed (SPEC RES-7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What a schema says about one place.

    ``exists``: some valid document has a value there; ``required``: every one has; ``types``: the
    JSON types it can have (``integer`` counts as ``number``); ``schemas``: every subschema that
    speaks about the place.
    """

    exists: bool
    required: bool
    types: frozenset[str]
    schemas: tuple[JsonObject, ...]


def find_subschemas(document: JsonObject, pointer: Pointer) -> Reach:
    """Say what the effective schema ``document`` promises at ``pointer``."""
    raise NotImplementedError


def project(
    document: JsonObject, pointers: Sequence[Pointer], untrusted_text: Mapping[str, Pointer]
) -> JsonObject | tuple[SchemaFault, ...]:
    """Return the published schema of the selected object."""
    raise NotImplementedError
