"""A folder's contracts held to their fixtures and to mutants of them, on the real ladders."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Final

from sluicegate.adapters.credentials import Credentials
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.json_reading import read_json
from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.serving import Line
from sluicegate.lifecycle.mutants.alike import Alike
from sluicegate.lifecycle.mutants.byte_level import mutate_bytes, mutate_text
from sluicegate.lifecycle.mutants.carrying import mutate_carrier, open_answer
from sluicegate.lifecycle.mutants.meaning import mutate_meaning
from sluicegate.lifecycle.mutants.mutant import Mutant
from sluicegate.lifecycle.mutants.signature import mutate_signature
from sluicegate.lifecycle.mutants.structure import mutate_structure
from sluicegate.lifecycle.mutants.untried import Reached
from sluicegate.lifecycle.scoring import Equivalent, Judged, Outcome, Tally, judge_mutants
from sluicegate.opening.clock import SystemClock
from sluicegate.opening.collecting import EQUIVALENTS, FIXTURES
from sluicegate.opening.equivalents import find_unproven, read_equivalents
from sluicegate.opening.examples import Example, find_lacking, limit_examples, list_examples
from sluicegate.opening.fixtures import TriedFixture, UnreadFixture
from sluicegate.opening.loaded import Loaded
from sluicegate.opening.loading import load_folder
from sluicegate.opening.situations import Situation, default_arguments, situate
from sluicegate.opening.wiring import build_lines
from sluicegate.values.json import JsonValue
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import NOTHING, Nothing

MAX_EXAMPLES: Final = 1_000
"""Accepted fixtures of one side that mutants are made of, in the order of their paths."""

MAX_MUTANTS: Final = 20_000
"""Mutants of one level of one fixture, unless more are asked for. What is beyond is told: a run
that was cut proves nothing of the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """A mutant that was not killed at its rung, of ``example``; ``name`` is unique in a tool."""

    name: str
    example: Example
    judged: Judged


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedSide:
    """One side of a contract. ``score`` is None where no accepted fixture yields a mutant.

    ``untried`` says, a sentence each, what was left out that must not be: by the limits, or for
    want of an accepted fixture; the score speaks of the rest. ``unreached`` are places of the
    schema that no accepted fixture has, so that no mutant was made there. ``alike`` counts places
    of later fixtures that were left out, for enough earlier ones have them just so.
    """

    mutants: int
    killed: int
    equivalent: int
    score: float | None
    holes: tuple[Hole, ...]
    untried: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    alike: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbedContract:
    """One contract: what became of its fixtures, and each side's mutants by its name.

    ``rolled_back``: an operator serves another version, so there are no fixtures of it here.
    """

    tool: str
    version: str
    source: str
    fixtures: tuple[TriedFixture, ...]
    sides: Mapping[str, ProbedSide]
    rolled_back: bool = False

    @property
    def score(self) -> float | None:
        """Killed ÷ (all − equivalent) of both sides; None where a side had no mutant."""
        if any(not side.mutants and side.untried for side in self.sides.values()):
            return None
        counted = sum(side.mutants - side.equivalent for side in self.sides.values())
        killed = sum(side.killed for side in self.sides.values())
        return killed / counted if counted else None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderProbe:
    """``contracts`` is None where the folder does not load: see ``problems``."""

    contracts: tuple[ProbedContract, ...] | None
    problems: tuple[Problem, ...] = ()


def _say_nothing(_: str) -> None:
    """What hears of the progress where nobody watches."""


def probe_folder(
    folder: Path,
    *,
    python: bool = True,
    tool: str | None = None,
    now: datetime | None = None,
    most: int = MAX_MUTANTS,
    tell: Callable[[str], None] = _say_nothing,
) -> FolderProbe:
    """Climb every fixture of the folder, then mutants of the accepted ones, deterministically.

    ``tool`` tests one contract alone; ``most`` mutants of one level of one fixture are tried;
    ``now`` is the time by which waivers expire; ``tell`` hears how far it is, a few words a mutant.
    A version that
    an operator rolled back to has no fixtures here, as in ``open_gate``.
    Raises: ConfigurationError where the steering file is wrong. Source: SPEC LIF-2.
    """
    loaded = load_folder(folder, now or SystemClock().now(), python=python)
    contracts = loaded.contracts
    if contracts is None:
        return FolderProbe(contracts=None, problems=loaded.problems)
    lines = build_lines(_chosen(contracts, tool), folder, Credentials(folder))
    if isinstance(lines, tuple):
        return FolderProbe(contracts=None, problems=loaded.tell(lines))
    return FolderProbe(contracts=tuple(probe_line(loaded, line, most) for line in lines))


