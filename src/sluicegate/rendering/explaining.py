"""Everything that has a page, found by the name that an output bears (SPEC 14, explain)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypeAlias

from sluicegate.rendering.change_pages import list_change_kinds, read_change_page
from sluicegate.rendering.pages import read_page
from sluicegate.rendering.paint import PLAIN, Paint
from sluicegate.rendering.rule_help import list_own_rules
from sluicegate.rendering.rule_pages import list_rules, read_rule_page
from sluicegate.values.codes import CODES, Code

Kind: TypeAlias = Literal["code", "rule", "change"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What can be explained. ``name``: how outputs call it; ``alias``: the name of a rule by id."""

    kind: Kind
    name: str
    alias: str
    summary: str


def list_subjects() -> tuple[Subject, ...]:
    """Return codes in the order of the ladders, then the rules, then the kinds of change."""
    return tuple(_subjects())


def _subjects() -> Iterator[Subject]:
    for code in Code:
        yield Subject(kind="code", name=code, alias="", summary=CODES[code].summary)
    for own in list_own_rules():
        yield Subject(kind="rule", name=own.id, alias=own.name, summary=own.text)
    for rule, alias in list_rules().items():
        summary = (read_rule_page(rule) or "").splitlines()[2]
        yield Subject(kind="rule", name=rule, alias=alias, summary=summary)
    for change, summary in list_change_kinds().items():
        yield Subject(kind="change", name=change, alias="", summary=summary)


def find_subject(name: str) -> Subject | None:
    """Return what ``name`` is, by name or alias, whatever the case."""
    wanted = name.lower()
    return next(
        (each for each in _subjects() if wanted in (each.name.lower(), each.alias.lower())), None
    )


def find_near(name: str) -> list[str]:
    """Return up to three names that ``name`` may be meant for, whatever the case."""
    spelt = {each.name.lower(): each.name for each in _subjects()}
    return [spelt[near] for near in get_close_matches(name.lower(), spelt, n=3)]


def page_of(subject: Subject) -> str:
    """Return the page of ``subject`` as Markdown."""
    if subject.kind == "code":
        return read_page(subject.name)
    if subject.kind == "change":
        return read_change_page(subject.name) or ""
    own = {rule.id: rule.page for rule in list_own_rules()}
    return own.get(subject.name) or read_rule_page(subject.name) or ""


def render_subjects(paint: Paint = PLAIN) -> str:
    """Return every subject with its summary, a line each, under the name of its kind."""
    headings = {"code": "Codes", "rule": "Rules of check and lint", "change": "Kinds of change"}
    told: list[str] = []
    for kind, heading in headings.items():
        found = [each for each in _subjects() if each.kind == kind]
        width = max(len(each.name) for each in found)
        told += ["" if not told else "\n", paint.strong(heading), "\n"]
        told += [f"{each.name.ljust(width)}  {each.summary}\n" for each in found]
    return "".join(told)
