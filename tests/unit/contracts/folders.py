"""Contract folders as documents, for the tests of the loader."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sluicegate.contracts.contract import Contract, PythonName
from sluicegate.contracts.loading import load
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet

CASES = Path(__file__).parents[2] / "cases" / "contracts"
NAME = "job_status/contract.json"

BASE: dict[str, Any] = {
    "sluicegate": 1,
    "tool": "job_status",
    "version": "1.0.0",
    "owner": "ci-platform",
    "description": "State of one CI run of one project.",
    "effect": "read",
    "arguments": {
        "schema": {
            "type": "object",
            "properties": {
                "project_id": {"type": "string", "maxLength": 60},
                "run_id": {"type": "string", "maxLength": 60},
                "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
            },
            "required": ["project_id", "run_id", "labels"],
            "additionalProperties": False,
        }
    },
    "fetch": {"host": {}},
    "result": {
        "schema": {
            "type": "object",
            "properties": {
                "project_id": {"type": "string", "maxLength": 60},
                "state": {"enum": ["running", "failed"]},
                "count": {"type": "integer", "minimum": 0, "maximum": 9},
                "observed_at": {"type": "string", "format": "date-time", "maxLength": 35},
                "note": {"type": "string", "maxLength": 100},
                "seen_at": {"type": "string", "format": "date-time", "maxLength": 35},
                "steps": {
                    "type": "array",
                    "maxItems": 9,
                    "items": {
                        "type": "object",
                        "properties": {"name": {"type": "string", "maxLength": 60}},
                        "required": ["name"],
                        "additionalProperties": False,
                    },
                },
            },
            "required": ["project_id", "state", "observed_at"],
            "additionalProperties": False,
        },
        "bind": {"/project_id": "/project_id"},
        "agent": ["/project_id", "/state"],
    },
    "errors": {"NOT_FOUND": {"retryable": False}},
}

HTTP = {"method": "GET", "url": "https://x.example/{/project_id}", "timeout_s": 5}
SSH = {
    "host": "ci.example",
    "user": "reader",
    "command": "ci-status --json | awk '{print}'",
    "known_hosts": "keys/known_hosts",
    "timeout_s": 5,
    "credential": "file:keys/id_ed25519",
}
COMMAND = {"argv": ["ls", "{/project_id}"], "timeout_s": 5}
TABLE = {"project_id": "/p", "state": "/s", "observed_at": "/t"}
DESTRUCTIVE = {"effect": "destructive", "evidence": {"none": "why", "until": "2027-01-31"}}

UPSTREAM_KEYS: dict[str, Any] = {
    "status": {"404": "NOT_FOUND"},
    "success": [200, 203],
    "content_type": "application/json",
    "exit": {"3": "NOT_FOUND"},
    "success_exit": [0, 1],
}


def case_folder() -> dict[str, bytes]:
    """Return the documents of the example folder."""
    return {
        path.relative_to(CASES).as_posix(): path.read_bytes()
        for path in sorted(CASES.rglob("*"))
        if path.is_file() and "fixtures" not in path.parts
    }


def resolve_anything(name: PythonName) -> object:
    return lambda *given, **named: []


def changed(changes: Mapping[str, object]) -> dict[str, Any]:
    """Return BASE with the member at each slash-separated path replaced; ``...`` removes it."""
    document = copy.deepcopy(BASE)
    for path, value in changes.items():
        *stem, last = path.split(".")
        holder = document
        for segment in stem:
            holder = holder.setdefault(segment, {})
        if value is ...:
            del holder[last]
        else:
            holder[last] = value
    return document


def load_base(
    changes: Mapping[str, object],
    *,
    settings: Mapping[str, object] | None = None,
    resolve: Callable[[PythonName], object] | None = resolve_anything,
    **files: bytes,
) -> ContractSet | tuple[Problem, ...]:
    documents = {NAME: json.dumps(changed(changes), indent=1).encode(), **files}
    if settings is not None:
        documents["sluicegate.yaml"] = json.dumps(settings).encode()
    return load(documents, resolve=resolve)


def contract(changes: Mapping[str, object] | None = None, **more: Any) -> Contract:
    loaded = load_base(changes or {}, **more)
    assert isinstance(loaded, ContractSet), "\n".join(map(str, loaded))
    return loaded.contracts["job_status"]


def problems(changes: Mapping[str, object], **more: Any) -> tuple[Problem, ...]:
    loaded = load_base(changes, **more)
    assert isinstance(loaded, tuple), "it loads"
    return loaded


def assert_refused(changes: Mapping[str, object], pointer: str, word: str) -> None:
    """Hold the one problem of BASE with ``changes`` to its place and a word of its message."""
    found = problems(changes)
    assert [problem.pointer for problem in found] == [pointer], "\n".join(map(str, found))
    (problem,) = found
    assert word in problem.message
    assert problem.mend
    assert problem.line
    assert "ghp-" not in str(problem)
