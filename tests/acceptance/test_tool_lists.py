"""``lint``, ``diff`` and ``import mcp`` read a tool list in the same forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from tests.acceptance.commands import Here

pytestmark = pytest.mark.requirement("LIF-1", "LIF-3", "LIF-6", "CLI")

CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}
TOOL: Final = {"name": "look_up", "description": "Looks up.", "inputSchema": CLOSED}
OPEN_TOOL: Final = {**TOOL, "inputSchema": {"type": "object"}}
FORMS: Final[dict[str, Any]] = {
    "array": lambda tools: tools,
    "result of tools/list": lambda tools: {"tools": tools, "nextCursor": "2"},
    "response": lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}},
}


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)


def write(name: str, value: Any) -> str:
    Path(name).write_text(json.dumps(value))
    return name


@pytest.mark.parametrize("form", FORMS)
def test_each_command_reads_each_form(sluicegate: Here, form: str) -> None:
    shape = FORMS[form]
    was, now = write("was.json", shape([OPEN_TOOL])), write("now.json", shape([TOOL]))

    linted = sluicegate("lint", was, "--format", "json-v1")
    findings = json.loads(linted.out)["findings"]
    found = {(each["rule"], each["tool"], each["pointer"]) for each in findings}
    place = {"array": "", "response": "/result/tools"}.get(form, "/tools")
    assert ("C01", "look_up", f"{place}/0/inputSchema") in found

    compared = sluicegate("diff", was, now, "--format", "json-v1")
    changes = json.loads(compared.out)["changes"]
    assert [(each["tool"], each["kind"]) for each in changes] == [("look_up", "object-closed")]

    imported = sluicegate("import", "mcp", now)
    assert imported.code == 0, imported.err
    assert Path("contracts/look_up/contract.yaml").is_file()


def test_two_forms_of_one_list_are_the_same_to_diff(sluicegate: Here) -> None:
    names = [write(f"{number}.json", shape([TOOL])) for number, shape in enumerate(FORMS.values())]
    for other in names[1:]:
        done = sluicegate("diff", names[0], other, "--format", "json-v1")
        assert (done.code, json.loads(done.out)["changes"]) == (0, [])
