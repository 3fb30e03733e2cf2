"""What is wrong with the names of one object: missing, unexpected, misnamed (SPEC ARG-3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from sluicegate.checks.conformance_keywords import Judged
from sluicegate.checks.conformance_names import find_near
from sluicegate.checks.conformance_places import (
    Place,
    as_object,
    declared_members,
    in_place_ancestors,
    value_at,
)
from sluicegate.checks.conformance_words import clip, describe
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject

Path: TypeAlias = tuple[str | int, ...]
"""Decoded segments from the root of the value, names as they were received."""

_MAX_COMPARED: Final = 20
_DEPENDENT: Final = ("dependentRequired", "dependencies")


@dataclass(frozen=True, slots=True)
class Spot:
    """One violation's places: in the value, and in the schema document."""

    path: Path
    value: object
    place: Place
    parent: JsonObject

    @property
    def keyword(self) -> str:
        """The violated keyword; ``false`` for a schema that is just that."""
        return str(self.place[-1]) if self.place else "false"


@dataclass(slots=True)
class Members:
    """The names of one object that are missing or unexpected, with where that is said."""

    present: Mapping[str, object]
    missing: dict[str, Spot] = field(default_factory=dict)
    unexpected: dict[str, Spot] = field(default_factory=dict)
    unevaluated: dict[str, Spot] = field(default_factory=dict)

    def add_unexpected(self, names: Sequence[str], spot: Spot) -> None:
        """Take names that a closed object does not declare."""
        for name in names:
            self.unexpected.setdefault(name, spot)

    def add_unevaluated(self, names: Sequence[str], spot: Spot) -> None:
        """Take names that no sub-schema has evaluated: maybe only because one has failed."""
        for name in names:
            self.unevaluated.setdefault(name, spot)

    def drop_declared(self, document: JsonObject, siblings_failed: bool) -> None:
        """Settle what is unevaluated: declared names count only where nothing else failed."""
        for name, spot in self.unevaluated.items():
            if siblings_failed and name in declared_members(document, spot.parent, composed=True):
                continue
            self.unexpected.setdefault(name, spot)
        self.unevaluated.clear()


def judge_members(document: JsonObject, members: Members) -> Iterator[tuple[Judged, Spot, str]]:
    """Yield what to say of each name, with its spot and the member that it is about.

    MISNAMED replaces both where an unexpected name is near a missing one, or near a declared one
    that is not there.
    """
    used: set[str] = set()
    for index, (name, spot) in enumerate(members.unexpected.items()):
        near = None
        if index < _MAX_COMPARED:
            near = _find_meant(document, name, spot, members, used)
        if near is None:
            yield _judge_unexpected(document, spot, members), spot, name
        else:
            used.add(near)
            yield Judged(Code.MISNAMED, clip(near), hint=f"did you mean {clip(near)}"), spot, name
    for name, spot in members.missing.items():
        if name not in used:
            yield _judge_missing(document, name, spot, members), spot, name


def _find_meant(
    document: JsonObject, name: str, spot: Spot, members: Members, used: set[str]
) -> str | None:
    missing = [other for other in members.missing if other not in used]
    near = find_near(name, missing)
    if near is not None:
        return near
    absent = [
        other
        for other in _declared(document, spot)
        if other not in members.present and other not in used
    ]
    return find_near(name, absent)


def _declared(document: JsonObject, spot: Spot) -> Mapping[str, object]:
    composed = spot.keyword == "unevaluatedProperties"
    return declared_members(document, spot.parent, composed=composed)


def _judge_unexpected(document: JsonObject, spot: Spot, members: Members) -> Judged:
    absent = [name for name in _declared(document, spot) if name not in members.present]
    hint = "remove this member"
    if absent:
        hint = clip(f"{hint}; admitted here and absent: {', '.join(absent)}")
    return Judged(Code.UNEXPECTED, "no further members", hint=hint)


def _judge_missing(document: JsonObject, name: str, spot: Spot, members: Members) -> Judged:
    expected = _expected_of(document, name, spot)
    trigger = _find_trigger(name, spot, members)
    if trigger is not None:
        return Judged(
            Code.DEPENDENT, expected, hint=clip(f"needed because {trigger} is there: add it")
        )
    return Judged(Code.MISSING, expected, hint="this member is required: add it")


def _expected_of(document: JsonObject, name: str, spot: Spot) -> str:
    """What is declared for ``name`` here, else in the schemas around for the same value."""
    here = spot.place[:-1]
    for schema in (
        spot.parent,
        *(value_at(document, place) for place in in_place_ancestors(here)),
    ):
        declared = declared_members(document, schema, composed=True)
        if name in declared:
            return describe(document, declared[name])
    return "any value"


def _find_trigger(name: str, spot: Spot, members: Members) -> str | None:
    """The member that asks for ``name``, or None where it is required as such."""
    if spot.keyword in _DEPENDENT:
        for trigger, names in as_object(spot.parent.get(spot.keyword)).items():
            if trigger in members.present and isinstance(names, list | tuple) and name in names:
                return trigger
    if len(spot.place) > 2 and spot.place[-3] == "dependentSchemas":
        return str(spot.place[-2])
    return None
