"""What an MCP server says of a tool becomes what the contract says, and no more than that."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.importing.blueprint import Blueprint
from sluicegate.lifecycle.importing.drafts import Draft, draft
from sluicegate.lifecycle.importing.mcp import read_tool_list

pytestmark = pytest.mark.requirement("LIF-6", "EVI-3")

ABSENT = object()
DESTROYS = "effect: the server says that the tool destroys"
OPEN = "effect: the server does not deny that the tool destroys"
BOTH = "effect: the server says that the tool only reads and that it destroys"
TABLE = [
    (True, True, "read", BOTH, True),
    (True, False, "read", "", True),
    (True, ABSENT, "read", "", True),
    (False, True, "destructive", DESTROYS, False),
    (False, False, "write", "", True),
    (False, ABSENT, "write", OPEN, True),
    (ABSENT, True, "destructive", DESTROYS, False),
    (ABSENT, False, "write", "", True),
    (ABSENT, ABSENT, "write", OPEN, True),
    ("true", None, "write", OPEN, True),
]


def read(tool: dict[str, Any]) -> Blueprint:
    (found,) = read_tool_list([{"name": "tool", "inputSchema": {"type": "object"}, **tool}])
    assert isinstance(found, Blueprint)
    return found


@pytest.mark.parametrize(
    ("reads", "destroys", "effect", "asked", "loads"),
    TABLE,
    ids=lambda each: "absent" if each is ABSENT else str(each),
)
def test_the_hints_say_the_effect_and_what_destroys_never_loads_undecided(
    reads: object, destroys: object, effect: str, asked: str, loads: bool
) -> None:
    hints = {"readOnlyHint": reads, "destructiveHint": destroys}
    found = read(
        {"annotations": {name: each for name, each in hints.items() if each is not ABSENT}}
    )
    questions = [each.question for each in found.decisions if each.at == "effect"]
    assert (found.effect, len(questions)) == (effect, 1 if asked else 0)
    assert asked == "" or questions[0].startswith(asked)
    made = draft(found, accept_defaults=True)
    assert isinstance(made, Draft)
    text = made.files["contract.yaml"].decode()
    assert (made.loads, "\ndraft:\n" in text) == (loads, not loads)
    assert ("  - " + '"effect' in text) == (not loads)


@pytest.mark.parametrize(
    ("tool", "said", "unsaid"),
    [
        ({"inputSchema": None}, "declares no inputSchema, so it takes no argument", "closed"),
        ({}, "arguments.schema: closed by the import, though published open", "no inputSchema"),
    ],
    ids=["none", "an open one"],
)
def test_a_tool_without_a_schema_of_its_arguments_is_told_to_have_none(
    tool: dict[str, Any], said: str, unsaid: str
) -> None:
    made = draft(read(tool))
    assert isinstance(made, Draft)
    questions = "\n".join(each.question for each in made.decisions if each.at == "arguments")
    assert said in questions
    assert unsaid not in questions
