"""A tool list of an MCP server → blueprints (MCP, server/tools: ``tools/list``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from sluicegate.contracts.schemas.faults import SchemaFault
from sluicegate.lifecycle.importing.blueprint import Blueprint, Decision, SourceError
from sluicegate.lifecycle.importing.gathering import gather
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.names import show_name
from sluicegate.values.requests import is_tool_name

_SELF: Final = "tool.json"
_DESTRUCTIVE: Final = Decision(
    at="effect",
    question="effect: the server does not deny that the tool destroys; if it does, write"
    " `destructive` and its `evidence`",
)
_TEXT: Final = Decision(
    at="upstream",
    question="upstream.text: the tool declares no outputSchema, so its text reaches the agent as"
    " untrusted text; write `text: json` or `{extract: REGEX}` and a `result` where it has a form",
)
_STRUCTURED: Final = Decision(
    at="upstream", question="upstream.tool_failed: the code that the agent sees where a tool fails"
)


def read_tool_list(value: JsonValue, *, only: str | None = None) -> tuple[Blueprint, ...]:
    """Return one blueprint a tool of a list, of ``{tools: […]}``, or of a whole response.

    ``only`` names the one tool that is wanted. Raises: SourceError; DialectError.
    """
    tools = _tools(value)
    named = {name: tool for tool in tools if isinstance(name := tool.get("name"), str)}
    if only is not None:
        if only not in named:
            raise SourceError(f"the list holds no tool {show_name(only)}.")
        return (_blueprint(only, named[only]),)
    if len(named) != len(tools):
        raise SourceError("a tool of the list has no name of its own.")
    if not named:
        raise SourceError("the list holds no tool.")
    return tuple(_blueprint(name, tool) for name, tool in named.items())


def _tools(value: JsonValue) -> list[JsonObject]:
    if isinstance(value, Mapping):
        inner = value.get("result", value)
        value = inner.get("tools") if isinstance(inner, Mapping) else None
    if not isinstance(value, list) or not all(isinstance(tool, Mapping) for tool in value):
        raise SourceError("a tool list is a list of tools, or an object with `tools`.")
    return [tool for tool in value if isinstance(tool, Mapping)]


def _blueprint(name: str, tool: JsonObject) -> Blueprint:
    if not is_tool_name(name):
        raise SourceError(f"{show_name(name)} is no name for a tool of a contract.")
    notes = tool.get("annotations")
    annotations: JsonObject = notes if isinstance(notes, Mapping) else {}
    result = tool.get("outputSchema")
    is_read = annotations.get("readOnlyHint") is True
    return Blueprint(
        tool=name,
        title=_text(tool.get("title")) or _text(annotations.get("title")),
        description=_text(tool.get("description")),
        effect="read" if is_read else "write",
        arguments=_schema(name, tool.get("inputSchema") or {"type": "object"}),
        result=None if result is None else _schema(name, result),
        upstream={"mcp": True} if result is not None else {"mcp": True, "text": "plain"},
        decisions=tuple(_decide(annotations, is_read=is_read, has_result=result is not None)),
    )


def _decide(annotations: JsonObject, *, is_read: bool, has_result: bool) -> Iterator[Decision]:
    if not is_read and annotations.get("destructiveHint") is not False:
        yield _DESTRUCTIVE
    yield _STRUCTURED if has_result else _TEXT


def _schema(name: str, schema: JsonValue) -> JsonObject:
    gathered = gather(_SELF, {_SELF: schema})
    if isinstance(gathered, tuple):
        raise SourceError(f"{show_name(name)}: {_say(gathered[0])}")
    return gathered


def _say(fault: SchemaFault) -> str:
    return f"at {fault.pointer or 'the root'} {fault.message}"


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""
