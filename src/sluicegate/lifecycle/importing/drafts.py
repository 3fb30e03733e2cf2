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

from sluicegate.contracts.loading import load
from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.contracts.schemas.keywords import DIALECT
from sluicegate.lifecycle.importing.blueprint import Blueprint, Decision
from sluicegate.lifecycle.importing.bounding import bound
from sluicegate.lifecycle.importing.choosing import choose_agent_fields
from sluicegate.lifecycle.importing.closing import settle
from sluicegate.lifecycle.importing.questions import (
    decide_errors,
    decide_fixtures,
    decide_head,
    decide_holes,
    decide_result,
    decide_schema,
    surround,
)
from sluicegate.lifecycle.importing.trimming import keep_reached
from sluicegate.lifecycle.importing.writing import write_contract
from sluicegate.lifecycle.lint.subject import SideName, Subject, Surroundings
from sluicegate.values.json import JsonObject, JsonValue

_MAX_FAULTS: Final = 5
_MAX_DESCRIPTION: Final = 20_000
_UNDECIDED: Final = "undecided"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One contract folder to be: ``files`` by path below it, and what is left to decide.

    ``accepted``: the declared defaults are taken; what blocks is to be decided all the same.
    """

    tool: str
    files: Mapping[str, bytes]
    decisions: tuple[Decision, ...]
    accepted: bool

    @property
    def open(self) -> tuple[Decision, ...]:
        """What is still to decide: all of it, or what no accepted default can stand for."""
        return tuple(each for each in self.decisions if each.blocks or not self.accepted)

    @property
    def loads(self) -> bool:
        """Whether nothing is left to decide, so that the contract loads."""
        return not self.open


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """A schema that cannot be drafted: what registration still says of it."""

    tool: str
    side: SideName
    faults: tuple[SchemaFault, ...]


def draft(
    blueprint: Blueprint, *, owner: str | None = None, accept_defaults: bool = False
) -> Draft | Unfit:
    """Return the draft of one tool, or what stands against one of its schemas.

    ``owner`` None: it is asked about. ``accept_defaults``: the declared defaults are taken as
    decided, so the contract loads unless something blocks; what was decided that way is told all
    the same.
    """
    arguments, bounded = bound(keep_reached(blueprint.arguments))
    settled = settle(arguments, "arguments")
    if isinstance(settled, tuple):
        return Unfit(tool=blueprint.tool, side="arguments", faults=settled)
    decisions = [*decide_head(blueprint, owner), *blueprint.decisions]
    decisions += decide_schema("arguments", settled, bounded)
    around = Surroundings(of_contract=True, has_dialect=True, has_accepted=bool(blueprint.calls))
    subject = Subject(schema=settled.schema, side="arguments", around=around)
    decisions += (*decide_errors(subject), *decide_holes(subject))
    files = {"schemas/arguments.json": _encode(settled.schema)}
    members: dict[str, JsonValue] = {
        "sluicegate": 1,
        "tool": blueprint.tool,
        "version": "0.1.0",
        "owner": owner or _UNDECIDED,
        **({"title": blueprint.title} if blueprint.title else {}),
        "description": _describe(blueprint),
        "effect": blueprint.effect or "write",
        "arguments": {"schema": {"file": "schemas/arguments.json"}},
        "fetch": blueprint.fetch or {"host": {}},
        **({"upstream": blueprint.upstream} if blueprint.upstream else {}),
    }
    if blueprint.result is not None:
        result, bounded = bound(keep_reached(blueprint.result))
        settled = settle(result, "result")
        if isinstance(settled, tuple):
            return Unfit(tool=blueprint.tool, side="result", faults=settled)
        files["schemas/result.json"] = _encode(settled.schema)
        members["result"] = {
            "schema": {"file": "schemas/result.json"},
            **choose_agent_fields(settled.schema),
        }
        decisions += decide_schema("result", settled, bounded)
        decisions += decide_result(settled.schema)
        around = surround(members["result"], has_accepted=bool(blueprint.answers))
        subject = Subject(schema=settled.schema, side="result", around=around)
        decisions += (*decide_errors(subject), *decide_holes(subject))
    if blueprint.errors:
        members["errors"] = {
            code: {"retryable": retryable} for code, retryable in blueprint.errors.items()
        }
    files.update(_fixtures(blueprint))
    decisions += decide_fixtures(blueprint)
    files["contract.yaml"] = write_contract(members, decisions, accepted=accept_defaults)
    if accept_defaults and not any(each.blocks for each in decisions):
        faults = [*_try(blueprint.tool, files)]
        decisions += faults
        if faults:
            files["contract.yaml"] = write_contract(members, decisions, accepted=True)
    return Draft(
        tool=blueprint.tool,
        files=files,
        decisions=tuple(decisions),
        accepted=accept_defaults,
    )


def _try(tool: str, files: Mapping[str, bytes]) -> Iterator[Decision]:
    """Yield what keeps a draft from loading although nothing is left to decide."""
    found = load({f"{tool}/{name}": content for name, content in files.items()}, resolve=None)
    for problem in found[:_MAX_FAULTS] if isinstance(found, tuple) else ():
        place = problem.pointer.split("/")[1] if problem.pointer else "contract"
        yield Decision(at=place, question=f"{problem.message} {problem.mend}", blocks=True)


def _describe(blueprint: Blueprint) -> str:
    text = blueprint.description.strip()[:_MAX_DESCRIPTION]
    return text or f"The tool {blueprint.tool}."


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
