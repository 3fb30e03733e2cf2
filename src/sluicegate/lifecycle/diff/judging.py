"""Differences and a proof, put together: what each change asks, and what the whole comes to.

The proof binds. Where the table is stricter than the proof, both are told and the stricter one
counts; what admits exactly the same values is no change at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from sluicegate.lifecycle.diff.changes import (
    Basis,
    Change,
    Difference,
    Outcome,
    Role,
    judge_by_table,
    rule_of,
)
from sluicegate.lifecycle.diff.containment import Proof
from sluicegate.lifecycle.diff.kinds import Bump, Rule

TEXT_KINDS: Final = frozenset(
    {"schema-text-changed", "comment-changed", "default-changed", "deprecated-changed"}
)
"""What an annotation says; no value is admitted or refused for it."""


def judge_schema(
    differences: Iterable[Difference],
    proof: Proof,
    tool: str,
    role: Role,
    *,
    written_alike: bool,
    explained: Bump = Bump.NONE,
    sealed: str = "",
) -> tuple[Change, ...]:
    """Return the changes of one schema on the side of ``role``.

    ``explained`` is the bump of what was named elsewhere, as a field that is no longer selected: a
    proof that says no more than that needs no further name. The last change is ``schema-changed``
    where the proof says more than any keyword; ``sealed`` stands for both schemas in it.
    """
    changes = [judge_by_table(difference, tool, role) for difference in differences]
    texts = [change for change in changes if change.kind in TEXT_KINDS]
    changes = [change for change in changes if change.kind not in TEXT_KINDS]
    if proof.equal:
        rewritten = Difference(kind="rewritten", pointer="", sealed=sealed)
        return (*texts, *(() if written_alike else (judge_by_table(rewritten, tool, role),)))
    binding = proof.new_covers_old if role == "arguments" else proof.old_covers_new
    unnamed = Difference(kind="schema-changed", pointer="", sealed=sealed)
    if not changes and explained is Bump.NONE:
        changes = [judge_by_table(unnamed, tool, role)]
    if binding == "yes":
        return (*texts, *(_compatible(change, proof, role) for change in changes))
    if binding == "no" and len(changes) == 1 and explained is Bump.NONE:
        changes = [_proven(change) for change in changes]
    known = explained is Bump.MAJOR or any(
        change.breaks and (binding == "unknown" or change.basis is not Basis.UNPROVEN)
        for change in changes
    )
    if not known:
        change = judge_by_table(unnamed, tool, role)
        changes.append(_proven(change) if binding == "no" else change)
    return (*texts, *changes)


def _proven(change: Change) -> Change:
    """A refutation is one of the whole schema: it belongs to a change that stands alone in it."""
    return replace(change, basis=Basis.PROOF) if change.basis is Basis.UNPROVEN else change


def _compatible(change: Change, proof: Proof, role: Role) -> Change:
    """The proof finds no value lost: what it alone decides is minor, the table may be stricter."""
    narrowing = role == "result" and proof.new_covers_old != "yes"
    if change.basis is Basis.UNPROVEN:
        return replace(change, bump=Bump.MINOR, basis=Basis.PROOF, needs_replay=narrowing)
    if change.bump is Bump.MAJOR:
        return replace(change, basis=Basis.STRICTER)
    return change


def is_unseen(difference: Difference, seen: Proof, whole: Proof) -> bool:
    """Whether a widening was proven to let nothing new through to the agent.

    It stands where the agent sees a part of the value; ``seen`` is the proof of what it sees, and
    ``whole`` that of all.
    """
    widens = rule_of(difference.kind, "result") is Rule.MAJOR
    proven = seen.old_covers_new == "yes" and whole.old_covers_new != "yes"
    return difference.reach == "mixed" and widens and proven


def judge_unselected(
    differences: Iterable[Difference],
    proof: Proof,
    tool: str,
    *,
    seen: Proof,
    place: str,
    sealed: str = "",
) -> tuple[Change, ...]:
    """Return what changed in the data of a result beyond the fields that reach the agent.

    ``differences`` are those of the rest; ``seen`` is the proof of what the agent sees. The agent
    notices nothing of the rest, but live answers may be refused where it narrows. Where no
    difference tells why the data at ``place`` is not equal, nor ``seen``, the change stands there,
    and ``sealed`` stands for both schemas in it.
    """
    if proof.equal:
        return ()
    hidden = [
        replace(
            one,
            kind="unselected-data-changed",
            new=f"{one.kind}: {one.new}" if one.new else one.kind,
        )
        for one in differences
        if one.kind not in TEXT_KINDS
    ]
    narrowing = proof.new_covers_old != "yes"
    widening = proof.old_covers_new != "yes"
    if not hidden and (
        (narrowing and seen.new_covers_old == "yes") or (widening and seen.old_covers_new == "yes")
    ):
        hidden = [Difference(kind="unselected-data-changed", pointer=place, sealed=sealed)]
    return tuple(
        replace(judge_by_table(difference, tool, "result"), needs_replay=narrowing)
        for difference in hidden
    )


def outcome_of(changes: Iterable[Change]) -> Outcome:
    """Return what the changes come to: a break that is known outweighs one that is not."""
    breaking = [change for change in changes if change.breaks]
    if not breaking:
        return Outcome.COMPATIBLE
    if all(change.basis is Basis.UNPROVEN for change in breaking):
        return Outcome.UNDECIDED
    return Outcome.BREAKING


def bump_of(changes: Iterable[Change]) -> Bump:
    """Return the greatest bump that a change asks; a waived one asks nothing."""
    asked = (change.bump for change in changes if change.waived is None)
    return max(asked, key=lambda bump: bump.weight, default=Bump.NONE)
