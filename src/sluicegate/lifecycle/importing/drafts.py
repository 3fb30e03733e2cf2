"""The draft of one contract: schemas settled, defaults declared, every open question written down.

A draft is the files of one contract folder. Its ``contract.yaml`` bears the key ``draft`` with one
sentence for each thing a person must decide; while it stands the contract does not load
(SPEC LIF-6).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.keywords import DIALECT
from sluicegate.lifecycle.importing.blueprint import Blueprint, Decision
from sluicegate.lifecycle.importing.bounding import (
    MAX_ITEMS,
    MAX_LONG_TEXT,
    MAX_SHORT_TEXT,
    Bounded,
    bound,
)
from sluicegate.lifecycle.importing.choosing import choose_agent_fields, list_free_texts
from sluicegate.lifecycle.importing.closing import Settled, settle
from sluicegate.lifecycle.importing.writing import write_contract
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.lint.subject import SideName, Subject
from sluicegate.lifecycle.lint.table import RULES
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name

_MAX_NAMED: Final = 8
_MAX_DESCRIPTION: Final = 20_000
_BARE_ID: Final = "B02"
_UNDECIDED: Final = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One contract folder to be: ``files`` by path below it, and what is left to decide."""

    tool: str
    files: Mapping[str, bytes]
    decisions: tuple[Decision, ...]
    accepted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """A schema that cannot be drafted: what registration still says of it."""

    tool: str
    side: SideName
    faults: tuple[SchemaFault, ...]


def draft(blueprint: Blueprint, *, accept_defaults: bool = False) -> Draft | Unfit:
    """Return the draft of one tool, or what stands against one of its schemas.

    ``accept_defaults``: the declared defaults are taken as decided, so the contract loads; what
    was decided that way is told all the same.
    """
    arguments, bounded = bound(blueprint.arguments)
    settled = settle(arguments, "arguments")
    if isinstance(settled, tuple):
        return Unfit(tool=blueprint.tool, side="arguments", faults=settled)
    decisions = [*_decide_head(blueprint), *blueprint.decisions]
    decisions += _decide_schema("arguments", settled, bounded)
    files = {"schemas/arguments.json": _encode(settled.schema)}
    members: dict[str, JsonValue] = {
        "sluicegate": 1,
        "tool": blueprint.tool,
        "version": "0.1.0",
        "owner": _UNDECIDED,
        **({"title": blueprint.title} if blueprint.title else {}),
        "description": _describe(blueprint),
        "effect": blueprint.effect or "write",
        "arguments": {"schema": {"file": "schemas/arguments.json"}},
        "fetch": blueprint.fetch or {"host": {}},
        **({"upstream": blueprint.upstream} if blueprint.upstream else {}),
    }
    if blueprint.result is not None:
        result, bounded = bound(blueprint.result)
        settled = settle(result, "result")
        if isinstance(settled, tuple):
            return Unfit(tool=blueprint.tool, side="result", faults=settled)
        files["schemas/result.json"] = _encode(settled.schema)
        members["result"] = {
            "schema": {"file": "schemas/result.json"},
            **choose_agent_fields(settled.schema),
        }
        decisions += _decide_schema("result", settled, bounded)
        decisions += _decide_result(settled.schema)
    files.update(_fixtures(blueprint))
    files["contract.yaml"] = write_contract(members, decisions, accepted=accept_defaults)
    return Draft(
        tool=blueprint.tool,
        files=files,
        decisions=tuple(decisions),
        accepted=accept_defaults,
    )


def _describe(blueprint: Blueprint) -> str:
    text = blueprint.description.strip()[:_MAX_DESCRIPTION]
    return text or f"The tool {blueprint.tool}."


def _decide_head(blueprint: Blueprint) -> Iterator[Decision]:
    yield Decision(at="owner", question="owner: who is told of drift, and who answers for the tool")
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


def _decide_schema(side: SideName, settled: Settled, bounded: Bounded) -> Iterator[Decision]:
    changes = settled.changes

    def ask(text: str, places: list[str]) -> Iterator[Decision]:
        if places:
            yield Decision(at=side, question=f"{side}.schema: {text} {_name(places)}")

    yield from ask("identifiers need a pattern, at", _list_bare_ids(side, settled.schema))
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
        yield Decision(
            at=side, question=f"{side}.schema: taken away, because it holds not: {named}"
        )


def _list_bare_ids(side: SideName, schema: JsonObject) -> list[str]:
    """Return where lint's rule for identifiers finds one that any text would do for."""
    rule = RULES[_BARE_ID]
    if rule.check is None or rule.severity(side) is None:
        return []
    return [hit.pointer for hit in rule.check(Sheet(Subject(schema=schema, side=side)))]


def _decide_result(schema: JsonObject) -> Iterator[Decision]:
    yield Decision(
        at="result",
        question="result.agent: which fields the agent needs; the others never reach it",
    )
    texts = list_free_texts(schema)
    if texts:
        yield Decision(
            at="result",
            question="result.untrusted_text: free text that the agent needs, out of"
            f" {_name(texts)}",
        )
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


def _encode(schema: JsonObject) -> bytes:
    document = {"$schema": DIALECT, **schema}
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def _fixtures(blueprint: Blueprint) -> dict[str, bytes]:
    return {
        f"fixtures/{side}/accepted/{name}.json": json.dumps(value, ensure_ascii=False).encode()
        + b"\n"
        for side, values in (("arguments", blueprint.calls), ("result", blueprint.answers))
        for name, value in values.items()
    }
