"""Names that people write in place of others: the one that was meant, and keys read as meant.

A misspelt key is told once, as such. What would follow from the absence of the key that it stands
for is not told beside it: it goes away with the misspelling (SPEC CON-1).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from sluicegate.contracts.keys import KEYS, LATER
from sluicegate.contracts.places import Place
from sluicegate.contracts.quoting import describe, is_quotable
from sluicegate.values.names import find_near, show_name


def say_meant(name: str, known: Collection[str], otherwise: str = "") -> str:
    """Return the sentence that asks for the nearest known name; else ``otherwise``.

    Without ``otherwise`` all known ones are named. No sentence says that the name may go: it stands
    where one is required.
    """
    near = find_near(name, known)
    if near is not None:
        return f"Did you mean `{show_name(near)}`?"
    return otherwise or f"Write one of {', '.join(map(show_name, sorted(known)))}."


def read_choice(place: Place, names: Collection[str]) -> str | None:
    """Return a text that is one of ``names``, at a key that cannot be left out."""
    value = place.value
    if not isinstance(value, str) or not value.strip() or value in names:
        return place.one_of(names)
    is_shown = is_quotable(value)
    place.fault(
        f"`{place.name}` must be one of {', '.join(sorted(names))};"
        f" here stands {describe(value) if is_shown else 'another text'}.",
        say_meant(value, names),
        discreet=not is_shown,
    )
    return None


# --- keys --------------------------------------------------------------------------------------


def read_members(
    place: Place, section: str, required: Collection[str] = ()
) -> dict[str, Place] | None:
    """As ``Place.members``, and an absent key is read from the unknown one that is near to it.

    Its value is then taken as it is, and no fault in it is noted: it may mean something else.
    """
    meant = _find_meant(place, section)
    before = len(place.problems)
    members = place.members(section, [key for key in required if key not in meant])
    place.problems[before:] = [
        replace(problem, comes_first=problem.pointer != place.pointer)
        for problem in place.problems[before:]
    ]
    return None if members is None else {**members, **meant}


def find_member(place: Place, section: str, key: str) -> Place | None:
    """Return the member of a mapping that ``read_members`` gives for ``key``, if any."""
    is_there = isinstance(place.value, Mapping) and key in place.value
    return place.follow(key) if is_there else _find_meant(place, section).get(key)


def member_of(place: Place, section: str, key: str) -> Place:
    """Return the member that ``read_members`` gave for ``key``."""
    found = find_member(place, section, key)
    assert found is not None  # noqa: S101  (narrows for the checker)
    return found


def _find_meant(place: Place, section: str) -> dict[str, Place]:
    """Absent keys of the section → the first unknown key that is near to it, apart from faults."""
    if not isinstance(place.value, Mapping) or place.value.keys() <= KEYS[section]:
        return {}
    known = {key for key in KEYS[section] if (section, key) not in LATER}
    meant: dict[str, Place] = {}
    for key, value in place.value.items():
        near = None if key in KEYS[section] else find_near(key, known)
        if near is not None and near not in place.value:
            meant.setdefault(near, replace(place.child(key, value), problems=[]))
    return meant
