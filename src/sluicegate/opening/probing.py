"""Mutants for ``check``: as ``test`` makes them, and only so many that a commit does not wait.

What was left out is told; ``test`` tries it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sluicegate.gates.serving import Line
from sluicegate.lifecycle.mutants.alike import Alike
from sluicegate.opening.equivalents import find_unproven, read_equivalents
from sluicegate.opening.examples import find_lacking, limit_examples, list_examples
from sluicegate.opening.fixtures import TriedFixture
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.testing_contracts import Budget, Hole, judge_example, note_equivalent

MAX_EXAMPLES: Final = 20
"""Accepted fixtures of one side that mutants are made of here, in the order of their paths."""

MAX_MUTANTS: Final = 2_000
"""Mutants of one level of all fixtures of a contract; each fixture has its share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """The mutants of one contract that were tried; ``faults`` are those of its equivalents.

    ``is_cut``: there are more of them than were tried. ``lacking`` are the sides without an
    accepted fixture: nothing of them was tried.
    """

    tool: str
    source: str
    tried: int = 0
    is_cut: bool = False
    holes: tuple[Hole, ...] = ()
    faults: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


def probe_briefly(loaded: Loaded, line: Line, fixtures: Iterable[TriedFixture]) -> Probed:
    """Climb mutants of the accepted fixtures of one contract, deterministically.

    ``fixtures`` say which are as expected; the others are told already. Source: SPEC 14, LIF-2.
    """
    contract, fixtures = line.contract, tuple(fixtures)
    lacking = find_lacking(contract, fixtures)
    home = (loaded.read.root / contract.source).parent
    try:
        equivalents = read_equivalents(home)
    except (OSError, ValueError) as error:
        return Probed(
            tool=contract.tool, source=contract.source, faults=(str(error),), lacking=lacking
        )
    passing = {each.path for each in fixtures if each.ok}
    limited = limit_examples(list_examples(loaded.read.root, home, line, passing), MAX_EXAMPLES)
    untried: list[str] = []
    holes: list[Hole] = []
    known: dict[tuple[str, str], bool] = {}
    alike: dict[str, Alike] = {}
    tried = 0
    for example in limited.examples:
        share = MAX_MUTANTS // len(limited.examples)
        budget = Budget(share, example, untried, alike.setdefault(example.side, Alike()))
        for judged in judge_example(line, home, example, equivalents, budget):
            tried += 1
            note_equivalent(known, judged)
            if judged.fate not in ("killed", "equivalent"):
                name = f"{example.side}.{example.name}.{judged.mutant.name}"
                holes.append(Hole(name=name, example=example, judged=judged))
    is_cut = bool(untried or limited.beyond)
    return Probed(
        tool=contract.tool,
        source=contract.source,
        tried=tried,
        is_cut=is_cut,
        holes=tuple(holes),
        faults=tuple(find_unproven(equivalents, known, cut=is_cut)),
        lacking=lacking,
    )
