"""The proofs of a diff, each in a child process that ends in time (SPEC LIF-3).

Canonical forms and the search for witnesses can explode over a hostile schema, as validation can.
A pair that a child did not come through is unproven, so it counts as breaking.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sluicegate.lifecycle.diff.comparison import Part
from sluicegate.lifecycle.diff.containment import UNPROVEN, Proof
from sluicegate.opening.children import run_child
from sluicegate.values.pointers import NOTHING

WALL_S: Final = 60.0
"""For one child; each pair has 20 s of processor time in it."""

MAX_CHILDREN: Final = 8
"""For all pairs of one run; a pair that is not reached by then is unproven."""

_CHILD: Final = Path(__file__).with_name("proving_child.py")


def prove_parts(parts: Sequence[Part]) -> tuple[Proof, ...]:
    """Return one proof a part, in order. Never raises for what the schemas hold.

    One child does for all, unless a pair ends it: the next child goes on behind that one, up to
    ``MAX_CHILDREN``.
    """
    proofs: list[Proof] = []
    for _ in range(MAX_CHILDREN):
        if len(proofs) == len(parts):
            break
        waiting = parts[len(proofs) :]
        ended = run_child(_CHILD, [[part.old, part.new] for part in waiting], WALL_S)
        proofs.extend(_read(line) for line in ended.lines[: len(waiting)])
        stuck = not ended.lines or ended.by_itself
        if len(proofs) < len(parts) and stuck:
            proofs.append(UNPROVEN)
    proofs.extend([UNPROVEN] * (len(parts) - len(proofs)))
    return tuple(proofs)


def _read(line: bytes) -> Proof:
    found = json.loads(line)
    return Proof(
        new_covers_old=found["new_covers_old"],
        old_covers_new=found["old_covers_new"],
        lost=found["witnesses"].get("lost", NOTHING),
        gained=found["witnesses"].get("gained", NOTHING),
    )
