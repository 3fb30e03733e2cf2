"""What kind of document a source is: one that the wrong import gets is told the right one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.schemas.keywords import FOREIGN_KEYWORDS, KEYWORDS
from sluicegate.contracts.tool_lists import find_tool_list
from sluicegate.lifecycle.importing.blueprint import SourceError
from sluicegate.values.json import JsonValue

Kind: TypeAlias = Literal["mcp", "openapi", "schema"]

_CALLED: Final[Mapping[Kind, str]] = {
    "mcp": "an MCP tool list",
    "openapi": "an OpenAPI document",
    "schema": "a JSON Schema",
}
_OPENAPI: Final = frozenset({"openapi", "swagger"})
_SAYS_NOTHING: Final = frozenset(
    {
        *("title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"),
        *("$comment", "id", "example"),
    }
)
_WORDS: Final = (KEYWORDS | FOREIGN_KEYWORDS.keys()) - _SAYS_NOTHING
"""Keywords that show a schema: any document may have a title."""


def demand_kind(value: JsonValue, wanted: Kind) -> None:
    """Refuse a document that is plainly of another kind, or no schema where one is wanted.

    Raises: SourceError, which names the import for it.
    """
    found = recognise(value)
    if found is not None and found != wanted:
        raise SourceError(f"it is {_CALLED[found]}: use `sluicegate import {found}`.")
    if wanted == "schema" and found is None and isinstance(value, Mapping) and value:
        raise SourceError("it is no JSON Schema: none of its members says what a value may be.")


def recognise(value: JsonValue) -> Kind | None:
    """Return what ``value`` plainly is; None where that does not show."""
    if isinstance(value, list):
        is_list = any(isinstance(each, Mapping) and "inputSchema" in each for each in value)
        return "mcp" if is_list else None
    if not isinstance(value, Mapping):
        return None
    if value.keys() & _OPENAPI and value.keys() & {"info", "paths", "components"}:
        return "openapi"
    if "name" in value and "inputSchema" in value:
        return "mcp"
    if find_tool_list(value) is not None:
        return "mcp"
    return "schema" if value.keys() & _WORDS else None
