"""The timed trial of every schema in a child process (SPEC CON-2)."""

from __future__ import annotations

from collections.abc import Sequence

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.values.json import JsonObject


def try_schemas(documents: Sequence[JsonObject]) -> tuple[SchemaFault | None, ...]:
    """Compile and validate each document in a child; one entry a document, in order."""
    raise NotImplementedError
