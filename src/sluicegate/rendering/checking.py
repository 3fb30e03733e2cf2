"""What ``check`` found in a folder, as a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sluicegate.contracts.problems import Problem
from sluicegate.rendering.counting import count_of
from sluicegate.rendering.fixtures import CheckedFixture, item_of_fixture, shape_fixture
from sluicegate.rendering.problems import item_of_problem
from sluicegate.rendering.reports import Item, Report, RuleHelp
from sluicegate.rendering.rule_help import DOUBT, NOTHING_CHECKED, SERVING
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue

_SETTINGS: Final = "sluicegate.yaml"
SETTINGS: Final = "settings"
LINT: Final = "lint"
VERSIONS: Final = "versions"
HOLES: Final = "holes"
"""The members of the json-v1 object that list what fails the check and is no fixture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What was found. ``contracts`` maps each tool to its version; None: it does not load.

    ``notes`` say what loads and yet is hardly meant, ``services`` what is served otherwise than the
    folder stands; ``found`` is whatever fails the check and is
    no fixture, each item in its part: what sluicegate.yaml says and cannot mean, errors of lint,
    mutants that were not refused where they must be, versions that do not say what changed.
    ``mutants`` were tried; ``cut`` are the tools of which there are more. ``lacking`` maps
    tools to the sides that no accepted fixture speaks for: a note tells of them, ``test`` fails.
    """

    folder: str
    contracts: Mapping[str, str] | None
    digest: str | None
    problems: tuple[Problem, ...]
    fixtures: tuple[CheckedFixture, ...]
    notes: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    found: tuple[Item, ...] = ()
    mutants: int = 0
    cut: tuple[str, ...] = ()
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def failing(self) -> tuple[CheckedFixture, ...]:
        """The fixtures that did not come out as expected."""
        return tuple(fixture for fixture in self.fixtures if not fixture.ok)

    @property
    def verdict(self) -> str:
        """``does-not-load``, ``nothing-checked``, ``fails`` or ``ok``."""
        if self.contracts is None:
            return "does-not-load"
        if not self.contracts:
            return "nothing-checked"
        return "fails" if self.failing or self.found else "ok"


def report_check(checked: Checked, *, doubts: bool = True) -> Report:
    """Return the report; contracts and fixtures are its cases.

    ``doubts`` False: the notes are told elsewhere, and are no items.
    """
    contracts = [case_of(tool) for tool in sorted(checked.contracts or {})]
    fixtures = [fixture.source.name for fixture in checked.fixtures]
    lacking: dict[str, JsonValue] = {tool: list(each) for tool, each in checked.lacking.items()}
    return Report(
        command="check",
        verdict=checked.verdict,
        items=tuple(_items(checked, doubts=doubts)),
        checked=len(contracts) + len(fixtures),
        summary=_summarize(checked),
        parts=("problems", SETTINGS, LINT, VERSIONS, HOLES),
        facts={
            "digest": checked.digest,
            "contracts": None if checked.contracts is None else dict(checked.contracts),
            "notes": [*checked.services, *checked.notes],
            "mutants": {"tried": checked.mutants, "cut": list(checked.cut), "lacking": lacking},
            "fixtures": [shape_fixture(fixture) for fixture in checked.fixtures],
        },
        cases=(*contracts, *fixtures),
    )


def case_of(tool: str) -> str:
    """Return the name of the test case that a contract is."""
    return f"contract {tool}"


def _items(checked: Checked, *, doubts: bool) -> Iterator[Item]:
    yield from map(item_of_problem, checked.problems)
    yield from map(item_of_fixture, checked.failing)
    yield from checked.found
    if not doubts:
        return
    for rule, sentences in ((SERVING, checked.services), (DOUBT, checked.notes)):
        yield from (_item_of_note(rule, each, checked) for each in sentences)
    if checked.verdict == "nothing-checked":
        yield _item_of_note(NOTHING_CHECKED, "there is no contract in this folder", checked)


def _item_of_note(rule: RuleHelp, sentence: str, checked: Checked) -> Item:
    """Return what is said of the folder as a whole; the sentence tells such items apart."""
    return Item(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity,
        message=sentence,
        file=str(Path(checked.folder, _SETTINGS)),
        pointer="",
        line=None,
        column=None,
        group="doubts",
        part="",
        fingerprint=str(digest_of_json([rule.id, sentence])),
    )


def _summarize(checked: Checked) -> str:
    if checked.contracts is None:
        count = count_of(len(checked.problems), "problem")
        return f"{count} in {checked.folder}; nothing of it is served"
    if not checked.contracts:
        return f"no contract in {checked.folder}"
    failing = len(checked.failing)
    passing = len(checked.fixtures) - failing
    parts = [count_of(len(checked.contracts), "contract")]
    parts.append(f"{count_of(passing, 'fixture')} as expected")
    if failing:
        parts.append(f"{failing} not")
    if checked.mutants:
        mutants = count_of(checked.mutants, "mutant")
        parts.append(f"{mutants} and not all" if checked.cut else mutants)
    for part, noun, rest in _COUNTED:
        found = sum(item.part == part for item in checked.found)
        if found:
            parts.append(count_of(found, noun) + rest)
    lacking = sum(map(len, checked.lacking.values()))
    if lacking:
        parts.append(f"{count_of(lacking, 'side')} without an accepted fixture")
    return f"{', '.join(parts)}  {checked.digest or ''}".rstrip()


_COUNTED: Final = (
    (HOLES, "hole", ""),
    (SETTINGS, "error", " of settings"),
    (LINT, "error", " of lint"),
    (VERSIONS, "version", " at fault"),
)
