"""What a diff is made of: differences as the walk names them, and changes as they were judged."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal, TypeAlias

from sluicegate.lifecycle.diff.kinds import KINDS, Bump, Rule
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue, identity_text

Role: TypeAlias = Literal["arguments", "result", "tool"]
Within: TypeAlias = Literal["old", "new"]
Reach: TypeAlias = Literal["seen", "mixed", "hidden"]
"""Whether a reader sees the place that differs: all of it, some members of it, or nothing."""


class Outcome(StrEnum):
    """What a comparison comes to. ``undecided`` counts as breaking, and is said."""

    COMPATIBLE = "compatible"
    UNDECIDED = "undecided"
    BREAKING = "breaking"


class Basis(StrEnum):
    """What a change's bump rests on."""

    TABLE = "table"
    PROOF = "proof"
    UNPROVEN = "unproven"
    """Neither proof nor counterexample was found, so it counts as breaking."""
    STRICTER = "stricter"
    """The proof finds nothing that breaks and the table does: the stricter one counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place that differs. ``pointer`` leads into the document that ``within`` names.

    ``old`` and ``new`` are short facts of the two documents, fit to be shown; empty for nothing.
    ``sealed`` is a digest of all that differs, where the facts do not say it: see ``seal``. ``way``
    leads to the place in a value, and ``reach`` says what a reader sees of it.
    """

    kind: str
    pointer: str
    within: Within = "new"
    old: str = ""
    new: str = ""
    sealed: str = ""
    way: tuple[str, ...] = ()
    reach: Reach = "seen"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A difference with its judgement on one side of the tool boundary.

    ``fingerprint`` is twelve hexadecimal digits that stay the same until kind, place, side, or what
    stands there in either version changes; a waiver names it. ``needs_replay``: it is compatible,
    but may refuse live answers, so a replay or former fixtures come first.
    """

    kind: str
    tool: str
    role: Role
    pointer: str
    within: Within
    old: str
    new: str
    bump: Bump
    basis: Basis
    needs_replay: bool
    fingerprint: str
    waived: str | None = None

    @property
    def breaks(self) -> bool:
        """Whether it stands in the way: a major that nobody waived."""
        return self.bump is Bump.MAJOR and self.waived is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """A generated value that one version admits and the other does not.

    ``admitted_by`` names the version that takes it. It was made by us, so it may be printed.
    """

    tool: str
    role: Role
    admitted_by: Within
    value: JsonValue


_BUMPS: Final = {
    Rule.NONE: Bump.NONE,
    Rule.PATCH: Bump.PATCH,
    Rule.MINOR: Bump.MINOR,
    Rule.REPLAY: Bump.MINOR,
    Rule.MAJOR: Bump.MAJOR,
}


def rule_of(kind: str, role: Role) -> Rule:
    """Return the row of ``kind`` on the side of ``role``."""
    row = KINDS[kind]
    if role == "tool":
        return row.whole
    return row.arguments if role == "arguments" else row.result


def judge_by_table(difference: Difference, tool: str, role: Role) -> Change:
    """Return the change as the table has it; what only a proof can tell counts as unproven."""
    rule = rule_of(difference.kind, role)
    return Change(
        kind=difference.kind,
        tool=tool,
        role=role,
        pointer=difference.pointer,
        within=difference.within,
        old=difference.old,
        new=difference.new,
        bump=_BUMPS.get(rule, Bump.MAJOR),
        basis=Basis.UNPROVEN if rule is Rule.PROOF else Basis.TABLE,
        needs_replay=rule is Rule.REPLAY,
        fingerprint=fingerprint_of(difference, tool, role),
    )


def fingerprint_of(difference: Difference, tool: str, role: Role) -> str:
    """Return the twelve hexadecimal digits by which a waiver names the change."""
    place = [difference.kind, tool, difference.pointer, role]
    facts = [*place, difference.old, difference.new, difference.sealed]
    return digest_of_json(facts).removeprefix("sha256:")[:12]


def seal(old: JsonValue, new: JsonValue) -> str:
    """Return what stands for two values in a fingerprint, however long they are.

    So a waiver of one change never covers another one of the same kind at the same place.
    """
    return digest_of_json([identity_text(old), identity_text(new)])


def move_below(difference: Difference, place: str) -> Difference:
    """Return ``difference`` with its pointer led from a part to the document that holds it."""
    return replace(difference, pointer=place + difference.pointer)
