"""One mutant: a document made of an accepted one, and the rung that must refuse it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, cast

from sluicegate.values.codes import Stage
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import Nothing

Level: TypeAlias = Literal["byte", "structure", "meaning"]
Expectation: TypeAlias = Literal["refused", "accepted", "unseen"]

NO_VALUE: Final = Nothing()
"""The value of a mutant that is no JSON text, or that differs only in what stands around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One wrong document; with ``expectation`` other than ``refused`` one that must pass.

    ``name`` is the operator and the place, fit for a file name; ``pointer`` is the changed place;
    ``stage`` is the rung that must refuse it, and no later one. ``value`` is what ``raw`` spells.
    ``rule`` is the lint rule that would close the hole where nothing refuses it. ``needs`` are the
    surroundings that differ from the example's, in the words of a sidecar. ``unseen``: it must be
    accepted, and the agent must see the very same as of the example. ``unheld``: the rung itself
    is known to admit it, so a refusal by an earlier one is no kill.
    """

    name: str
    level: Level
    pointer: str
    raw: bytes
    stage: Stage
    keyword: str | None = None
    value: object = NO_VALUE
    rule: str = ""
    needs: Mapping[str, JsonValue] = field(default_factory=dict)
    expectation: Expectation = "refused"
    unheld: bool = False


_UNFIT: Final = re.compile("[^A-Za-z0-9_-]")
_write: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def spell(value: object) -> bytes:
    """Return the compact JSON text of ``value``."""
    return _write(value).encode()


def name_place(operator: str, segments: Sequence[str | int]) -> str:
    """Return the name of a mutant: its operator and where it works, fit for a file name."""
    return ".".join([operator, *(_UNFIT.sub("_", str(segment)) for segment in segments)])


def replace_at(
    document: JsonValue, segments: Sequence[str | int], value: JsonValue | Nothing
) -> JsonValue:
    """Return a copy of ``document`` with ``value`` at a place; NOTHING removes it.

    Only the containers along the way are copied. Raises: KeyError, IndexError where the parent of
    the place does not exist.
    """
    if not segments:
        if isinstance(value, Nothing):
            raise KeyError("the whole document cannot be removed")
        return value
    first, *rest = segments
    if isinstance(document, Mapping):
        members = dict(document)
        name = str(first)
        if rest:
            members[name] = replace_at(members[name], rest, value)
        elif isinstance(value, Nothing):
            del members[name]
        else:
            members[name] = value
        return members
    items = list(cast("Sequence[JsonValue]", document))
    index = int(first)
    if rest:
        items[index] = replace_at(items[index], rest, value)
    elif isinstance(value, Nothing):
        del items[index]
    else:
        items[index] = value
    return items
