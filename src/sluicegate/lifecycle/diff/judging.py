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
)
from sluicegate.lifecycle.diff.containment import Proof
from sluicegate.lifecycle.diff.kinds import Bump

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
) -> tuple[Change, ...]:
    """Return the changes of one schema on the side of ``role``.

    ``explained`` is the bump of what was named elsewhere, as a field that is no longer selected: a
    proof that says no more than that needs no further name. The last change is ``schema-changed``
    where the proof says more than any keyword.
    """
    changes = [judge_by_table(difference, tool, role) for difference in differences]
    texts = [change for change in changes if change.kind in TEXT_KINDS]
    changes = [change for change in changes if change.kind not in TEXT_KINDS]
    if proof.equal:
        rewritten = judge_by_table(Difference(kind="rewritten", pointer=""), tool, role)
        return (*texts, *(() if written_alike else (rewritten,)))
    binding = proof.new_covers_old if role == "arguments" else proof.old_covers_new
    unnamed = judge_by_table(Difference(kind="schema-changed", pointer=""), tool, role)
    if not changes and explained is Bump.NONE:
        changes = [unnamed]
    if binding == "yes":
        return (*texts, *(_compatible(change, proof, role) for change in changes))
    basis = Basis.PROOF if binding == "no" else Basis.UNPROVEN
    changes = [
        replace(change, basis=basis) if change.basis is Basis.UNPROVEN else change
        for change in changes
    ]
    if explained is not Bump.MAJOR and not any(change.breaks for change in changes):
        changes.append(replace(unnamed, basis=basis))
    return (*texts, *changes)


def _compatible(change: Change, proof: Proof, role: Role) -> Change:
    """The proof finds no value lost: what it alone decides is minor, the table may be stricter."""
    narrowing = role == "result" and proof.new_covers_old != "yes"
    if change.basis is Basis.UNPROVEN:
        return replace(change, bump=Bump.MINOR, basis=Basis.PROOF, needs_replay=narrowing)
    if change.bump is Bump.MAJOR:
        return replace(change, basis=Basis.STRICTER)
    return change


def judge_unselected(
    differences: Iterable[Difference], proof: Proof, tool: str, *, seen: Proof, place: str
) -> tuple[Change, ...]:
    """Return what changed in the data of a result beyond the fields that reach the agent.

    ``differences`` are those of the rest; ``seen`` is the proof of what the agent sees. The agent
    notices nothing of the rest, but live answers may be refused where it narrows. Where no
    difference tells why the data at ``place`` is not equal, nor ``seen``, the change stands there.
    """
    if proof.equal:
        return ()
    hidden = [
        Difference(
            kind="unselected-data-changed",
            pointer=one.pointer,
            within=one.within,
            old=one.old,
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
        hidden = [Difference(kind="unselected-data-changed", pointer=place)]
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
