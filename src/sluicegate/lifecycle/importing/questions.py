"""What only a person can decide of a draft: of its head, its schemas, and what reaches the agent.

Whatever ``check`` would refuse in the draft is among it, place by place, and so is what the mutants
of an accepted example would find (SPEC LIF-6, LIF-1, LIF-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from sluicegate.lifecycle.importing.blueprint import Blueprint, Decision
from sluicegate.lifecycle.importing.bounding import (
    MAX_ITEMS,
    MAX_LONG_TEXT,
    MAX_SHORT_TEXT,
    Bounded,
)
from sluicegate.lifecycle.importing.choosing import list_free_texts
from sluicegate.lifecycle.importing.closing import Settled
from sluicegate.lifecycle.lint.linting import find_errors
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.lint.subject import SideName, Subject, Surroundings
from sluicegate.lifecycle.lint.table import RULES
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.pointers import Pointer

_MAX_NAMED: Final = 8
_MAX_SENTENCE: Final = 300
"""Characters of places in one sentence: `check` shows no more than 400 of a whole one."""

_MAX_PLACES: Final = 200
"""Places of one rule in one draft: the document must stay one that loads (256 KiB)."""

_MAX_HOLES: Final = 50
"""Places of one rule that only an accepted example brings to light; there are ten such rules."""

_BARE_ID: Final = "B02"
_HOLED: Final = ("B01", "B03", "B04", "B05", "B10", "C04", "C05", "C06", "X03", "X05")
"""Rules of the schema whose breach is a hole as soon as mutants are made of an accepted example."""


def decide_head(blueprint: Blueprint, owner: str | None) -> Iterator[Decision]:
    """Yield what every contract says of itself, and neither the source nor its reader did."""
    if owner is None:
        yield Decision(
            at="owner", question="owner: who is told of drift, and who answers for the tool"
        )
    if not blueprint.description.strip():
        yield Decision(at="description", question="description: what the model is told of the tool")
    if blueprint.effect is None:
        yield Decision(
            at="effect",
            question="effect: read, write or destructive; the source does not say, `write` is the"
            " stricter guess",
        )
    yield Decision(
        at="arguments",
        question="arguments.resource: which arguments name what access rules are asked about",
    )
    if blueprint.fetch is None:
        yield Decision(
            at="fetch",
            question="fetch: http, command or python; `host` leaves the fetching to the program",
        )


def decide_fixtures(blueprint: Blueprint) -> Iterator[Decision]:
    """Yield which side has no accepted example: what nothing was tried on is not checked."""
    result = "result" if blueprint.result is not None else "upstream"
    for side, at, given in (
        ("arguments", "arguments", blueprint.calls),
        ("result", result, blueprint.answers),
    ):
        if not given:
            yield Decision(
                at=at,
                question=f"fixtures: an example in fixtures/{side}/accepted; check tries what it is"
                " given, and mutants of it",
            )


def decide_schema(side: SideName, settled: Settled, bounded: Bounded) -> Iterator[Decision]:
    """Yield what the import chose in one schema."""
    changes = settled.changes

    def ask(text: str, places: list[str]) -> Iterator[Decision]:
        if places:
            topic = f"{side}.schema: {text}"
            yield Decision(at=side, question=f"{topic} {_name(places)}", topic=topic)

    yield from _ask_each(side, "identifiers need a pattern", _list_bare_ids(side, settled.schema))
    yield from ask(
        f"bounds that the import chose, {MAX_SHORT_TEXT} characters for a text and {MAX_LONG_TEXT}"
        " for prose, or what its format takes, at",
        bounded.texts,
    )
    yield from ask(f"at most {MAX_ITEMS} items, at", bounded.arrays)
    yield from ask("integers of at most 2^53-1, at", bounded.integers)
    yield from ask("closed by the import, though published open, at", changes.closed)
    yield from ask(f"a map of at most {MAX_ITEMS} members, at", changes.maps)
    yield from ask("an object of anything, which never reaches the agent, at", changes.extensions)
    yield from ask("any value was allowed and scalars alone are now, at", changes.scalars)
    if changes.dropped:
        named = ", ".join(f"{name} ({count})" for name, count in sorted(changes.dropped.items()))
        topic = f"{side}.schema: taken away, because it holds not"
        yield Decision(at=side, question=f"{topic}: {named}", topic=topic)


def _list_bare_ids(side: SideName, schema: JsonObject) -> list[str]:
    """Return where lint's rule for identifiers finds one that any text would do for."""
    rule = RULES[_BARE_ID]
    if rule.check is None or rule.severity(side) is None:
        return []
    return [hit.pointer for hit in rule.check(Sheet(Subject(schema=schema, side=side)))]


