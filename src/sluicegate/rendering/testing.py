"""What ``test`` found: fixtures that fail, mutants that nothing refused, and the scores."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.counting import count_of
from sluicegate.rendering.fixtures import CheckedFixture, item_of_fixture, shape_fixture
from sluicegate.rendering.places import place_pointers
from sluicegate.rendering.problems import item_of_problem
from sluicegate.rendering.reports import (
    Item,
    Report,
    Severity,
    column_in_characters,
    length_in_characters,
)
from sluicegate.rendering.rule_help import MUTANT
from sluicegate.rendering.spans import Span
from sluicegate.values.codes import Stage
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue

SURVIVORS: Final = "survivors"
"""The member of the json-v1 object that lists the mutants that were not refused."""

_NAMED: Final = 5
"""Places without a fixture that are told by name; json-v1 has them all."""

_SEMANTIC: Final = frozenset({Stage.CHECK, Stage.VOUCH, Stage.SELECT, Stage.INTERNAL})
"""Internal: a check of the contract's own that is defective; nothing else ends there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """One mutant that was not refused where it must be.

    ``file`` is the example it was made of and ``raw`` its bytes, ``stage`` the rung that must
    refuse it; ``got`` is what became of it (``vouch/STALE``), empty where it was accepted; ``rule``
    is the lint rule that closes the hole, empty where none does. ``fate`` is ``survived``,
    ``early``, ``late``, ``refused`` or ``seen``.
    """

    tool: str
    name: str
    file: str
    raw: bytes
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

    ``untried`` says what was left out and must not be, a sentence each; the score speaks of the
    rest. ``unreached`` are places that no accepted fixture has: no mutant was made there. ``alike``
    counts places of later fixtures that were left out, for enough earlier ones have them just so.
    """

    mutants: int
    killed: int
    equivalent: int
    score: float | None
    untried: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    alike: int = 0


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
        """What was left out on either side and must not be."""
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


def _kind_of_fixture(fixture: CheckedFixture) -> str | None:
    return None if fixture.verdict is None else kind_of(fixture.verdict.stage)


def report_test(tested: Tested) -> Report:
    """Return problems, failing fixtures and survivors as items; fixtures and sides are cases.

    A survivor is an error where its contract is below the least score, else a warning.
    """
    sides = [
        _case(each.tool, side) for each in tested.contracts or () for side in sorted(each.sides)
    ]
    fixtures = [fixture.source.name for fixture in tested.fixtures]
    return Report(
        command="test",
        verdict=tested.verdict,
        items=tuple(_items(tested)),
        checked=len(fixtures) + _count_mutants(tested),
        summary=_summarize(tested),
        parts=("problems", SURVIVORS),
        facts={
            "min_score": tested.min_score,
            "contracts": None
            if tested.contracts is None
            else {each.tool: _shape_score(each) for each in tested.contracts},
            "fixtures": [
                {**shape_fixture(fixture), "kind": _kind_of_fixture(fixture)}
                for fixture in tested.fixtures
            ],
        },
        cases=(*fixtures, *sides),
        remarks=tuple(line for each in tested.contracts or () for line in _tell_score(each)),
    )


def _items(tested: Tested) -> Iterator[Item]:
    yield from map(item_of_problem, tested.problems)
    for fixture in tested.failing:
        yield item_of_fixture(fixture, kind=_kind_of_fixture(fixture))
    for contract in tested.contracts or ():
        if contract in tested.cut or contract in tested.unproven:
            yield from _items_of_untried(contract, tested.folder)
        yield from _items_of_unreached(contract, tested.folder)
    below = {each.tool for each in tested.below}
    by_score: dict[Severity, list[Survivor]] = {"error": [], "warning": []}
    for survivor in tested.survivors:
        by_score["error" if survivor.tool in below else "warning"].append(survivor)
    for severity, survivors in by_score.items():
        yield from items_of_survivors(survivors, severity=severity)


def _items_of_untried(contract: ContractScore, folder: str) -> Iterator[Item]:
    """What was not tried is no success of anything: an error at the folder."""
    left_out = [f"not tried: {each}" for each in contract.untried]
    for text in left_out or ["no mutant was tried: it has no accepted fixture"]:
        yield Item(
            rule=MUTANT.id,
            name=MUTANT.name,
            severity="error",
            message=f"{contract.tool}: {text}",
            file=folder,
            pointer="",
            line=None,
            column=None,
            hint="Add an accepted fixture; raise --max-mutants where a run was cut.",
            tool=contract.tool,
            group=_case(contract.tool, min(contract.sides, default="result")),
            family="not tried",
            part="",
        )


def _items_of_unreached(contract: ContractScore, folder: str) -> Iterator[Item]:
    """What no accepted fixture has, a warning a side: the score does not speak of it."""
    for side, score in sorted(contract.sides.items()):
        if _is_qualified(score):
            first = ", ".join(score.unreached[:_NAMED])
            more = len(score.unreached) - _NAMED
            count = count_of(len(score.unreached), "place")
            yield Item(
                rule=MUTANT.id,
                name=MUTANT.name,
                severity="warning",
                message=f"{contract.tool}: no mutant was made at {count} of the {side}, which no "
                f"accepted fixture has: {first}" + (f" and {more} more" if more > 0 else ""),
                file=folder,
                pointer="",
                line=None,
                column=None,
                hint="Add an accepted fixture that has them.",
                tool=contract.tool,
                group=_case(contract.tool, side),
                family="no fixture has it",
                part="",
            )


