"""What the gate tells the audit: plain facts, hashed and encrypted by the store's writer.

Ids, digests and encoding belong to the writer, off the ladder: an event may hold raw bytes and
a parsed object, which are digested (HMAC) and, where custody keeps them, encrypted before they
are written. Source: SPEC AUD-1, AUD-2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from sluicegate.values.findings import Finding


class EventKind(StrEnum):
    """``INTENT`` comes before each dispatch, ``OUTCOME`` after it; ``REFUSED`` stands alone."""

    INTENT = "intent"
    OUTCOME = "outcome"
    REFUSED = "refused"
    CONTRACTS = "contracts"  # a set was opened, swapped, or a reload was refused
    OPERATOR = "operator"  # resolve, disable, rollback, reveal, purge
    NOTICE = "notice"  # drift told to an owner


class Outcome(StrEnum):
    """What became of the attempt or act."""

    PENDING = "pending"  # on an intent: nothing is known yet
    SUCCESS = "success"
    FAILURE = "failure"
    REFUSED = "refused"
    UNKNOWN = "unknown"  # a write was sent and no answer can be believed
    DONE = "done"  # an operator act


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Bytes for custody: ``kind`` arguments or raw; ``keep_days`` None: digest only."""

    kind: str
    content: bytes
    keep_days: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One event as the gate knows it. Texts hold no secret and no expanded URL.

    ``arguments`` and ``returned`` are JSON values, ``raw`` the received bytes: the writer stores
    their HMACs only. ``kept`` are bytes that custody keeps, encrypted. ``masked`` names the
    pointers that were removed. ``detail`` is a small JSON object of further facts.
    """

    kind: EventKind
    time: datetime
    request_id: str
    attempt: int
    outcome: Outcome
    tool: str
    contract_version: str = ""
    contract_digest: str = ""
    caller_subject: str | None = None
    caller_tenant: str | None = None
    session: str | None = None
    call_id: str | None = None
    adapter: str | None = None
    adapter_version: str | None = None
    endpoint: str | None = None
    upstream_status: str | None = None
    stage: str | None = None
    code: str | None = None
    agent_code: str | None = None
    schema_pointer: str | None = None
    decision_id: str | None = None
    trace_id: str | None = None
    findings: tuple[Finding, ...] = ()
    arguments: object = None
    raw: bytes | None = None
    returned: object = None
    kept: tuple[Kept, ...] = ()
    masked: tuple[str, ...] = ()
    detail: Mapping[str, object] = field(default_factory=dict)


def begins_something(events: Sequence[AuditEvent]) -> bool:
    """Whether something would run; what says how something ended is never held back.

    An intent that comes with its outcome only tells what was (``Journal.concluded``).
    """
    return all(event.kind is EventKind.INTENT for event in events)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """One event as it stands in the store: the columns of SPEC AUD-2 and its chain link.

    ``time`` is RFC 3339 UTC text; HMACs are lower-case hexadecimal; ``findings`` and ``detail``
    are JSON text. ``raw_ref`` and ``arguments_ref`` name blobs of custody.
    """

    seq: int
    event_id: str
    time: str
    kind: str
    request_id: str
    attempt: int
    outcome: str
    tool: str
    contract_version: str
    contract_digest: str
    caller_subject: str | None
    caller_tenant: str | None
    session: str | None
    call_id: str | None
    adapter: str | None
    adapter_version: str | None
    endpoint: str | None
    upstream_status: str | None
    stage: str | None
    code: str | None
    agent_code: str | None
    schema_pointer: str | None
    decision_id: str | None
    trace_id: str | None
    arguments_hmac: str | None
    arguments_ref: str | None
    raw_hmac: str | None
    raw_bytes: int | None
    raw_ref: str | None
    returned_hmac: str | None
    findings: str
    masked: str
    detail: str
    previous: str
    link: str
