"""Semantic versions as contracts spell them, and their precedence (SemVer 2.0.0)."""

from __future__ import annotations

from typing import Final, TypeAlias

VERSION: Final = (
    r"(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)"
    r"(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
"""The pattern of a whole version."""

CURRENT: Final = "current"
"""Stands for the version being worked on, where a released one could stand."""

Parsed: TypeAlias = "tuple[tuple[int, int, int], str]"


def parse_version(version: str) -> Parsed:
    """Return the core and the pre-release; what follows ``+`` has no precedence.

    Raises: ValueError for what ``VERSION`` does not match in its core.
    """
    core, _, pre = version.partition("+")[0].partition("-")
    major, minor, patch = (int(part) for part in core.split("."))
    return (major, minor, patch), pre


def precedence(parsed: Parsed) -> tuple[object, ...]:
    """Return what orders versions. Source: SemVer 2.0.0, section 11."""
    core, pre = parsed
    identifiers = tuple(
        (0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".") if part
    )
    return (*core, not pre, identifiers)
