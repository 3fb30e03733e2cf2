"""Which fields reach the agent, old and new: rows 45 and 46 of the table (lifecycle B2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from sluicegate.contracts.contract import ResultPart
from sluicegate.contracts.schemas.keywords import names_at, schema_at, schema_named
from sluicegate.contracts.schemas.projection import UNTRUSTED_TEXT
from sluicegate.lifecycle.diff.changes import Difference
from sluicegate.values.json import JsonObject
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, join_segments

_NAMED: Final = "property-"
"""In the kinds of members that come or go."""


def find_selection_differences(old: ResultPart, new: ResultPart) -> tuple[Difference, ...]:
    """Return the fields that the agent gains or loses, as places in the agent-side schema."""
    before, after = _fields(old), _fields(new)
    gained = [
        Difference(kind="selected-field-added", pointer=schema_place(field), new=show_name(text))
        for field, text in after.items()
        if field not in before
    ]
    lost = [
        Difference(
            kind="selected-field-removed"
            if _is_certain(field, old.agent_schema)
            else "optional-selected-field-removed",
            pointer=schema_place(field),
            within="old",
            old=show_name(text),
        )
        for field, text in before.items()
        if field not in after
    ]
    return (*gained, *lost)


def _fields(part: ResultPart) -> Mapping[tuple[str, ...], str]:
    """Each selected field by the segments at which the agent finds it."""
    fields = {pointer.segments: pointer.text for pointer in part.agent}
    for name in part.untrusted_text:
        fields[UNTRUSTED_TEXT, name] = f"/{UNTRUSTED_TEXT}/{name}"
    return fields


def schema_place(field: Iterable[str]) -> str:
    """Return where a schema describes the field at these segments, if it is plainly written."""
    segments: list[str] = []
    for segment in field:
        segments.extend(("items",) if segment == EVERY else ("properties", segment))
    return join_segments(segments)


def _is_certain(field: tuple[str, ...], schema: JsonObject) -> bool:
    """Whether the field is always there; where the schema does not tell plainly, it is."""
    here: JsonObject = schema
    for segment in field:
        if segment != EVERY and segment not in names_at(here, "required"):
            return segment not in _properties(here)
        inner = (
            schema_at(here, "items")
            if segment == EVERY
            else schema_named(here, "properties", segment)
        )
        if not isinstance(inner, Mapping):
            return True
        here = inner
    return True


def _properties(schema: JsonObject) -> Mapping[str, object]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def leave_out_selected(
    differences: Iterable[Difference], selected: Iterable[Difference]
) -> tuple[Difference, ...]:
    """Return ``differences`` without the members that came or went because of the selection."""
    places = [one.pointer for one in selected]
    return tuple(
        one
        for one in differences
        if not (
            _NAMED in one.kind
            and any(f"{place}/".startswith(f"{one.pointer}/") for place in places)
        )
    )


def leave_out_seen(
    differences: Sequence[Difference], seen: Sequence[Difference]
) -> tuple[Difference, ...]:
    """Return the differences of the whole data that are none of what the agent sees.

    One that is seen leaves out one: at the same place, or else, as the agent may find a field
    elsewhere, the first that says the same.
    """
    told = {(one.pointer, *_facts(one)) for one in seen}
    elsewhere = [one for one in differences if (one.pointer, *_facts(one)) not in told]
    left = Counter(map(_facts, seen)) - Counter(
        _facts(one) for one in differences if (one.pointer, *_facts(one)) in told
    )
    rest = []
    for one in elsewhere:
        if left[_facts(one)] > 0:
            left[_facts(one)] -= 1
        else:
            rest.append(one)
    return tuple(rest)


def _facts(difference: Difference) -> tuple[str, str, str]:
    return difference.kind, difference.old, difference.new
