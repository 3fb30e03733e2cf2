"""Which fields of a result reach the agent, old and new: those that came, went, or were moved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sluicegate.contracts.contract import ResultPart
from sluicegate.contracts.fingerprints import strip_annotations
from sluicegate.contracts.schemas.keywords import Schema, names_at, schema_at, schema_named
from sluicegate.contracts.schemas.projection import UNTRUSTED_TEXT
from sluicegate.lifecycle.diff.changes import Difference, seal
from sluicegate.lifecycle.diff.sights import Way
from sluicegate.lifecycle.diff.spelling import Speller
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import EVERY, Pointer, join_segments

_NAMED: Final = "property-"
"""In the kinds of members that come or go."""


def find_selection_differences(old: ResultPart, new: ResultPart) -> tuple[Difference, ...]:
    """Return the fields that the agent gains, loses, or is given from another place of the data."""
    return tuple(_find(old, new))


def _find(old: ResultPart, new: ResultPart) -> Iterator[Difference]:
    before, after = _fields(old), _fields(new)
    stood, stands = _Published(old.agent_schema), _Published(new.agent_schema)
    for field, source in after.items():
        was = before.get(field)
        if was is None:
            yield Difference(
                kind="selected-field-added",
                pointer=schema_place(source.segments),
                new=show_name(_name(field)),
                sealed=seal(None, [source.text, stands.tell(field)]),
                way=source.segments,
            )
        elif was != source:
            yield Difference(
                kind="selected-field-moved",
                pointer=schema_place(source.segments),
                old=show_name(was.text),
                new=show_name(source.text),
                sealed=seal([was.text, stood.tell(field)], [source.text, stands.tell(field)]),
                way=source.segments,
            )
    for field, source in before.items():
        if field not in after:
            yield Difference(
                kind="selected-field-removed"
                if _is_certain(field, old.agent_schema)
                else "optional-selected-field-removed",
                pointer=schema_place(source.segments),
                within="old",
                old=show_name(_name(field)),
                sealed=seal([source.text, stood.tell(field)], None),
                way=source.segments,
            )


class _Published:
    """The published schema of one version, to tell what stands at a field.

    A waiver of a field covers what its reviewer saw there: another schema, another duty or another
    bound of a list on the way is another change.
    """

    __slots__ = ("_speller",)

    def __init__(self, schema: JsonObject) -> None:
        self._speller = Speller(schema)

    def tell(self, field: Way) -> JsonValue:
        """Return what is said of the field, step by step; annotations and other fields apart."""
        here: Schema | None = self._speller.root
        told: list[JsonValue] = []
        for segment in field:
            if not isinstance(here, Mapping):
                break
            wild = segment == EVERY
            told.append([here.get("type"), here.get("maxItems"), _requires(here, segment)])
            here = schema_at(here, "items") if wild else schema_named(here, "properties", segment)
        told.append(None if here is None else self._speller.spell_target((_name(field), here)))
        if here is None or self._speller.exhausted:
            # What is not written plainly, or was cut short, is told by all that is published.
            told.append(strip_annotations(self._speller.root))
        return told


def _requires(schema: JsonObject, segment: str) -> bool:
    return segment in names_at(schema, "required")


def _fields(part: ResultPart) -> Mapping[Way, Pointer]:
    """Each selected field by the segments at which the agent finds it: where the data has it."""
    fields = {pointer.segments: pointer for pointer in part.agent}
    for name, pointer in part.untrusted_text.items():
        fields[UNTRUSTED_TEXT, name] = pointer
    return fields


def _name(field: Way) -> str:
    return join_segments(field)


def schema_place(field: Iterable[str]) -> str:
    """Return where a schema describes the field at these segments, if it is plainly written."""
    segments: list[str] = []
    for segment in field:
        segments.extend(("items",) if segment == EVERY else ("properties", segment))
    return join_segments(segments)


def _is_certain(field: Way, schema: JsonObject) -> bool:
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
    ways = [one.way for one in selected]
    return tuple(
        one
        for one in differences
        if not (_NAMED in one.kind and any(way[: len(one.way)] == one.way for way in ways))
    )
