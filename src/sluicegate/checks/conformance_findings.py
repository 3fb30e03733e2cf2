"""From the engine's violations to findings."""

from __future__ import annotations

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.values.codes import Code
from sluicegate.values.findings import Finding
from sluicegate.values.pointers import join_segments


def find_violations(value: object, schema: CompiledSchema) -> tuple[Finding, ...]:
    """Return up to 20 findings."""
    return tuple(
        Finding(
            code=Code.FORBIDDEN,
            pointer=join_segments(error.instance_path),
            schema_pointer=join_segments(error.schema_path),
            keyword=error.kind.name,
        )
        for error in list(schema.validator.iter_errors(value))[:20]
    )