def _chosen(contracts: ContractSet, tool: str | None) -> list[Contract]:
    return [each for name, each in sorted(contracts.contracts.items()) if tool in (None, name)]


def probe_line(
    loaded: Loaded,
    line: Line,
    most: int = MAX_MUTANTS,
    tell: Callable[[str], None] = _say_nothing,
) -> ProbedContract:
    """Probe one contract of a folder that loads."""
    contract = line.contract
    fixtures = list(loaded.run_fixtures(line))
    home = (loaded.read.root / contract.source).parent
    sides: dict[str, ProbedSide] = {}
    try:
        equivalents = read_equivalents(home)
    except (OSError, ValueError) as error:
        equivalents = ()
        fixtures.append(_not_fit(line, str(error)))
    if fixtures and contract.source not in loaded.rolled_back:
        passing = {fixture.path for fixture in fixtures if fixture.ok}
        tallies = {"arguments": Tally(), "result": Tally()}
        examples: dict[str, Example] = {}
        tried: dict[tuple[str, str], bool] = {}
        limited = limit_examples(list_examples(loaded.read.root, home, line, passing), MAX_EXAMPLES)
        untried = {side: limited.tell_untried(side) for side in tallies}
        lacking = find_lacking(contract, fixtures)
        for side in lacking if len(lacking) < len(tallies) else ():
            untried[side].append(f"nothing of the {side}: no fixture of it is accepted")
        for side in find_lacking(contract, [each for each in fixtures if each.ok]):
            if side not in lacking:
                untried[side].append(f"nothing of the {side}: its accepted fixtures are refused")
        reached = {side: Reached(_schema_of(contract, side).document) for side in tallies}
        alike = {side: Alike() for side in tallies}
        for example in limited.examples:
            value = _value_of(contract, example)
            if not isinstance(value, Nothing):
                reached[example.side].add(value)
            examples[f"{example.side}.{example.name}"] = example
            budget = Budget(most, example, untried[example.side], alike[example.side])
            for judged in judge_example(line, home, example, equivalents, budget):
                tell(f"{contract.tool}, {len(examples)} of {len(limited.examples)} fixtures")
                tallies[example.side].count(f"{example.side}.{example.name}", judged)
                note_equivalent(tried, judged)
        unproven = find_unproven(equivalents, tried, cut=any(untried.values()))
        fixtures += [_not_fit(line, note) for note in unproven]
        sides = {
            side: replace(
                _close(tally, examples),
                untried=tuple(untried[side]),
                unreached=reached[side].tell_untried(),
                alike=alike[side].left_out,
            )
            for side, tally in tallies.items()
        }
    return ProbedContract(
        tool=contract.tool,
        version=contract.version,
        source=contract.source,
        fixtures=tuple(fixtures),
        sides=sides,
        rolled_back=contract.source in loaded.rolled_back,
    )


@dataclass(slots=True)
class Budget:
    """At most ``most`` mutants a level of ``example``; ``untried`` hears where there were more.

    ``alike`` are the places of earlier examples of the side: what enough of them have is left out.
    """

    most: int
    example: Example
    untried: list[str]
    alike: Alike = field(default_factory=Alike)

    def spend(self, level: str, mutants: Iterable[Mutant]) -> Iterator[Mutant]:
        """Yield the first ``most`` of ``mutants``."""
        for number, mutant in enumerate(mutants):
            if number == self.most:
                self.untried.append(
                    f"mutants at {level} level beyond {self.most} of {self.example.path}"
                )
                return
            yield mutant


