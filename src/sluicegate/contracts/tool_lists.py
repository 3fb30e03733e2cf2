"""The tool list of an MCP server, in whichever form it was written down.

``lint``, ``diff`` and ``import`` read the same forms, so that a file that one takes is no riddle to
another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sluicegate.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    """``tools`` as they are written, whatever they are; ``pointer`` leads to the list."""

    pointer: str
    tools: Sequence[JsonValue]

    def places(self) -> Iterator[tuple[str, JsonValue]]:
        """Yield each tool with the pointer that leads to it."""
        for index, tool in enumerate(self.tools):
            yield f"{self.pointer}/{index}", tool


def find_tool_list(value: JsonValue) -> ToolList | None:
    """Return the tool list that a document holds; None where it holds none.

    A JSON array, ``{tools: […]}`` (what ``tools/list`` results in), or the whole JSON-RPC response
    around it. Source: MCP, server/tools; JSON-RPC 2.0, section 5.
    """
    at = ""
    if isinstance(value, Mapping) and isinstance(value.get("result"), Mapping):
        value, at = value["result"], "/result"
    if isinstance(value, Mapping):
        value, at = value.get("tools"), f"{at}/tools"
    return ToolList(pointer=at, tools=value) if isinstance(value, list | tuple) else None
