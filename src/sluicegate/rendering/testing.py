"""What ``test`` found: fixtures that fail, mutants that nothing refused, and the scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.checking import (
    CheckedFixture,
    count_of,
    render_failing,
    render_failing_github,
    shape_fixture,
)
from sluicegate.rendering.escaping import escape_terminal
from sluicegate.rendering.github import command, render_problems_github
from sluicegate.rendering.json_v1 import shape_problem
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.terminal import DEFAULT_WIDTH, render_problems
from sluicegate.values.codes import Stage
from sluicegate.values.json import JsonValue

MAX_SHOWN: Final = 20
"""Survivors of one contract that a person is shown; programs get all of them."""

_SEMANTIC: Final = frozenset({Stage.CHECK, Stage.VOUCH, Stage.SELECT})
_SAYS: Final[Mapping[str, str]] = {
    "survived": "SURVIVED",
    "early": "KILLED EARLY",
    "late": "KILLED LATE",
    "refused": "WRONGLY REFUSED",
    "seen": "SEEN",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """One mutant that was not refused where it must be.

    ``file`` is the example it was made of, ``stage`` the rung that must refuse it; ``got`` is what
    became of it (``vouch/STALE``), empty where it was accepted; ``rule`` is the lint rule that
    closes the hole, empty where none does. ``fate`` is ``survived``, ``early``, ``late``,
    ``refused`` or ``seen``.
    """

    tool: str
    name: str
    file: str
    pointer: str
    level: str
    stage: Stage
    fate: str
    got: str = ""
    rule: str = ""
    keyword: str | None = None

    @property
    def kind(self) -> str:
        """``schema`` or ``semantic``: which of the two kinds of rung it is a hole in."""
        return kind_of(self.stage)

    @property
    def sentence(self) -> str:
        """What had to happen, and what did."""
        where = f" ({self.keyword})" if self.keyword else ""
        if self.fate == "survived":
            return f"{self.stage}{where} must refuse it, and nothing does"
        if self.fate == "late":
            return f"{self.stage}{where} must refuse it; {self.got} did, later"
        if self.fate == "early":
            return f"{self.stage}{where} must refuse it, and {self.got} alone does"
        if self.fate == "refused":
            return f"it must be accepted, and {self.got} refuses it"
        return "the agent must not see the difference, and does"

    @property
    def hint(self) -> str:
        """What closes the hole."""
        if not self.rule:
            return ""
        return f"{self.rule} would close it: sluicegate explain {self.rule}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SideScore:
    """Counts of one side; ``score`` is None where there was no mutant.

    ``untried`` says what the limits left out, a sentence each; the score speaks of the rest.
    """

    mutants: int
    killed: int
    equivalent: int
    score: float | None
    untried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractScore:
    """One contract and its sides. ``rolled_back``: nothing here is a fixture of it."""

    tool: str
    version: str
    score: float | None
    sides: Mapping[str, SideScore]
    rolled_back: bool = False

    @property
    def untried(self) -> tuple[str, ...]:
        """What the limits left out on either side."""
        return tuple(each for side in self.sides.values() for each in side.untried)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What was found. ``contracts`` None: the folder does not load."""

    folder: str
    contracts: tuple[ContractScore, ...] | None
    problems: tuple[Problem, ...]
    fixtures: tuple[CheckedFixture, ...]
    survivors: tuple[Survivor, ...]
    min_score: float

    @property
    def failing(self) -> tuple[CheckedFixture, ...]:
        """The fixtures that did not come out as expected."""
        return tuple(fixture for fixture in self.fixtures if not fixture.ok)

    @property
    def below(self) -> tuple[ContractScore, ...]:
        """The contracts whose score is below the least that is asked for."""
        return tuple(
            each
            for each in self.contracts or ()
            if each.score is not None and each.score < self.min_score
        )

    @property
    def unproven(self) -> tuple[ContractScore, ...]:
        """The contracts of which no mutant was tried."""
        return tuple(
            each for each in self.contracts or () if each.score is None and not each.rolled_back
        )

    @property
    def cut(self) -> tuple[ContractScore, ...]:
        """The contracts of which not all mutants were tried."""
        return tuple(each for each in self.contracts or () if each.untried)

    @property
    def verdict(self) -> str:
        """``ok``, ``fails``, ``nothing-checked`` or ``does-not-load``.

        A contract of which no mutant was tried is one of which nothing was checked; one whose run
        was cut fails, whatever the score of the rest.
        """
        if self.contracts is None:
            return "does-not-load"
        if not self.fixtures:
            return "nothing-checked"
        if self.failing or self.below or self.cut:
            return "fails"
        return "nothing-checked" if self.unproven else "ok"


def kind_of(stage: Stage | None) -> str:
    """Return ``semantic`` for rungs that ask what a document means, ``schema`` for all before."""
    return "semantic" if stage in _SEMANTIC else "schema"


def render_test(tested: Tested, *, paint: Paint = PLAIN, width: int = DEFAULT_WIDTH) -> str:
    """Return failing fixtures, survivors, a line of scores a contract, and the summary."""
    if tested.contracts is None:
        return (
            render_problems(tested.problems, paint=paint)
            + f"\n{paint.bad('DOES NOT LOAD')}: {count_of(len(tested.problems), 'problem')}"
            + f" in {escape_terminal(tested.folder)}; nothing was tested\n"
        )
    blocks = [
        render_failing(fixture, paint=paint, width=width)
        + f"  {kind_of(fixture.verdict.stage)} failure\n"
        for fixture in tested.failing
    ]
    for contract in tested.contracts:
        survivors = [each for each in tested.survivors if each.tool == contract.tool]
        blocks += [render_survivor(each, paint) for each in survivors[:MAX_SHOWN]]
        if len(survivors) > MAX_SHOWN:
            more = len(survivors) - MAX_SHOWN
            blocks.append(
                f"… and {more} more of {escape_terminal(contract.tool)}: json-v1 has all\n"
            )
    scores = "".join(_scores(contract, paint) for contract in tested.contracts)
    return "\n".join([*blocks, scores + _summary(tested, paint)])