def judge_example(
    line: Line,
    home: Path,
    example: Example,
    equivalents: tuple[Equivalent, ...] = (),
    budget: Budget | None = None,
) -> Iterator[Judged]:
    """Climb every mutant of one example that the budget has room for."""
    default = default_arguments(home)
    situations: dict[str, Situation] = {}

    def climb(mutant: Mutant) -> Outcome:
        situation = situations.get(mutant.name, example.situation)
        return situation.climb(line, example.side, mutant.raw)

    def askable() -> Iterator[Mutant]:
        """A mutant whose arguments a check of the contract's own refuses cannot be asked for."""
        for mutant in mutate_example(line, example, budget):
            if mutant.needs:
                try:
                    needs = {**example.needs, **mutant.needs}
                    situations[mutant.name] = situate(line, needs, default)
                except ValueError:
                    continue
            yield mutant

    return judge_mutants(askable(), climb, example.accepted, equivalents)


def mutate_example(line: Line, example: Example, budget: Budget | None = None) -> Iterator[Mutant]:
    """Yield the mutants of one example at all three levels, each name once."""
    names: dict[str, int] = {}
    for mutant in _levels(line.contract, example, budget or Budget(MAX_MUTANTS, example, [])):
        again = names[mutant.name] = names.get(mutant.name, 0) + 1
        yield mutant if again == 1 else replace(mutant, name=f"{mutant.name}-{again}")


def _levels(contract: Contract, example: Example, budget: Budget) -> Iterator[Mutant]:
    if example.side == "arguments":
        schema = contract.arguments.schema
        read = read_json("arguments", example.raw)
        yield from budget.spend("byte", mutate_bytes(example.raw, contract.call_limits))
        if isinstance(read, Document):
            structure = mutate_structure(
                read.value, schema.document, schema.is_valid, side="arguments", alike=budget.alike
            )
            yield from budget.spend("structure", structure)
        return
    carried = open_answer(contract, example.raw)
    if carried is None:
        yield from budget.spend("byte", mutate_text(example.raw, contract.limits))
        yield from mutate_signature(contract, example.raw)
        return
    schema = contract.result.schema
    yield from budget.spend("byte", mutate_bytes(example.raw, contract.limits))
    structure = mutate_structure(carried.data, schema.document, schema.is_valid, alike=budget.alike)
    changed = chain(mutate_carrier(contract, carried), map(carried.carry, structure))
    fitting = (each for each in changed if each and _fits(each.raw, contract.limits))
    yield from budget.spend("structure", fitting)
    meaning = mutate_meaning(contract, carried, example.situation.request)
    yield from budget.spend("meaning", meaning)
    yield from mutate_signature(contract, example.raw)


def _fits(raw: bytes, limits: Limits) -> bool:
    """What is beyond the byte limit says nothing of the rungs behind it."""
    return len(raw) <= limits.max_bytes


def note_equivalent(tried: dict[tuple[str, str], bool], judged: Judged) -> None:
    """Remember whether a mutant was equivalent in any of the examples that have it."""
    key = (judged.mutant.name, judged.mutant.pointer)
    tried[key] = tried.get(key, False) or judged.fate == "equivalent"


def _schema_of(contract: Contract, side: str) -> CompiledSchema:
    return contract.arguments.schema if side == "arguments" else contract.result.schema


def _value_of(contract: Contract, example: Example) -> JsonValue | Nothing:
    """Return what the schema of its side sees of an example; NOTHING where it is no JSON."""
    if example.side == "arguments":
        read = read_json("arguments", example.raw)
        return read.value if isinstance(read, Document) else NOTHING
    carried = open_answer(contract, example.raw)
    return NOTHING if carried is None else carried.data


def _close(tally: Tally, examples: Mapping[str, Example]) -> ProbedSide:
    return ProbedSide(
        mutants=tally.total,
        killed=tally.killed,
        equivalent=tally.equivalent,
        score=tally.score,
        holes=tuple(
            Hole(name=f"{of}.{judged.mutant.name}", example=examples[of], judged=judged)
            for of, judged in tally.holes
        ),
    )


def _not_fit(line: Line, note: str) -> UnreadFixture:
    home = Path(line.contract.source).parent
    path = (home / FIXTURES / EQUIVALENTS).as_posix()
    return UnreadFixture(path=path, tool=line.contract.tool, note=note)
