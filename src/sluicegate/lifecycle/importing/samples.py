"""Sample answers → the schema that all of them obey, by genson (the extra ``import``).

What the samples show is kept: members that all of them have are required, a text that is a time in
each has that format, and a bound leaves room above the longest that was seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from genson import SchemaBuilder  # type: ignore[import-untyped]
from genson.schema.strategies import List, String  # type: ignore[import-untyped]

from sluicegate.lifecycle.importing.blueprint import Blueprint, Decision, SourceError
from sluicegate.lifecycle.importing.bounding import (
    MAX_ITEMS,
    MAX_LONG_TEXT,
    MAX_LONGEST_TEXT,
    MAX_SHORT_TEXT,
)
from sluicegate.values.instants import parse_rfc3339
from sluicegate.values.json import JsonObject, JsonValue

_STEPS: Final = (MAX_SHORT_TEXT, MAX_LONG_TEXT, MAX_LONGEST_TEXT)
_FEW: Final = 3


class _SeenText(String):  # type: ignore[misc]
    """A text whose longest sample is remembered, and whether each was a time."""

    KEYWORDS = (*String.KEYWORDS, "maxLength", "format")

    def __init__(self, node_class: Any) -> None:
        super().__init__(node_class)
        self._longest = 0
        self._all_times = True

    def add_object(self, obj: str) -> None:
        super().add_object(obj)
        self._longest = max(self._longest, len(obj))
        self._all_times = self._all_times and parse_rfc3339(obj) is not None

    def to_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = super().to_schema()
        if self._longest and self._all_times:
            schema["format"] = "date-time"
        elif self._longest > MAX_SHORT_TEXT:
            schema["maxLength"] = next(
                (step for step in _STEPS if step >= self._longest), 2 * self._longest
            )
        return schema


class _SeenList(List):  # type: ignore[misc]
    """A list whose longest sample is remembered."""

    KEYWORDS = (*List.KEYWORDS, "maxItems")

    def __init__(self, node_class: Any) -> None:
        super().__init__(node_class)
        self._longest = 0

    def add_object(self, obj: Sequence[object]) -> None:
        super().add_object(obj)
        self._longest = max(self._longest, len(obj))

    def to_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = super().to_schema()
        if self._longest > MAX_ITEMS:
            schema["maxItems"] = 2 * self._longest
        if self._longest == 0:
            schema["maxItems"] = 0
        return schema


class _Builder(SchemaBuilder):  # type: ignore[misc]
    EXTRA_STRATEGIES = (_SeenText, _SeenList)


def infer(samples: Sequence[JsonValue]) -> JsonObject:
    """Return the schema of ``samples``, objects open as genson leaves them.

    Raises: SourceError where there is none, or one is no object.
    """
    if not samples:
        raise SourceError("there is no sample.")
    builder = _Builder(schema_uri=None)
    for sample in samples:
        if not isinstance(sample, Mapping):
            raise SourceError("a sample answer is one JSON object.")
        builder.add_object(sample)
    schema: dict[str, JsonValue] = builder.to_schema()
    return schema


def read_samples(tool: str, samples: Mapping[str, JsonValue]) -> Blueprint:
    """Return the blueprint of a tool that answered so; each sample becomes an accepted fixture.

    ``samples`` maps the names of fixtures to answers. Raises: SourceError.
    """
    schema = infer(list(samples.values()))
    few = (
        Decision(
            at="result",
            question=f"result.schema: inferred from {len(samples)} sample"
            f"{'' if len(samples) == 1 else 's'} alone; which members may be absent, null, or hold"
            " other values",
        ),
    )
    return Blueprint(
        tool=tool,
        result=schema,
        answers=dict(samples),
        decisions=few if len(samples) <= _FEW else (),
    )
