"""Tool definitions as MCP publishes them, old and new: schemas, texts, annotations (SPEC LIF-3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.lifecycle.diff.changes import Difference, judge_by_table, seal
from sluicegate.lifecycle.diff.comparison import Comparison, Part, compare_schemas
from sluicegate.values.json import JsonObject, JsonValue

_HINTS: Final = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""What each hint is where it is absent (MCP, ToolAnnotations)."""
_COMPARED: Final = frozenset({"name", "title", "description", "inputSchema", "outputSchema"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One published tool; its schemas are registered, ``written`` is the whole as it stands.

    Pointers of changes lead into ``written``, so they stay the same wherever a list has it.
    """

    name: str
    written: JsonObject
    arguments: JsonObject
    result: JsonObject | None


def compare_definitions(old: Definition, new: Definition) -> Comparison:
    """Make two definitions of one tool ready; an edit of description or title is a text change."""
    parts: list[Part] = [
        *compare_schemas(old.arguments, new.arguments, "arguments", place="/inputSchema").parts
    ]
    differences: list[Difference] = []
    if old.result is not None and new.result is not None:
        place = "/outputSchema"
        parts.extend(compare_schemas(old.result, new.result, "result", place=place).parts)
    elif old.result is not None:
        sealed = seal(old.result, None)
        differences.append(
            Difference(kind="output-schema-removed", pointer="", within="old", sealed=sealed)
        )
    elif new.result is not None:
        sealed = seal(None, new.result)
        differences.append(
            Difference(kind="output-schema-added", pointer="/outputSchema", sealed=sealed)
        )
    if _texts(old) != _texts(new):
        sealed = seal(_texts(old), _texts(new))
        differences.append(
            Difference(kind="tool-text-changed", pointer="/description", sealed=sealed)
        )
    differences.extend(_annotations(old, new))
    return Comparison(
        tool=new.name,
        parts=tuple(parts),
        changes=tuple(judge_by_table(one, new.name, "tool") for one in differences),
    )


def _texts(definition: Definition) -> tuple[JsonValue, ...]:
    annotations = _object(definition.written.get("annotations"))
    written = definition.written
    return written.get("title"), written.get("description"), annotations.get("title")


def _annotations(old: Definition, new: Definition) -> list[Difference]:
    before = _object(old.written.get("annotations"))
    after = _object(new.written.get("annotations"))
    found = [
        Difference(
            kind="hints-changed",
            pointer="/annotations",
            old=f"{name} {_word(before.get(name, default))}",
            new=f"{name} {_word(after.get(name, default))}",
            sealed=seal(before.get(name), after.get(name)),
        )
        for name, default in _HINTS.items()
        if before.get(name, default) != after.get(name, default)
    ]
    if _rest(old) != _rest(new):
        sealed = seal(_rest(old), _rest(new))
        found.append(Difference(kind="annotations-changed", pointer="", sealed=sealed))
    return found


def _rest(definition: Definition) -> JsonObject:
    """Everything that no other kind speaks for."""
    written = definition.written
    annotations = _object(written.get("annotations"))
    return {
        **{name: member for name, member in written.items() if name not in _COMPARED},
        "annotations": {
            name: member
            for name, member in annotations.items()
            if name not in _HINTS and name != "title"
        },
    }


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def _word(value: JsonValue) -> str:
    return str(value).lower() if isinstance(value, bool) else "no truth value"
