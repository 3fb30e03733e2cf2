"""Mutants of a JSON value that its schema must refuse (facts: lifecycle B3, stage schema)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Final

from sluicegate.contracts.schemas.compiled import Predicate
from sluicegate.contracts.schemas.compiling import compile_validator
from sluicegate.lifecycle.lint.subject import SideName
from sluicegate.lifecycle.lint.table import RULES
from sluicegate.lifecycle.mutants.alike import Alike
from sluicegate.lifecycle.mutants.array_changes import change_array
from sluicegate.lifecycle.mutants.changes import Change
from sluicegate.lifecycle.mutants.examples import Maker
from sluicegate.lifecycle.mutants.mutant import Mutant, name_place, replace_at, spell
from sluicegate.lifecycle.mutants.number_changes import change_number
from sluicegate.lifecycle.mutants.object_changes import change_object
from sluicegate.lifecycle.mutants.places import Spot, walk_spots
from sluicegate.lifecycle.mutants.text_changes import change_text
from sluicegate.lifecycle.mutants.type_changes import change_type
from sluicegate.lifecycle.mutants.views import Viewer
from sluicegate.values.codes import Stage
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.pointers import join_segments

MAX_SPOTS: Final = 400
"""Places of one value that a list of changes goes through; mutants are made of all of them."""


def list_changes(value: JsonValue, viewer: Viewer) -> Iterator[Change]:
    """Yield every change of ``value``, whether or not the schema refuses it, outside in."""
    maker = Maker(viewer)
    for index, spot in enumerate(walk_spots(value, viewer, [viewer.document])):
        if index == MAX_SPOTS:
            return
        yield from _change(spot, maker)


def _change(spot: Spot, maker: Maker) -> Iterator[Change]:
    for change in _every_change(spot, maker):
        # What an extension admits was declared open by name and version, and reaches no agent.
        yield replace(change, rule="") if spot.is_extension else change


def _every_change(spot: Spot, maker: Maker) -> Iterator[Change]:
    yield from change_object(spot, maker)
    yield from change_array(spot, maker)
    yield from change_number(spot)
    yield from change_text(spot)
    yield from change_type(spot)


def _spread_changes(value: JsonValue, viewer: Viewer, alike: Alike) -> Iterator[Change]:
    """Yield every change of ``value``, a few of each place in turn: whoever stops early has some
    of all. An object has as many turns as it has members."""
    maker = Maker(viewer)
    waiting: deque[tuple[int, Iterator[Change]]] = deque()
    for spot in walk_spots(value, viewer, [viewer.document]):
        if alike.is_known(spot):
            continue
        turns = 1 + (len(spot.value) if isinstance(spot.value, Mapping) else 0)
        changes = _change(spot, maker)
        yield from islice(changes, turns)
        waiting.append((turns, changes))
    while waiting:
        turns, changes = waiting.popleft()
        taken = list(islice(changes, turns))
        if taken:
            yield from taken
            waiting.append((turns, changes))


def mutate_structure(
    value: JsonValue,
    schema: JsonObject,
    is_valid: Predicate | None = None,
    *,
    side: SideName = "result",
    alike: Alike | None = None,
) -> Iterator[Mutant]:
    """Yield the structure mutants of ``value``, which ``schema`` admits; the same ones each time.

    ``schema`` is an effective document; ``is_valid`` its compiled check, made anew where None.
    Each mutant is validated first: what the schema admits is a mutant only where a safeguard is
    lacking that could refuse it, and then bears the ``rule`` of that hole; a rule that ``side``
    does not have is no hole. ``alike`` remembers the places of examples before this one: what
    enough of them had is left out. Raises: ValueError where the schema does not compile.
    Source: SPEC LIF-2.
    """
    alike = alike or Alike()
    alike.begin()
    admits = compile_validator(schema).is_valid if is_valid is None else is_valid
    seen: set[bytes] = {spell(value)}
    for change in _spread_changes(value, Viewer(schema), alike):
        changed = replace_at(value, change.segments, change.value)
        admitted = admits(changed)
        rule = change.rule
        if rule and RULES[rule].severity(side) is None:
            rule = ""
        if admitted and not rule:
            continue
        raw = spell(changed)
        if raw in seen:
            continue
        seen.add(raw)
        yield Mutant(
            name=name_place(change.operator, change.segments),
            level="structure",
            pointer=join_segments(change.segments),
            raw=raw,
            stage=Stage.CONFORM,
            keyword=change.keyword,
            value=changed,
            rule=rule,
            unheld=admitted and change.keyword == "required",
        )
