"""A tool list is found in each of its forms, and in nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.contracts.tool_lists import ToolList, find_tool_list

pytestmark = pytest.mark.requirement("LIF-1", "LIF-3", "LIF-6")

TOOL = {"name": "a", "inputSchema": {"type": "object"}}


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ([TOOL], ""),
        ({"tools": [TOOL]}, "/tools"),
        ({"tools": [TOOL], "nextCursor": "x"}, "/tools"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [TOOL]}}, "/result/tools"),
        ({"result": {"tools": [TOOL]}}, "/result/tools"),
    ],
    ids=["array", "result of tools/list", "one page", "response", "response without envelope"],
)
def test_each_form_leads_to_its_tools(value: Any, pointer: str) -> None:
    found = find_tool_list(value)
    assert found == ToolList(pointer=pointer, tools=[TOOL])
    assert list(found.places()) == [(f"{pointer}/0", TOOL)]


@pytest.mark.parametrize(
    "value",
    [
        {"type": "object"},
        {"tools": {"a": TOOL}},
        {"result": [TOOL]},
        {"result": {"content": []}},
        {"properties": {"tools": {"type": "array"}}},
        TOOL,
        "tools",
        None,
    ],
    ids=["schema", "tools by name", "bare result", "a call's", "a schema of one", "tool", "s", "-"],
)
def test_what_is_no_tool_list_is_none(value: Any) -> None:
    assert find_tool_list(value) is None
