"""The verdict on one document, and the question that is asked of it (``sluicegate judge``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from sluicegate.contracts.contract import FreshRule, Integers
from sluicegate.values.codes import Code, Stage
from sluicegate.values.digests import Digest
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.limits import Limits
from sluicegate.values.pointers import Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A bare schema and what a document must further be.

    ``schema`` is the parsed schema document; ``strict`` holds it to all that a contract must
    obey; ``bind`` are the exact values that the document must bear; ``request_id`` must stand at
    ``/request_id`` where the document is an envelope; ``now`` is needed with ``fresh``.
    """

    schema: object
    side: Literal["arguments", "result"] = "result"
    strict: bool = False
    limits: Limits = Limits(max_bytes=262_144, max_depth=32)
    integers: Integers = "any"
    now: datetime | None = None
    request_id: str | None = None
    bind: Mapping[Pointer, JsonValue] = field(default_factory=dict)
    fresh: FreshRule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``stage`` and ``code`` are None when accepted; ``digest`` is of the bytes as received."""

    accepted: bool
    stage: Stage | None
    code: Code | None
    findings: tuple[Finding, ...]
    digest: Digest
