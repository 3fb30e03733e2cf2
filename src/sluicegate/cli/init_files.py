"""The files that ``init`` writes: small, complete, and meant to be changed."""

from __future__ import annotations

import shlex
from importlib.resources import files
from typing import Final

from sluicegate.contracts.file_names import CONTRACT_NAMES, SETTINGS_NAME

_CI_LINES: Final = """\
# GitHub Actions, one step. sluicegate is not on the package index: path/to/sluicegate is a checkout
# of its repository at a commit you chose, or a wheel built from one.
- name: contracts
  run: pip install path/to/sluicegate && sluicegate check FOLDER --format github
"""

_EDITOR: Final = ".editor"

_SETTINGS: Final = """\
# yaml-language-server: $schema=.editor/sluicegate.schema.json
# Settings of this folder. What no access rule allows is denied.
sluicegate: 1
limits: {max_call_bytes: 65536, max_bytes: 262144, max_depth: 32, in_flight: 64}
audit: {store: "sqlite:state/audit.db", keys: "file:keys/"}
# To judge accepted answers again with `sluicegate replay`, keep their bytes, encrypted:
# retention: {accepted: {days: 7}}
access:
ROW
"""

_ROW: Final = (
    "  - {caller: my-agent, action: call, tool: NAME, resource: {type: item, in: [item-0001]}}"
)

_IGNORED: Final = """\
# The record and its keys belong to the machine that runs the gate, not to the repository.
state/
keys/
"""

_CONTRACT: Final = """\
# yaml-language-server: $schema=../.editor/contract.schema.json
sluicegate: 1
tool: NAME
version: 0.1.0
owner: my-team
description: State of one item. Say here what the tool tells, as you would tell a colleague.
effect: read
arguments:
  schema:
    type: object
    properties:
      item_id:
        type: string
        description: Which item; it begins with item-.
        pattern: "^item-[0-9]{4,12}$"
    required: [item_id]
    additionalProperties: false
  resource: [{type: item, id: /item_id}]
fetch:
  http:
    method: GET
    url: "https://api.example/items/{/item_id}"
    timeout_s: 5
limits: {max_bytes: 65536, max_depth: 16}
upstream:
  status: {404: NOT_FOUND, 5xx: UPSTREAM_UNAVAILABLE}
result:
  schema:
    type: object
    properties:
      item_id: {type: string, pattern: "^item-[0-9]{4,12}$"}
      state: {enum: [open, closed]}
      observed_at: {type: string, format: date-time, maxLength: 35}
    required: [item_id, state, observed_at]
    additionalProperties: false
  bind: {/item_id: /item_id}
  fresh: {at: /observed_at, max_age_s: 60, max_ahead_s: 5}
  agent: [/item_id, /state, /observed_at]
errors: {NOT_FOUND: {retryable: false}, UPSTREAM_UNAVAILABLE: {retryable: true}}
retry: {attempts: 2, budget_s: 12, on: [UPSTREAM_UNAVAILABLE]}
"""

_NOW: Final = "now: 2026-01-01T12:00:30Z\n"
_ANSWER: Final = """\
{"item_id": "item-0001", "state": "open", "observed_at": "2026-01-01T12:00:00Z"}
"""


def ci_lines(folder: str) -> str:
    """Return the step that checks ``folder`` in CI."""
    return _CI_LINES.replace("FOLDER", shlex.quote(folder))


def access_row(name: str) -> str:
    """Return the row that allows one caller one item of a new contract, as settings hold it."""
    return _ROW.replace("NAME", name)


def settings_files(name: str | None) -> dict[str, str]:
    """Return the files of the folder itself, by path; the editor schemas lie beside them.

    ``name`` is the contract that the first access row is about; None: there is no row yet.
    """
    editor = files("sluicegate.contracts").joinpath("editor")
    schemas = {
        f"{_EDITOR}/{schema}": editor.joinpath(schema).read_text(encoding="utf-8")
        for schema in ("contract.schema.json", "sluicegate.schema.json")
    }
    return {
        SETTINGS_NAME: _SETTINGS.replace("\nROW", " []")
        if name is None
        else _SETTINGS.replace("ROW", access_row(name)),
        ".gitignore": _IGNORED,
        **schemas,
    }


def contract_files(name: str) -> dict[str, str]:
    """Return the files of one contract, by path below its own folder."""
    refused = "fixtures/result/rejected/"
    return {
        CONTRACT_NAMES[0]: _CONTRACT.replace("NAME", name),
        "fixtures/arguments/accepted/one-item.json": '{"item_id": "item-0001"}\n',
        "fixtures/arguments/rejected/misnamed.json": '{"itemId": "item-0001"}\n',
        "fixtures/arguments/rejected/misnamed.expect.yaml": "stage: conform\ncode: MISNAMED\n",
        "fixtures/result/accepted/open.json": _ANSWER,
        "fixtures/result/accepted/open.expect.yaml": _NOW,
        f"{refused}another-item.json": _ANSWER.replace("0001", "0002"),
        f"{refused}another-item.expect.yaml": _NOW
        + "stage: vouch\ncode: WRONG_SUBJECT\npointer: /item_id\n",
        f"{refused}repeated-member.bin": _ANSWER.replace(
            '"state": "open"', '"state": "closed", "state": "open"'
        ),
        f"{refused}repeated-member.expect.yaml": _NOW + "stage: parse\ncode: DUPLICATE_MEMBER\n",
        f"{refused}stale.json": _ANSWER,
        f"{refused}stale.expect.yaml": "now: 2026-01-01T13:00:00Z\nstage: vouch\ncode: STALE\n",
    }
