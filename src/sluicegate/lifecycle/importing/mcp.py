"""A tool list of an MCP server → blueprints (MCP, server/tools: ``tools/list``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from sluicegate.contracts.tool_lists import find_tool_list
from sluicegate.lifecycle.importing.blueprint import (
    NO_ARGUMENTS,
    Blueprint,
    Decision,
    Effect,
    LeftOut,
    SourceError,
)
from sluicegate.lifecycle.importing.dialects import DialectError
from sluicegate.lifecycle.importing.gathering import gather
from sluicegate.lifecycle.importing.recognising import demand_kind
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.requests import is_tool_name

MAX_NAME: Final = 128
TAKEN: Final = frozenset({"fixtures", "released", "state", "keys", "unknown", "__pycache__"})
"""What else lies in a contract folder, and the name that stands for no tool."""

_FOLDER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_NAMING: Final = "Rename it at its server: at most 128 letters, digits and the characters _ . -"
_SELF: Final = "tool.json"
_DESTRUCTIVE: Final = Decision(
    at="effect",
    question="effect: the server says that the tool destroys; write its `evidence`, or another"
    " effect",
    blocks=True,
)
_NOT_DENIED: Final = Decision(
    at="effect",
    question="effect: the server does not deny that the tool destroys; if it does, write"
    " `destructive` and its `evidence`",
)
_BOTH: Final = Decision(
    at="effect",
    question="effect: the server says that the tool only reads and that it destroys; MCP lets the"
    " former count",
)
_NO_INPUT: Final = Decision(
    at="arguments",
    question="arguments.schema: the tool declares no inputSchema, so it takes no argument",
)
_TEXT: Final = Decision(
    at="upstream",
    question="upstream.text: the tool declares no outputSchema, so its text reaches the agent as"
    " untrusted text; write `text: json` or `{extract: REGEX}` and a `result` where it has a form",
)
_STRUCTURED: Final = Decision(
    at="upstream", question="upstream.tool_failed: the code that the agent sees where a tool fails"
)


def read_tool_list(value: JsonValue, *, only: str | None = None) -> tuple[Blueprint | LeftOut, ...]:
    """Return what came of each tool of a list, of ``{tools: […]}``, or of a whole response.

    ``only`` names the one tool that is wanted. Raises: SourceError where there is no list, or
    nothing in it.
    """
    demand_kind(value, "mcp")
    listed = find_tool_list(value)
    if listed is None:
        raise SourceError("a tool list is a list of tools, or an object with `tools`.")
    names = Counter(name for tool in listed.tools if isinstance(name := _name(tool), str))
    if not listed.tools:
        raise SourceError("the list holds no tool.")
    if only is not None and only not in names:
        near = get_close_matches(only, names, n=1)
        hint = f" Did you mean {show_name(near[0])}?" if near else ""
        raise SourceError(f"the list holds no tool {show_name(only)}.{hint}")
    return tuple(
        _read_tool(place, tool, names)
        for place, tool in listed.places()
        if only in (None, _name(tool))
    )


def _name(tool: JsonValue) -> JsonValue:
    return tool.get("name") if isinstance(tool, Mapping) else None


def _read_tool(at: str, tool: JsonValue, names: Mapping[str, int]) -> Blueprint | LeftOut:
    name = _name(tool)
    if not isinstance(tool, Mapping) or not isinstance(name, str):
        return _leave_out(at, "it is no tool with a name.", "Give it a `name`.")
    if not is_tool_name(name):
        code = Code.TOOL_NAME_LENGTH if len(name) > MAX_NAME or not name else Code.TOOL_NAME_PATTERN
        return _leave_out(
            f"{at}/name", f"`{show_name(name)}` is no name for a tool of a contract.", _NAMING, code
        )
    if _FOLDER.fullmatch(name) is None or name in TAKEN:
        return _leave_out(
            f"{at}/name",
            f"`{show_name(name)}` cannot be the folder of a contract.",
            "Write the contract by hand, in a folder of another name.",
        )
    if names[name] > 1:
        return _leave_out(
            f"{at}/name",
            f"`{show_name(name)}` names {names[name]} tools of the list.",
            "Leave one of them in it.",
        )
    schemas: dict[str, JsonObject | None] = {}
    for member in ("inputSchema", "outputSchema"):
        gathered = _gather(f"{at}/{member}", tool.get(member))
        if isinstance(gathered, LeftOut):
            return gathered
        schemas[member] = gathered
    return _blueprint(at, name, tool, schemas)


def _leave_out(at: str, message: str, mend: str, code: Code = Code.CONTRACT_INVALID) -> LeftOut:
    return LeftOut(pointer=at, code=code, message=message, mend=mend)


def _gather(at: str, schema: JsonValue) -> JsonObject | LeftOut | None:
    if schema is None:
        return None
    try:
        gathered = gather(_SELF, {_SELF: schema})
    except DialectError as error:
        return _leave_out(at, str(error), "", Code.SCHEMA_DIALECT)
    if isinstance(gathered, tuple):
        fault = gathered[0]
        return _leave_out(f"{at}{fault.pointer}", fault.message, fault.mend, fault.code)
    return gathered


def _blueprint(
    at: str, name: str, tool: JsonObject, schemas: Mapping[str, JsonObject | None]
) -> Blueprint:
    notes = tool.get("annotations")
    annotations: JsonObject = notes if isinstance(notes, Mapping) else {}
    result = schemas["outputSchema"]
    effect, asked = _effect(annotations)
    return Blueprint(
        tool=name,
        title=_text(tool.get("title")) or _text(annotations.get("title")),
        description=_text(tool.get("description")),
        effect=effect,
        arguments=schemas["inputSchema"] or NO_ARGUMENTS,
        result=result,
        upstream={"mcp": True} if result is not None else {"mcp": True, "text": "plain"},
        decisions=(
            *asked,
            *(() if schemas["inputSchema"] is not None else (_NO_INPUT,)),
            _STRUCTURED if result is not None else _TEXT,
        ),
        pointer=at,
    )


def _effect(annotations: JsonObject) -> tuple[Effect, tuple[Decision, ...]]:
    """Return what the annotations make of the effect, and what is open of it.

    ``destructiveHint`` speaks of tools alone that do not only read, and its default is true: a
    tool of which nothing is said is asked about, one that is said to destroy is drafted so.
    Source: MCP 2025-11-25, schema, ToolAnnotations.
    """
    is_read = annotations.get("readOnlyHint") is True
    destroys = annotations.get("destructiveHint")
    if destroys is True:
        return ("read", (_BOTH,)) if is_read else ("destructive", (_DESTRUCTIVE,))
    if is_read:
        return "read", ()
    return "write", () if destroys is False else (_NOT_DENIED,)


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
