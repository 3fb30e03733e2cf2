"""The question that is outstanding, as the result ladder needs it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NewType

from sluicegate.values.callers import Caller

RequestId = NewType("RequestId", str)

REQUEST_ID_PATTERN: Final = "^[A-Za-z0-9][A-Za-z0-9_.]{7,63}$"
"""SPEC ENV-1."""

TOOL_NAME_PATTERN: Final = "^[A-Za-z0-9_.-]{1,128}$"
"""MCP 2026-07-28, tool names (facts: mcp A1)."""


def is_request_id(text: str) -> bool:
    """Whether ``text`` has the form of a request id."""
    return re.fullmatch(REQUEST_ID_PATTERN[1:-1], text) is not None


def is_tool_name(text: str) -> bool:
    """Whether ``text`` is a tool name that MCP admits, and no name of a folder by itself."""
    return text not in (".", "..") and re.fullmatch(TOOL_NAME_PATTERN[1:-1], text) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One outstanding question: ``arguments`` are the validated object that runs."""

    tool: str
    request_id: RequestId
    arguments: object
    caller: Caller
