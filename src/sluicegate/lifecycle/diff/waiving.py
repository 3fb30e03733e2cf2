"""Changes that a person accepted (``diff-waivers.yaml``): by fingerprint, until a day.

A waiver that names no change, or whose day has passed, is itself told: it would wait for a change
that nobody meant it for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Final, Literal

from sluicegate.lifecycle.diff.comparison import ToolDiff
from sluicegate.values.json import JsonValue

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{12}")
_KEYS: Final = frozenset({"fingerprint", "reason", "until"})
_MAX_REASON: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """``until`` is the last day, in UTC, on which the change is accepted."""

    fingerprint: str
    reason: str
    until: date


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleWaiver:
    """A waiver that waived nothing, and why."""

    fingerprint: str
    why: Literal["expired", "unused"]


def read_waivers(document: JsonValue) -> tuple[Waiver, ...]:
    """Return the waivers of a parsed document: a list of objects of three members each.

    Raises: ValueError naming the entry, counted from 1, and what is wrong with it.
    """
    if not isinstance(document, list | tuple):
        raise ValueError("waivers are a list of {fingerprint, reason, until}")
    return tuple(_read(number, entry) for number, entry in enumerate(document, 1))


def _read(number: int, entry: JsonValue) -> Waiver:
    if not isinstance(entry, Mapping) or set(entry) != _KEYS:
        raise ValueError(
            f"waiver {number} must have the keys fingerprint, reason and until, and no others"
        )
    fingerprint, reason, until = entry["fingerprint"], entry["reason"], entry["until"]
    if not isinstance(fingerprint, str) or not _FINGERPRINT.fullmatch(fingerprint):
        raise ValueError(f"waiver {number}: a fingerprint is twelve digits 0-9 a-f, in quotes")
    if not isinstance(reason, str) or not 1 <= len(reason.strip()) <= _MAX_REASON:
        raise ValueError(f"waiver {number}: say the reason, in up to {_MAX_REASON} characters")
    try:
        day = date.fromisoformat(str(until))
    except ValueError:
        raise ValueError(f"waiver {number}: until is a day, as 2027-01-31") from None
    return Waiver(fingerprint=fingerprint, reason=reason.strip(), until=day)


def apply_waivers(
    tools: Iterable[ToolDiff], waivers: Iterable[Waiver], today: date
) -> tuple[tuple[ToolDiff, ...], tuple[IdleWaiver, ...]]:
    """Return the tools with waived changes marked, and the waivers that waived nothing."""
    valid = {one.fingerprint: one.reason for one in waivers if one.until >= today}
    used: set[str] = set()
    waived_tools = []
    for tool in tools:
        changes = []
        for change in tool.changes:
            reason = valid.get(change.fingerprint)
            if reason is not None:
                used.add(change.fingerprint)
                change = replace(change, waived=reason)
            changes.append(change)
        waived_tools.append(replace(tool, changes=tuple(changes)))
    idle = [
        IdleWaiver(
            fingerprint=one.fingerprint, why="unused" if one.fingerprint in valid else "expired"
        )
        for one in waivers
        if one.fingerprint not in used
    ]
    return tuple(waived_tools), tuple(idle)
