"""Two schemas, judged in this process: registered, walked, proven, put together."""

from __future__ import annotations

from typing import Any, Literal

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import register
from sluicegate.lifecycle.diff.comparison import ToolDiff, compare_schemas, judge
from sluicegate.lifecycle.diff.containment import prove

Side = Literal["arguments", "result"]


def registered(schema: Any, side: Side = "result") -> CompiledSchema:
    found = register(schema, side=side, strict=False)
    assert isinstance(found, CompiledSchema), found
    return found


def compare(old: Any, new: Any, side: Side) -> ToolDiff:
    comparison = compare_schemas(registered(old).document, registered(new).document, side)
    return judge(
        comparison, [prove(part.old, part.new, part.assumed) for part in comparison.unproven]
    )
