"""What the agent sees: exactly one of three closed shapes, built anew (SPEC section 4).

No type here has a field that could hold an upstream string outside ``data``: codes are members of
a closed set, findings concern the model's own arguments and hold no values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.requests import RequestId

_new: Final = tuple.__new__


class Success(NamedTuple):
    """``data`` holds the selected fields and nothing else.

    A tuple: each accepted answer pays for it, and a frozen dataclass costs three times as much.
    """

    tool: str
    request_id: RequestId
    data: JsonValue
    replayed: bool = False


def succeed(tool: str, request_id: RequestId, data: JsonValue) -> Success:
    """Return the success shape; a third of the cost of the tuple's own constructor."""
    return _new(Success, (tool, request_id, data, False))


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


def shape_envelope(envelope: Envelope) -> dict[str, JsonValue]:
    """Return the closed JSON object of SPEC 4 for ``envelope``, built anew."""
    head: dict[str, JsonValue] = {"tool": envelope.tool, "request_id": envelope.request_id}
    if isinstance(envelope, Success):
        shaped: dict[str, JsonValue] = {**head, "outcome": "success", "data": envelope.data}
        if envelope.replayed:
            shaped["replayed"] = True
        return shaped
    error: dict[str, JsonValue] = {"code": envelope.code, "retryable": envelope.retryable}
    if isinstance(envelope, Failure):
        return {**head, "outcome": "failure", "error": error}
    if envelope.findings:
        error["findings"] = [shape_finding(finding) for finding in envelope.findings]
    if envelope.needs is not None:
        error["needs"] = {
            "tool": envelope.needs.tool,
            "arguments": dict(envelope.needs.arguments),
        }
    return {**head, "outcome": "refused", "error": error}


def shape_finding(finding: Finding) -> dict[str, JsonValue]:
    """Return the members of a finding that help a model mend its own call."""
    members = {
        "code": str(finding.code),
        "pointer": finding.pointer,
        "expected": finding.expected,
        "received": finding.received,
        "hint": finding.hint,
    }
    return {member: text for member, text in members.items() if text is not None}