def items_of_survivors(
    survivors: Iterable[Survivor],
    *,
    severity: Severity = "error",
    part: str = SURVIVORS,
    group: str = "",
) -> Iterator[Item]:
    """Yield an item a survivor, at the place in its example that was changed.

    ``group`` is the case that they all belong to; empty: each to that of its side.
    """
    by_file: dict[str, list[Survivor]] = {}
    for survivor in survivors:
        by_file.setdefault(survivor.file, []).append(survivor)
    for alike in by_file.values():
        spans = place_pointers(alike[0].raw, [each.pointer for each in alike])
        for survivor in alike:
            # A change of the whole document has no line that would show it.
            span = spans.get(survivor.pointer) if survivor.pointer else None
            yield _item_of_survivor(survivor, span, severity, part, group)


def _item_of_survivor(
    survivor: Survivor, span: Span | None, severity: Severity, part: str, group: str
) -> Item:
    raw = survivor.raw
    side = survivor.name.partition(".")[0]
    promotion = f"sluicegate promote {survivor.tool} {survivor.name}"
    return Item(
        rule=survivor.rule or MUTANT.id,
        name=MUTANT.name,
        severity=severity,
        message=f"{survivor.name}: {survivor.sentence} ({survivor.kind})",
        file=survivor.file,
        pointer=survivor.pointer,
        line=None if span is None else span.line,
        column=None if span is None else column_in_characters(raw, span),
        length=1 if span is None else length_in_characters(raw, span),
        hint=survivor.hint,
        way_on="" if survivor.fate == "early" else promotion,
        # Many operators find one hole at one place, and each of them is a result of its own.
        fingerprint=str(digest_of_json([survivor.tool, survivor.name, survivor.file])),
        tool=survivor.tool,
        group=group or _case(survivor.tool, side),
        family=MUTANT.name if survivor.rule else f"{survivor.stage} {survivor.keyword}",
        part=part,
        detail={
            **_as_before(survivor, part),
            "mutant": survivor.name,
            "closed_by": survivor.rule or None,
            "level": survivor.level,
            "kind": survivor.kind,
            "fate": survivor.fate,
            "stage": str(survivor.stage),
            "got": survivor.got or None,
            "keyword": survivor.keyword,
        },
    )


def _as_before(survivor: Survivor, part: str) -> dict[str, JsonValue]:
    """Rule and name as either list told them before both were made of one item: a promise."""
    if part == SURVIVORS:
        return {"rule": survivor.rule or None, "name": survivor.name}
    return {"rule": MUTANT.id}


def _case(tool: str, side: str) -> str:
    return f"mutants of {tool} {side}"


def _count_mutants(tested: Tested) -> int:
    return sum(side.mutants for each in tested.contracts or () for side in each.sides.values())


def _tell_score(contract: ContractScore) -> Iterator[str]:
    sides = "".join(
        f"  {name} {side.killed}/{side.mutants - side.equivalent} "
        + ("cut" if side.untried and side.mutants else show_score(side.score))
        + (f" but for {count_of(len(side.unreached), 'place')}" if _is_qualified(side) else "")
        + (f" ({side.equivalent} equivalent)" if side.equivalent else "")
        for name, side in contract.sides.items()
    )
    if contract.score is None and not any(each.mutants for each in contract.sides.values()):
        sides = "  no mutants: it has no accepted fixture"
        if contract.rolled_back:
            sides = "  not tested: an operator rolled back to another version"
    yield f"{contract.tool} {contract.version}{sides}"


def _is_qualified(side: SideScore) -> bool:
    """Whether a score speaks of less than the whole side."""
    return bool(side.unreached) and bool(side.mutants)


def _summarize(tested: Tested) -> str:
    if tested.contracts is None:
        count = count_of(len(tested.problems), "problem")
        return f"{count} in {tested.folder}; nothing was tested"
    if tested.verdict == "nothing-checked":
        names = ", ".join(each.tool for each in tested.unproven)
        return f"no mutant of {names}" if tested.fixtures else f"no fixture in {tested.folder}"
    failing = len(tested.failing)
    text = f"{count_of(len(tested.contracts), 'contract')}, "
    text += f"{count_of(len(tested.fixtures) - failing, 'fixture')} as expected"
    if failing:
        text += f", {failing} not"
    text += f", {count_of(_count_mutants(tested), 'mutant')}"
    alike = sum(side.alike for each in tested.contracts for side in each.sides.values())
    if alike:
        text += f" ({count_of(alike, 'place')} of later fixtures left out, alike in three others)"
    if tested.survivors:
        meaning = sum(1 for each in tested.survivors if each.kind == "semantic")
        schema = len(tested.survivors) - meaning
        text += f", holes: {schema} schema, {meaning} semantic"
    if tested.cut:
        text += "; not all was tried"
    if tested.below:
        text += f"; the least score asked for is {tested.min_score:g}"
    return text


def show_score(score: float | None) -> str:
    """Return a score with three places, cut and not rounded: 0.9999 is not 1."""
    return "–" if score is None else f"{math.floor(score * 1000) / 1000:.3f}"


def _shape_score(contract: ContractScore) -> JsonValue:
    return {
        "version": contract.version,
        "score": contract.score,
        "sides": {
            name: {
                "mutants": side.mutants,
                "killed": side.killed,
                "equivalent": side.equivalent,
                "score": side.score,
                "untried": list(side.untried),
                "unreached": list(side.unreached),
                "alike": side.alike,
            }
            for name, side in contract.sides.items()
        },
    }
