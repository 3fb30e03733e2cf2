"""What the real ladders did with each mutant, and the score of a contract (SPEC LIF-2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from sluicegate.checks.selection import Selected
from sluicegate.gates.call_gate import Prepared
from sluicegate.lifecycle.mutants.mutant import Mutant
from sluicegate.values.codes import Code, Stage
from sluicegate.values.rejections import Rejected

Outcome: TypeAlias = "Selected | Prepared | Rejected"
Fate: TypeAlias = Literal["killed", "early", "late", "survived", "refused", "seen", "equivalent"]

MAX_EQUIVALENTS: Final = 5
"""Mutants of one contract that may be declared equivalent (SPEC LIF-2)."""

_ORDER: Final[Mapping[Stage, int]] = {
    stage: rung
    for rung, stage in enumerate(
        (
            Stage.FETCH,
            Stage.BOUND,
            Stage.AUTHENTICATE,
            Stage.PARSE,
            Stage.UNWRAP,
            Stage.NARROW,
            Stage.CONFORM,
            Stage.CHECK,
            Stage.VOUCH,
            Stage.SELECT,
        )
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalent:
    """A mutant that its author says is no other answer: ``mutant`` is its name, without example."""

    mutant: str
    pointer: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One mutant and its fate: ``stage`` and ``code`` are None where it was accepted.

    ``killed``: refused at the rung stated, or earlier. ``late``: a later rung did the work of one
    that lacks; ``early``: an earlier one did, and the rung itself admits it. ``survived``: nothing
    refused it. ``refused``: it had to pass and did not. ``seen``: the agent saw what it must not.
    ``equivalent``: declared, and proven.
    """

    mutant: Mutant
    fate: Fate
    stage: Stage | None = None
    code: Code | None = None


@dataclass(slots=True)
class Tally:
    """Counts of one side of a contract; ``holes`` are neither killed nor equivalent."""

    total: int = 0
    killed: int = 0
    equivalent: int = 0
    holes: list[tuple[str, Judged]] = field(default_factory=list)

    def count(self, example: str, judged: Judged) -> None:
        """Count one mutant of ``example``."""
        self.total += 1
        if judged.fate == "killed":
            self.killed += 1
        elif judged.fate == "equivalent":
            self.equivalent += 1
        else:
            self.holes.append((example, judged))

    @property
    def score(self) -> float | None:
        """Killed ÷ (all − equivalent); None where there was no mutant."""
        counted = self.total - self.equivalent
        return self.killed / counted if counted else None


def judge_mutants(
    mutants: Iterable[Mutant],
    climb: Callable[[Mutant], Outcome],
    accepted: Selected | Prepared,
    equivalents: Sequence[Equivalent] = (),
) -> Iterator[Judged]:
    """Climb each mutant and yield its fate.

    ``accepted`` is what became of the example itself. A declared equivalent counts as one only
    where the mutant is accepted and yields the very same output; more than five of them are
    misuse. Raises: ValueError in that case.
    """
    if len(equivalents) > MAX_EQUIVALENTS:
        raise ValueError(f"a contract may declare at most {MAX_EQUIVALENTS} equivalent mutants")
    declared = {(each.mutant, each.pointer) for each in equivalents}
    for mutant in mutants:
        outcome = climb(mutant)
        if type(outcome) is Rejected:
            yield Judged(
                mutant=mutant,
                fate=_fate_of_refused(mutant, outcome),
                stage=outcome.stage,
                code=outcome.code,
            )
        else:
            same = _output(outcome) == _output(accepted)
            known = (mutant.name, mutant.pointer) in declared
            yield Judged(mutant=mutant, fate=_fate_of_accepted(mutant, same=same, known=known))


def _fate_of_refused(mutant: Mutant, rejected: Rejected) -> Fate:
    if mutant.expectation != "refused":
        return "refused"
    rung = _ORDER.get(rejected.stage)
    if rung is None or rung > _ORDER[mutant.stage]:
        return "late"
    return "early" if mutant.unheld and rung < _ORDER[mutant.stage] else "killed"


def _fate_of_accepted(mutant: Mutant, *, same: bool, known: bool) -> Fate:
    if mutant.expectation == "accepted":
        return "killed"
    if mutant.expectation == "unseen":
        return "killed" if same else "seen"
    return "equivalent" if known and same else "survived"


def _output(outcome: object) -> object:
    """What leaves the ladder for the agent, or for the tool; in its text, for 1 is not 1.0."""
    if isinstance(outcome, tuple):
        data, *_ = outcome
        return repr(data)
    return repr(outcome.arguments) if isinstance(outcome, Prepared) else outcome