def render_survivor(survivor: Survivor, paint: Paint) -> str:
    """Return one survivor: what had to happen, what closes the hole, how to keep it closed."""
    says = paint.bad(_SAYS[survivor.fate])
    at = escape_terminal(survivor.pointer) or "(the whole document)"
    place = paint.place(escape_terminal(survivor.file))
    name = paint.strong(escape_terminal(survivor.name))
    lines = [
        f"{place}: {says} ({survivor.kind}): {name}",
        f"  at {at}: {escape_terminal(survivor.sentence)}",
    ]
    if survivor.hint:
        lines.append(f"  hint: {escape_terminal(survivor.hint)}")
    if survivor.fate != "early":
        lines.append(
            "  " + paint.dim(escape_terminal(f"sluicegate promote {survivor.tool} {survivor.name}"))
        )
    return "\n".join(lines) + "\n"


def _scores(contract: ContractScore, paint: Paint) -> str:
    sides = "".join(
        f"  {name} {side.killed}/{side.mutants - side.equivalent} "
        + ("cut" if side.untried else show_score(side.score))
        + (f" ({side.equivalent} equivalent)" if side.equivalent else "")
        for name, side in contract.sides.items()
    )
    if contract.score is None:
        sides = "  no mutants: it has no accepted fixture"
        if contract.rolled_back:
            sides = "  not tested: an operator rolled back to another version"
    name = escape_terminal(f"{contract.tool} {contract.version}")
    left = "".join(f"  not tried: {escape_terminal(each)}\n" for each in contract.untried)
    return f"{paint.strong(name)}{sides}\n{left}"


def _summary(tested: Tested, paint: Paint) -> str:
    if tested.verdict == "nothing-checked":
        folder = escape_terminal(tested.folder)
        names = ", ".join(escape_terminal(each.tool) for each in tested.unproven)
        what = f"no mutant of {names}" if tested.fixtures else f"no fixture in {folder}"
        return f"{paint.warn('NOTHING CHECKED')}: {what}\n"
    failing = len(tested.failing)
    contracts = tested.contracts or ()
    mutants = sum(side.mutants for each in contracts for side in each.sides.values())
    text = f"{count_of(len(contracts), 'contract')}, "
    text += f"{count_of(len(tested.fixtures) - failing, 'fixture')} as expected"
    if failing:
        text += f", {failing} not"
    text += f", {count_of(mutants, 'mutant')}"
    if tested.survivors:
        meaning = sum(1 for each in tested.survivors if each.kind == "semantic")
        schema = len(tested.survivors) - meaning
        text += f", holes: {schema} schema, {meaning} semantic"
    if tested.cut:
        text += "; not all were tried, see --max-mutants"
    if tested.below:
        text += f"; the least score asked for is {tested.min_score:g}"
    verdict = paint.good("OK") if tested.verdict == "ok" else paint.bad("FAILS")
    return f"{verdict}: {text}\n"


def show_score(score: float | None) -> str:
    """Return a score with three places, cut and not rounded: 0.9999 is not 1."""
    return "–" if score is None else f"{math.floor(score * 1000) / 1000:.3f}"


def render_test_github(tested: Tested) -> str:
    """Return one command a problem, failing fixture and survivor, and the counts.

    A survivor is an error where its contract is below the least score, else a warning.
    """
    below = {each.tool for each in tested.below}
    survivors = "".join(
        command(
            "error" if each.tool in below else "warning",
            f"{each.name} at {each.pointer or '/'}: {each.sentence}. {each.hint}".strip(),
            file=each.file,
            line=1,
            title=f"mutant {each.rule}".strip(),
        )
        for each in tested.survivors
    )
    untried = "".join(
        command("error", f"not tried: {each}", file=tested.folder, line=1, title=contract.tool)
        for contract in tested.cut
        for each in contract.untried
    )
    summary = render_test(tested).strip().splitlines()[-1]
    return (
        render_problems_github(tested.problems)
        + "".join(render_failing_github(fixture) for fixture in tested.failing)
        + survivors
        + untried
        + command("notice", summary)
    )


def shape_test(tested: Tested) -> dict[str, JsonValue]:
    """Return verdict, contracts with their scores, problems, fixtures and all survivors."""
    return {
        "verdict": tested.verdict,
        "min_score": tested.min_score,
        "contracts": None
        if tested.contracts is None
        else {
            each.tool: {
                "version": each.version,
                "score": each.score,
                "sides": {
                    name: {
                        "mutants": side.mutants,
                        "killed": side.killed,
                        "equivalent": side.equivalent,
                        "score": side.score,
                        "untried": list(side.untried),
                    }
                    for name, side in each.sides.items()
                },
            }
            for each in tested.contracts
        },
        "problems": [shape_problem(problem) for problem in tested.problems],
        "fixtures": [
            {**shape_fixture(fixture), "kind": kind_of(fixture.verdict.stage)}
            for fixture in tested.fixtures
        ],
        "survivors": [
            {
                "tool": each.tool,
                "name": each.name,
                "file": each.file,
                "pointer": each.pointer,
                "level": each.level,
                "kind": each.kind,
                "fate": each.fate,
                "stage": str(each.stage),
                "got": each.got or None,
                "keyword": each.keyword,
                "rule": each.rule or None,
            }
            for each in tested.survivors
        ],
    }