def decide_errors(subject: Subject) -> Iterator[Decision]:
    """Yield what ``check`` would refuse in the draft: by rule, each place of it."""
    broken: dict[str, dict[str, None]] = {}
    for finding in find_errors(subject):
        broken.setdefault(finding.rule, {})[finding.pointer] = None
    for rule, places in broken.items():
        if rule != _BARE_ID:
            yield from _ask_each(subject.side, f"check refuses {rule} {RULES[rule].name}", places)


def decide_holes(subject: Subject) -> Iterator[Decision]:
    """Yield where mutants of an accepted example would be accepted: by rule, each place of it.

    ``check`` makes none while there is no such example, and then only warns.
    """
    sheet = Sheet(subject)
    for rule in map(RULES.__getitem__, _HOLED):
        if rule.check is not None and rule.severity(subject.side) == "warning":
            places = dict.fromkeys(hit.pointer for hit in rule.check(sheet))
            text = f"check finds a hole by {rule.id} {rule.name} once an example is accepted"
            yield from _ask_each(subject.side, text, places, most=_MAX_HOLES)


def surround(result: JsonValue, *, has_accepted: bool) -> Surroundings:
    """Return what the drafted contract says around its result schema, as lint will read it."""
    chosen = result if isinstance(result, Mapping) else {}
    agent, texts = chosen.get("agent"), chosen.get("untrusted_text")
    untrusted = _parse(texts.values() if isinstance(texts, Mapping) else ())
    return Surroundings(
        of_contract=True,
        has_dialect=True,
        selected=_parse(agent) | untrusted if isinstance(agent, list) else None,
        untrusted=untrusted,
        has_accepted=has_accepted,
    )


def _parse(pointers: Iterable[object]) -> frozenset[Pointer]:
    return frozenset(Pointer.parse(text) for text in pointers if isinstance(text, str))


def decide_result(schema: JsonObject) -> Iterator[Decision]:
    """Yield what a result says beside its schema."""
    yield Decision(
        at="result",
        question="result.agent: which fields the agent needs; the others never reach it",
    )
    texts = list_free_texts(schema)
    if texts:
        topic = "result.untrusted_text: free text that the agent needs, out of"
        yield Decision(at="result", question=f"{topic} {_name(texts)}", topic=topic)
    yield Decision(
        at="result", question="result.bind: which fields repeat an argument and must equal it"
    )
    yield Decision(
        at="result", question="result.fresh: which field says when the answer was true, and how old"
    )


def _name(places: list[str]) -> str:
    shown = ", ".join(show_name(place) or "the root" for place in places[:_MAX_NAMED])
    rest = len(places) - _MAX_NAMED
    return f"{shown} and {rest} more" if rest > 0 else shown


def _ask_each(
    side: SideName, text: str, places: Iterable[str], *, most: int = _MAX_PLACES
) -> Iterator[Decision]:
    """Name each place, in as many sentences as it takes: what is not told is a surprise later."""
    listed = list(places)
    shown = ["/".join(map(show_name, place.split("/"))) or "the root" for place in listed]
    if len(listed) > most:
        more = f"and {len(listed) - most} more places, which `sluicegate lint` names"
        shown[most:] = [more]
    topic = f"{side}.schema: {text}, at"
    line: list[str] = []
    for each in shown:
        if line and len(", ".join([*line, each])) > _MAX_SENTENCE:
            yield Decision(at=side, question=f"{topic} {', '.join(line)}", topic=topic)
            line = []
        line.append(each)
    if line:
        yield Decision(at=side, question=f"{topic} {', '.join(line)}", topic=topic)
