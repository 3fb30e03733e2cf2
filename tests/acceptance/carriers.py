"""A contract folder with one tool for each carrier that an answer can stand in."""

from __future__ import annotations

import json
from pathlib import Path

_HEAD = """\
sluicegate: 1
tool: TOOL
version: 1.0.0
owner: ci-platform
description: State of one thing.
effect: read
arguments:
  schema:
    type: object
    properties: {id: {type: string, pattern: "^[a-z]{3,9}$"}}
    required: [id]
    additionalProperties: false
"""
_RESULT = """\
result:
  schema:
    type: object
    properties:
      id: {type: string, pattern: "^[a-z]{3,9}$"}
      note: {type: string, maxLength: 40}
      count: {type: integer, minimum: 0, maximum: 9}
    required: [id, note, count]
    additionalProperties: false
  bind: {/id: /id}
  agent: [/id, /count]
  operator: [/note]
"""
_EXTRACTED = """\
result:
  schema:
    type: object
    properties: {id: {type: string, pattern: "^[a-z]{3,9}$"}, state: {enum: [ok, bad]}}
    required: [id, state]
    additionalProperties: false
  bind: {/id: /id}
  agent: [/id, /state]
"""
_COMMAND = "fetch:\n  command: {argv: [/bin/true], timeout_s: 5}\n"
_HOST = "fetch:\n  host: {}\n"
_DATA = {"id": "abc", "note": "all is well", "count": 3}
_EXPRESSION = "id=(?P<id>[a-z]{3,9}) state=(?P<state>ok|bad)"


def write_carriers(root: Path) -> None:
    """Write the folder: bare, envelope, MCP structured, MCP text, extracted text."""
    (root).mkdir()
    (root / "sluicegate.yaml").write_text("sluicegate: 1\n")
    enveloped = {
        "tool": "enveloped",
        "request_id": "req.fixture0",
        "outcome": "success",
        "data": _DATA,
    }
    block = {"type": "text", "text": "ok"}
    inner = {"type": "text", "text": json.dumps(_DATA)}
    _write(root, "bare_command", _COMMAND + _RESULT, json.dumps(_DATA))
    _write(
        root,
        "enveloped",
        _COMMAND + "upstream: {envelope: true}\n" + _RESULT,
        json.dumps(enveloped),
    )
    _write(
        root,
        "mcp_structured",
        _HOST + "upstream: {mcp: true}\n" + _RESULT,
        json.dumps({"content": [block], "structuredContent": _DATA}),
    )
    _write(
        root,
        "mcp_text",
        _HOST + "upstream: {mcp: true, text: json}\n" + _RESULT,
        json.dumps({"content": [inner]}),
    )
    _write(
        root,
        "extracted",
        f'{_COMMAND}upstream: {{text: {{extract: "{_EXPRESSION}"}}}}\n{_EXTRACTED}',
        "id=abc state=ok",
        suffix="bin",
    )


def _write(root: Path, tool: str, rest: str, answer: str, suffix: str = "json") -> None:
    fixtures = root / tool / "fixtures"
    for side in ("arguments", "result"):
        (fixtures / side / "accepted").mkdir(parents=True)
    (root / tool / "contract.yaml").write_text(_HEAD.replace("TOOL", tool) + rest)
    (fixtures / "arguments/accepted/one.json").write_text('{"id": "abc"}')
    (fixtures / f"result/accepted/one.{suffix}").write_text(answer)
