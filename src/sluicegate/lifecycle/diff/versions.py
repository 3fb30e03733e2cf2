"""Whether a declared version was raised as far as its changes ask (facts: lifecycle B2, step 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.versions import parse_version, precedence
from sluicegate.lifecycle.diff.kinds import Bump

VersionFault: TypeAlias = Literal["not-bumped", "under-bumped", "decreased"]

_LEVELS: Final = (Bump.MAJOR, Bump.MINOR, Bump.PATCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFinding:
    """The version of ``tool`` does not tell what changed. ``wanted`` is the least that would."""

    tool: str
    fault: VersionFault
    old: str
    new: str
    required: Bump
    wanted: str


def judge_version(tool: str, old: str, new: str, required: Bump) -> VersionFinding | None:
    """Compare two semantic versions with what the changes require; None where all is well.

    A release candidate promises nothing: any later version may follow it. Source: SemVer 2.0.0,
    sections 9 to 11.
    """
    before, after = parse_version(old), parse_version(new)
    fault: VersionFault | None = None
    if precedence(after) < precedence(before):
        fault = "decreased"
    elif required is Bump.NONE:
        return None
    elif precedence(after) == precedence(before):
        fault = "not-bumped"
    elif not before[1] and _raised(before[0], after[0]).weight < required.weight:
        fault = "under-bumped"
    if fault is None:
        return None
    return VersionFinding(
        tool=tool,
        fault=fault,
        old=old,
        new=new,
        required=required,
        wanted=_next(before[0], required),
    )


def _raised(before: tuple[int, int, int], after: tuple[int, int, int]) -> Bump:
    for level, old, new in zip(_LEVELS, before, after, strict=True):
        if new != old:
            return level
    return Bump.NONE


def _next(core: tuple[int, int, int], required: Bump) -> str:
    major, minor, patch = core
    if required is Bump.MAJOR:
        return f"{major + 1}.0.0"
    if required is Bump.MINOR:
        return f"{major}.{minor + 1}.0"
    return f"{major}.{minor}.{patch + 1}"
