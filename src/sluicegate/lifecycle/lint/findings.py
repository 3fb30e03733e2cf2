"""Rules of lint, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.schemas.keywords import DIALECT
from sluicegate.lifecycle.lint.sheet import Sheet
from sluicegate.lifecycle.lint.subject import BARE, SideName, Subject, Surroundings
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue

Severity: TypeAlias = Literal["error", "warning", "info"]

RANK: Final[dict[Severity, int]] = {"error": 2, "warning": 1, "info": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class LintFinding:
    """One rule broken at one place; ``count`` is how often, where several places are told as one.

    ``pointer`` leads into the schema that was handed in, or into ``resource``. Names from the
    schema have passed ``show_name``. Source: SPEC LIF-1.
    """

    rule: str
    name: str
    severity: Severity
    pointer: str
    message: str
    hint: str
    count: int = 1
    resource: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """What the check of a rule yields; ``severity`` where it differs from the rule's own."""

    pointer: str
    message: str
    hint: str = ""
    severity: Severity | None = None


Check: TypeAlias = Callable[[Sheet], Iterator[Hit]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A schema that shows a rule. ``around`` and ``repeated`` are what it needs beside it."""

    schema: JsonValue
    side: SideName = "result"
    around: Surroundings = BARE
    repeated: tuple[str, ...] = ()

    @property
    def subject(self) -> Subject:
        """The example as lint is asked about it."""
        return Subject(
            schema=self.schema, side=self.side, around=self.around, repeated=self.repeated
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule. ``arguments`` and ``result`` are its severity on each side; None: it is off.

    ``what`` it flags, ``why``, how to ``mend`` it; ``good`` and ``bad`` show it, and a test holds
    them to it. ``code`` is the registration code of a contract that breaks the rule and does not
    load for it. ``any_form``: the check bears a schema that is none. ``check`` None: the finding
    is made elsewhere (about sets, suppressions, a baseline).
    """

    id: str
    name: str
    arguments: Severity | None
    result: Severity | None
    what: str
    why: str
    mend: str
    good: Example
    bad: Example
    code: Code | None = None
    any_form: bool = False
    check: Check | None = field(default=None, repr=False)

    def severity(self, side: SideName) -> Severity | None:
        """Return the severity on ``side``; None where the rule is off."""
        return self.arguments if side == "arguments" else self.result

    def finding(self, hit: Hit, severity: Severity) -> LintFinding:
        """Return the finding of one hit; ``severity`` is that of the side."""
        return LintFinding(
            rule=self.id,
            name=self.name,
            severity=hit.severity or severity,
            pointer=hit.pointer,
            message=hit.message,
            hint=hit.hint or self.mend,
        )


WORD: Final[JsonObject] = {"type": "string", "maxLength": 9}
"""A member of examples with which nothing is wrong but that it is text."""


def closed(members: JsonObject | None = None, /, **more: JsonValue) -> JsonObject:
    """Return the closed object of an example: every one of ``members`` is required."""
    return {"$schema": DIALECT, **inner(members, **more)}


def inner(members: JsonObject | None = None, /, **more: JsonValue) -> JsonObject:
    """Return the closed object as it stands inside of a schema: without ``$schema``."""
    members = members or {}
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
        **more,
    }


def shown(
    member: JsonValue, name: str = "a", side: SideName = "result", around: Surroundings = BARE
) -> Example:
    """Return a closed object whose one member has the schema ``member``."""
    return Example(schema=closed({name: member}), side=side, around=around)
