"""What an import knows of one tool, before a draft is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue

Effect: TypeAlias = Literal["read", "write", "destructive"]

NO_ARGUMENTS: Final[JsonObject] = {
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What only a person can decide: the key of contract.yaml that it is about, and a sentence.

    ``blocks``: no default can stand for the answer, so the draft does not load before it is given,
    whatever defaults are accepted. ``topic`` is the question without what it says of one tool
    alone, so that the same one of many tools can be told once; empty: the question itself.
    """

    at: str
    question: str
    blocks: bool = False
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """One tool as its source tells of it; schemas are draft 2020-12 and may be open.

    ``result`` None: the tool answers with text that no schema describes. ``effect`` None: the
    source does not say. ``errors`` maps codes of the contract to whether they may be tried again.
    ``answers`` and ``calls`` are accepted examples, by the name of their
    fixture. ``decisions`` are those that the source itself raises. ``pointer`` is where the tool
    stands in a source that lists several; None where the source is about this one alone.
    """

    tool: str
    arguments: JsonObject = field(default_factory=lambda: NO_ARGUMENTS)
    result: JsonObject | None
    description: str = ""
    title: str = ""
    effect: Effect | None = None
    fetch: JsonObject | None = None
    upstream: JsonObject | None = None
    errors: Mapping[str, bool] = field(default_factory=dict)
    answers: Mapping[str, JsonValue] = field(default_factory=dict)
    calls: Mapping[str, JsonValue] = field(default_factory=dict)
    decisions: tuple[Decision, ...] = ()
    pointer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A tool of a list of which no draft is made: where, why, and how to mend it."""

    pointer: str
    code: Code
    message: str
    mend: str


class SourceError(ValueError):
    """The source holds no tool that can be imported; its text is a sentence for a person.

    ``pointer`` is where in the source it stands; None: the source as a whole.
    """

    def __init__(self, text: str, pointer: str | None = None) -> None:
        self.pointer = pointer
        super().__init__(text)
