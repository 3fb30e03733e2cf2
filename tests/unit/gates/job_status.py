"""The contract that the tests of the gate run with."""

from __future__ import annotations

import asyncio
import json

from sluicegate.contracts.served import ContractSet
from sluicegate.gates.gate import Gate
from sluicegate.testing import contracts_of

ARGUMENTS = '{"project_id": "bluebird", "run_id": "run_A1b2C3d4E5f6"}'

CONTRACT = {
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
                "project_id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{2,62}$"},
                "run_id": {"type": "string", "pattern": "^run_[A-Za-z0-9]{12,48}$"},
            },
            "required": ["project_id", "run_id"],
            "additionalProperties": False,
        },
        "resource": [{"type": "project", "id": "/project_id"}],
    },
    "fetch": {
        "http": {"method": "GET", "url": "http://127.0.0.1:9/runs/{/run_id}", "timeout_s": 5}
    },
    "result": {
        "schema": {
            "type": "object",
            "properties": {
                "project_id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{2,62}$"},
                "run_id": {"type": "string", "pattern": "^run_[A-Za-z0-9]{12,48}$"},
                "state": {"enum": ["running", "succeeded", "failed"]},
                "observed_at": {"type": "string", "format": "date-time", "maxLength": 35},
            },
            "required": ["project_id", "run_id", "state", "observed_at"],
            "additionalProperties": False,
        },
        "bind": {"/project_id": "/project_id", "/run_id": "/run_id"},
        "fresh": {"at": "/observed_at", "max_age_s": 60, "max_ahead_s": 5},
        "agent": ["/project_id", "/run_id", "/state"],
        "operator": ["/observed_at"],
    },
    "errors": {
        "NOT_FOUND": {"retryable": False},
        "UPSTREAM_UNAVAILABLE": {"retryable": True},
    },
}


def answer(**changes: object) -> bytes:
    """Return a good answer with ``changes``."""
    good = {
        "project_id": "bluebird",
        "run_id": "run_A1b2C3d4E5f6",
        "state": "failed",
        "observed_at": "2026-11-30T11:59:30Z",
    }
    return json.dumps({**good, **changes}).encode()


def contracts(**changes: object) -> ContractSet:
    """Load the contract with whole parts changed."""
    return contracts_of({"job_status/contract.json": json.dumps({**CONTRACT, **changes})})


MANY = contracts(
    arguments={
        "schema": {
            "type": "object",
            "properties": {
                "projects": {
                    "type": "array",
                    "items": {"type": "string", "pattern": "^[a-z]{1,9}$"},
                    "maxItems": 9,
                }
            },
            "required": ["projects"],
            "additionalProperties": False,
        },
        "resource": [{"type": "project", "id": "/projects/*"}],
    },
    fetch={"host": {}},
    result={
        "schema": {
            "type": "object",
            "properties": {"state": {"enum": ["failed"]}},
            "required": ["state"],
            "additionalProperties": False,
        },
        "agent": ["/state"],
    },
)
"""A tool that asks about a list of projects at once."""


async def let_go(gate: Gate) -> None:
    """Return once what is not in force any more is released."""
    while gate._tenure._releasing:
        await asyncio.wait(gate._tenure._releasing)


async def let_in(gate: Gate, places: int) -> None:
    """Let so many calls run at once, as a reload of other settings would."""
    await gate._tenure.places.resize(places)
