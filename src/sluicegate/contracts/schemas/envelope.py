"""The envelope schema of a tool: one 2020-12 document for any conforming validator (CON-6)."""

from __future__ import annotations

from collections.abc import Mapping

from sluicegate.values.json import JsonObject


def envelope_schema(tool: str, agent_schema: JsonObject, errors: Mapping[str, bool]) -> JsonObject:
    """Return the schema of everything the gate answers for ``tool``."""
    raise NotImplementedError
