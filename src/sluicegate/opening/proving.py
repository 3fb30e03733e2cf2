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
from sluicegate.opening.children import run_through
from sluicegate.values.json import JsonValue
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
    pairs: list[JsonValue] = [[part.old, part.new, part.assumed] for part in parts]
    lines = run_through(_CHILD, pairs, WALL_S, most=MAX_CHILDREN, pack=list)
    return tuple(UNPROVEN if line is None else _read(line) for line in lines)


def _read(line: bytes) -> Proof:
    found = json.loads(line)
    return Proof(
        new_covers_old=found["new_covers_old"],
        old_covers_new=found["old_covers_new"],
        lost=found["witnesses"].get("lost", NOTHING),
        gained=found["witnesses"].get("gained", NOTHING),
    )
