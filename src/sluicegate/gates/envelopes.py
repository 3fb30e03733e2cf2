"""What the agent sees: exactly one of three closed shapes, built anew (SPEC section 4).

No type here has a field that could hold an upstream string outside ``data``: codes are members of
a closed set, findings concern the model's own arguments and hold no values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.requests import RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Success:
    """``data`` holds the selected fields and nothing else."""

    tool: str
    request_id: RequestId
    data: JsonValue
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Something ran, or may have run, and no answer can be believed."""

    tool: str
    request_id: RequestId
    code: str
    retryable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """The tool that yields the missing evidence, with the arguments that are known."""

    tool: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing ran. ``findings`` stand with INVALID_ARGUMENTS and CHECK_FAILED only."""

    tool: str
    request_id: RequestId
    code: str
    retryable: bool
    findings: tuple[Finding, ...] = ()
    needs: Needs | None = None


Envelope: TypeAlias = Success | Failure | Refused
