"""Values of other types in the place of an accepted one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.lifecycle.mutants.changes import Change
from sluicegate.lifecycle.mutants.places import Spot
from sluicegate.values.json import JsonValue, json_type

_SAMPLES: Final[Mapping[str, tuple[str, JsonValue]]] = {
    "null": ("null", None),
    "boolean": ("boolean", True),
    "integer": ("number", 0),
    "string": ("string", "text"),
    "array": ("array", []),
    "object": ("object", {}),
}


def change_type(spot: Spot) -> Iterator[Change]:
    """Yield null, a value of each other type, wrapped and stringified forms."""
    view, value = spot.view, spot.value
    admitted = set(view.types)
    if "number" in admitted:
        admitted.add("integer")
    own = json_type(value)
    rule = "" if view.types or view.is_listed else "C08"
    if own == "number":
        own = "integer"
    for kind, (operator, sample) in _SAMPLES.items():
        if kind != own and kind not in admitted:
            yield _change(f"as-{operator}", spot, sample, rule)
    yield from _wrapped(spot, rule)


def _wrapped(spot: Spot, rule: str) -> Iterator[Change]:
    value = spot.value
    if isinstance(value, Mapping):
        yield _change("as-list-of-members", spot, list(value.values()), rule)
    elif isinstance(value, list | tuple):
        yield _change("as-index-keys", spot, {str(i): each for i, each in enumerate(value)}, rule)
        if value:
            yield _change("as-first-item", spot, value[0], rule)
    else:
        yield _change("in-a-list", spot, [value], rule)
        yield _change("in-an-object", spot, {"value": value}, rule)
    if isinstance(value, bool):
        yield _change("boolean-as-number", spot, int(value), rule)
    if value is not None and not isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        yield _change("as-json-text", spot, text, rule)


def _change(operator: str, spot: Spot, value: JsonValue, rule: str) -> Change:
    return Change(operator=operator, segments=spot.segments, value=value, keyword="type", rule=rule)
