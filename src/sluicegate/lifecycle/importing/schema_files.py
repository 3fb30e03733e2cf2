"""A schema on its own, of a file or of a Pydantic model → the blueprint of one tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sluicegate.lifecycle.importing.blueprint import NO_ARGUMENTS, Blueprint, Decision
from sluicegate.values.json import JsonObject, JsonValue

_NO_CALL = Decision(
    at="arguments", question="arguments.schema: the source says nothing of the call side"
)
_NO_RESULT = Decision(
    at="upstream",
    question="result: the source says nothing of the answer, so its text is untrusted text",
)


def blueprint_of_schema(
    tool: str,
    schema: JsonObject,
    side: Literal["arguments", "result"],
    examples: Mapping[str, JsonValue],
) -> Blueprint:
    """Return the blueprint of a tool of which one side is known; ``schema`` is draft 2020-12.

    ``examples`` become accepted fixtures of that side.
    """
    description = schema.get("description")
    told = description if isinstance(description, str) else ""
    if side == "result":
        return Blueprint(
            tool=tool,
            description=told,
            arguments=NO_ARGUMENTS,
            result=schema,
            answers=examples,
            decisions=(_NO_CALL,),
        )
    return Blueprint(
        tool=tool,
        description=told,
        arguments=schema,
        result=None,
        upstream={"text": "plain"},
        calls=examples,
        decisions=(_NO_RESULT,),
    )
