"""What an AuthZEN service answered → a decision, or none: nothing is guessed (SPEC ACC-1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.json_reading import read_value
from sluicegate.contracts.problems import Problem

MAX_ANSWER_BYTES: Final = 65_536
_JSON: Final = re.compile(r"application/json[ \t]*(?:;.*)?", re.IGNORECASE | re.DOTALL)
_DEMAND: Final = "obligations"
_UNREADABLE: Final = "obligations of an unknown form"


class NoAnswer(Exception):  # noqa: N818  (named as what came)
    """What came is no decision; the text says why and quotes nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer as it came: at most ``MAX_ANSWER_BYTES`` bytes."""

    status: int
    content_type: str | None
    content_encoding: str | None
    raw: bytes


def read_answer(answered: Answered) -> tuple[bool, tuple[str, ...]]:
    """Return whether the service allows, and what it obliges the gate to.

    Takes status 200 with ``application/json`` that holds one object whose ``decision`` is exactly
    a boolean. ``obligations`` in the object or in its ``context``, in whatever letters, count
    unless they are an empty list; no obligation is understood by this release. The reasons that
    ``context`` may give are not read. Raises: NoAnswer.
    """
    if answered.status != 200:
        raise NoAnswer(f"the status is {answered.status}")
    if answered.content_type is None or _JSON.fullmatch(answered.content_type) is None:
        raise NoAnswer("the answer is not application/json")
    if (answered.content_encoding or "identity").strip().lower() != "identity":
        raise NoAnswer("the answer is encoded, which was not asked for")
    value = read_value("answer", answered.raw)
    if isinstance(value, Problem):
        raise NoAnswer(f"the answer is not strict JSON ({value.code})")
    if not isinstance(value, Mapping):
        raise NoAnswer("the answer is no object")
    decision, context = value.get("decision"), value.get("context", {})
    if decision is not True and decision is not False:
        raise NoAnswer("`decision` is missing, or no boolean")
    if not isinstance(context, Mapping):
        raise NoAnswer("`context` is no object")
    return decision, (*_read_obligations(value), *_read_obligations(context))


def _read_obligations(members: Mapping[str, object]) -> tuple[str, ...]:
    """Name the obligations by number: their text is the service's, and goes nowhere."""
    found: list[str] = []
    for name, demanded in members.items():
        if name.casefold() != _DEMAND or demanded == []:
            continue
        if isinstance(demanded, list):
            found += (f"obligation {number}" for number in range(1, len(demanded) + 1))
        else:
            found.append(_UNREADABLE)
    return tuple(found)
