"""Six releases of a real MCP server, compared one by one: no crash, and the right names."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from sluicegate.lifecycle.diff.judging import TEXT_KINDS
from sluicegate.opening.comparing import Compared, compare_files

SUITES: Final = os.environ.get("SLUICEGATE_SUITES")

pytestmark = [
    pytest.mark.requirement("LIF-3"),
    pytest.mark.skipif(SUITES is None, reason="SLUICEGATE_SUITES names no folder of suites"),
]

FOLDER: Final = Path(SUITES or "") / "github-mcp-tools"
RELEASES: Final = ("v0.30.3", "v0.31.0", "v0.32.0", "v0.33.0", "v0.33.1", "v1.0.0")
PAIRS: Final = tuple(pairwise(RELEASES))
EDITED: Final = 1
"""Tools of which nothing but a description changed between two of the releases."""
NOW: Final = datetime(2026, 11, 30, tzinfo=UTC)


def path_of(release: str) -> Path:
    return FOLDER / f"{release}.json"


@cache
def compared(old: str, new: str) -> Compared:
    return compare_files(str(path_of(old)), str(path_of(new)), "arguments", now=NOW)


@cache
def tools_of(release: str) -> dict[str, Any]:
    return {tool["name"]: tool for tool in json.loads(path_of(release).read_bytes())["tools"]}


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_a_release_is_compared_with_the_next_tool_by_tool(old: str, new: str) -> None:
    found = compared(old, new)
    assert found.problems == ()
    kinds: dict[str, set[str]] = {}
    for tool in found.diff.tools:
        kinds[tool.tool] = {change.kind for change in tool.changes}
    before, after = tools_of(old), tools_of(new)
    assert kinds.keys() == before.keys() | after.keys()
    for name, named in kinds.items():
        if name not in after:
            assert named == {"tool-removed"}
        elif name not in before:
            assert named == {"tool-added"}
        else:
            assert bool(named) == (before[name] != after[name]), name


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_every_change_stands_at_a_line_of_its_file(old: str, new: str) -> None:
    found = compared(old, new)
    lines = {
        str(path_of(one)): path_of(one).read_text("utf-8").count("\n") + 1 for one in (old, new)
    }
    for tool in found.diff.tools:
        for change in tool.changes:
            file, line, _ = found.place(change)
            assert line is None or 1 < line <= lines[file] or change.kind.startswith("tool-")


def strip_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: strip_texts(one) for key, one in value.items() if key != "description"}
    return [strip_texts(one) for one in value] if isinstance(value, list) else value


def test_an_edit_of_descriptions_alone_is_a_text_change() -> None:
    edited = 0
    for old, new in PAIRS:
        before, after = tools_of(old), tools_of(new)
        for tool in compared(old, new).diff.tools:
            was, is_ = before.get(tool.tool), after.get(tool.tool)
            if was is None or is_ is None or was == is_ or strip_texts(was) != strip_texts(is_):
                continue
            edited += 1
            assert {one.kind for one in tool.changes} <= {*TEXT_KINDS, "tool-text-changed"}
            assert tool.outcome == "compatible"
    assert edited == EDITED


def test_every_description_of_a_release_edited_is_text_and_nothing_else(tmp_path: Path) -> None:
    written = json.loads(path_of("v1.0.0").read_bytes())
    for tool in written["tools"]:
        tool["description"] = f"{tool.get('description', '')} Edited."
        for member in tool["inputSchema"].get("properties", {}).values():
            member["description"] = "Edited."
    new = tmp_path / "new.json"
    new.write_text(json.dumps(written))
    found = compare_files(str(path_of("v1.0.0")), str(new), "arguments", now=NOW)
    kinds = {change.kind for tool in found.diff.tools for change in tool.changes}
    assert kinds == {"schema-text-changed", "tool-text-changed"}
    assert found.diff.outcome == "compatible"
    assert found.diff.bump == "minor"


def test_an_optional_argument_of_an_open_object_is_shown_to_break() -> None:
    found = compared("v0.32.0", "v0.33.0").diff
    (commits,) = [tool for tool in found.tools if tool.tool == "list_commits"]
    assert {change.kind for change in commits.changes} == {"property-added-to-open"}
    (shown,) = commits.counterexamples
    schema = tools_of("v0.33.0")["list_commits"]["inputSchema"]
    assert shown.admitted_by == "old"
    assert set(shown.value) - set(schema["required"]) <= {"path", "since", "until"}  # type: ignore[arg-type]
