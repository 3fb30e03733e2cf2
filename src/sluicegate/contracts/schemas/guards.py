"""A native guard against deep nesting and infinite numbers, for what no schema proves."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from jsonschema_rs import Draft202012Validator

from sluicegate.contracts.schemas.compiled import Predicate
from sluicegate.values.json import JsonValue
from sluicegate.values.limits import ENGINE_MAX_DEPTH

_SCALARS: Final = ("null", "boolean", "number", "string")


@lru_cache(maxsize=64)
def shape_guard(max_depth: int) -> Predicate:
    """Return a predicate that refuses nesting beyond ``max_depth`` and infinite numbers.

    Shape: a parsed JSON value, root container = depth 1; ``max_depth`` 0 admits scalars only. The
    engine's ``type`` refuses ±inf, so one native pass sees to both (facts: prototype 1). Only
    values that jiter parsed may be handed in: deeper Python objects end the process.
    Raises: ValueError for a depth outside 0..200. Source: SPEC ARG-1, ARG-2, RES-1, RES-2.
    """
    if not 0 <= max_depth <= ENGINE_MAX_DEPTH:
        raise ValueError(f"max_depth is 0 to {ENGINE_MAX_DEPTH}, the parser's own limit")
    levels: dict[str, JsonValue] = {"d0": {"type": list(_SCALARS)}}
    for level in range(1, max_depth + 1):
        below: JsonValue = {"$ref": f"#/$defs/d{level - 1}"}
        levels[f"d{level}"] = {
            "type": [*_SCALARS, "array", "object"],
            "items": below,
            "additionalProperties": below,
        }
    schema = {"$ref": f"#/$defs/d{max_depth}", "$defs": levels}
    return Draft202012Validator(schema, offline=True).is_valid
