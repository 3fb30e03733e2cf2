"""Registration of one schema: judged, bundled, proven, compiled (SPEC CON-2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.faults import SchemaFault

__all__ = ["SchemaFault", "register"]


def register(
    schema: object,
    *,
    side: Literal["arguments", "result"],
    strict: bool,
    resources: Mapping[str, object] | None = None,
    base: str = "",
) -> CompiledSchema | tuple[SchemaFault, ...]:
    """Judge and compile ``schema``; never raises for what it holds."""
    raise NotImplementedError
