"""A contract folder with two tools whose upstream is a command on this machine."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sluicegate.lifecycle.releasing import hex_digest, spell_digests

_SETTINGS = """\
audit: {store: "sqlite:state/audit.db", keys: "file:keys/"}
access:
  - {caller: svc, action: call, tool: "*", resource: {type: run, in: [run_1]}}
"""

_SCRIPT = """\
import json, sys, time
run, state = sys.argv[1], sys.argv[2]
if state == "hang":
    time.sleep(30)
if state == "other":
    run = "run_2"
print(json.dumps({"run_id": run, "state": state, "note": "SECRET-OF-UPSTREAM"}))
"""

_CONTRACT = """\
sluicegate: 1
tool: TOOL
version: VERSION
owner: ci-platform
description: State of one CI run.
effect: EFFECT
arguments:
  schema:
    type: object
    properties:
      run_id: {type: string, pattern: "^run_[0-9]{1,9}$"}
      state: {type: string, pattern: "^[a-z]{1,9}$"}
    required: [run_id, state]
    additionalProperties: false
  resource: [{type: run, id: /run_id}]
fetch:
  command: {argv: ["PYTHON", "SCRIPT", "{/run_id}", "{/state}"], timeout_s: TIMEOUT}
limits: {max_bytes: 65536, max_depth: 8}
result:
  schema:
    type: object
    properties:
      run_id: {type: string, pattern: "^run_[0-9]{1,9}$"}
      state: {enum: [failed, succeeded, other]}
      note: {type: string, maxLength: 64}
    required: [run_id, state, note]
    additionalProperties: false
  bind: {/run_id: /run_id}
  agent: [/run_id, /state]
  operator: [/note]
"""


def contract(folder: Path, tool: str, effect: str, *, version: str = "1.1.0") -> str:
    """Return the text of one contract."""
    timeout = "10" if effect == "read" else "0.5"
    return (
        _CONTRACT.replace("TOOL", tool)
        .replace("VERSION", version)
        .replace("EFFECT", effect)
        .replace("PYTHON", sys.executable)
        .replace("SCRIPT", str(folder / "upstream.py"))
        .replace("TIMEOUT", timeout)
    )


def write_folder(folder: Path) -> Path:
    """Write the folder and return it: ``job_status`` reads, ``restart`` writes."""
    folder.mkdir()
    (folder / "sluicegate.yaml").write_text(_SETTINGS)
    (folder / "upstream.py").write_text(_SCRIPT)
    for tool, effect in (("job_status", "read"), ("restart", "write")):
        (folder / tool).mkdir()
        (folder / tool / "contract.yaml").write_text(contract(folder, tool, effect))
    released = folder / "job_status" / "released"
    released.mkdir()
    (released / "1.0.0.yaml").write_text(contract(folder, "job_status", "read", version="1.0.0"))
    record_releases(folder / "job_status")
    return folder


def record_releases(home: Path) -> None:
    """Record the digest of whatever lies in ``released``, as a release does."""
    digests = {
        path.relative_to(home / "released").as_posix(): hex_digest(path.read_bytes())
        for path in (home / "released").rglob("*")
        if path.is_file() and path.name != "DIGESTS"
    }
    (home / "released" / "DIGESTS").write_bytes(spell_digests(digests))


def forget_releases(home: Path) -> None:
    """Leave the folder as one whose tool was never released."""
    shutil.rmtree(home / "released")
    (home / "released").mkdir()


GOOD = '{"run_id": "run_1", "state": "failed", "note": "n"}'
"""An answer that the contract of ``job_status`` accepts."""


def write_unreleased(folder: Path) -> None:
    """Write the folder with an accepted fixture of each side, and without any release."""
    write_folder(folder)
    home = folder / "job_status"
    forget_releases(home)
    for side, text in (("arguments", '{"run_id": "run_1", "state": "failed"}'), ("result", GOOD)):
        fixture = home / "fixtures" / side / "accepted" / "one.json"
        fixture.parent.mkdir(parents=True)
        fixture.write_text(text)
