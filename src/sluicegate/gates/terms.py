"""What must hold in the very commit of an intent, so that nothing can come between (ARG-7).

A quota that is counted, a key that is reserved or a proof that is spent before the intent is
recorded would be lost by a crash between the two; after it, two callers would both get through.
So the store judges them and writes them together with the intent, or writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sluicegate.gates.record_queries import RecordPlace
from sluicegate.values.codes import Code
from sluicegate.values.json import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """At most ``count`` attempts within any ``window_s`` seconds under one ``key`` (ACC-3).

    ``key`` names what is counted: 64 hexadecimal digits. Allowances with one key count together.
    ``per`` says in words what is counted apart, for the record.
    """

    key: str
    count: int
    window_s: int
    per: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """An idempotency key, and until when it is kept and its call may still be running (ACC-4).

    ``key`` is made of caller, tenant, tool and the host's key or the arguments: 64 hexadecimal
    digits. The reservation is held by the intent's request id and arguments.
    """

    key: str
    runs_until: datetime
    kept_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """``unless_open``: no other request may be open for the same write (RET-2).

    ``evidence`` are the event ids of accepted answers that this intent spends, each once (EVI-1).
    ``if_intended``: the events close an intent; where none of the request stands, or that attempt
    has an outcome, nothing is written (AUD-1). ``if_last``: the sequence number of the last event
    of the request by which an operator's word was judged; where a later one stands, nothing is
    written (RET-2).
    """

    unless_open: bool = False
    allowances: tuple[Allowance, ...] = ()
    reservation: Reservation | None = None
    evidence: tuple[str, ...] = ()
    if_intended: bool = False
    if_last: int | None = None


NO_TERMS: Final = Terms()
IF_INTENDED: Final = Terms(if_intended=True)


class TermRefused(Exception):  # noqa: N818  (a state, not a defect)
    """One of the terms does not hold; nothing was recorded.

    ``code``: OUTCOME_UNKNOWN where the same write is open under ``request_id``; KEY_REUSED,
    IN_PROGRESS or OUTCOME_UNKNOWN for a key that ``request_id`` holds; EVIDENCE_REQUIRED for what
    was spent before, with its event id in ``spent``; QUOTA_EXCEEDED, with the ``allowance`` and
    when it ``frees``.
    """

    def __init__(
        self,
        code: Code,
        request_id: str = "",
        *,
        spent: str | None = None,
        allowance: Allowance | None = None,
        frees: datetime | None = None,
    ) -> None:
        super().__init__(f"{code}: {request_id}" if request_id else str(code))
        self.code = code
        self.request_id = request_id
        self.spent = spent
        self.allowance = allowance
        self.frees = frees


class AlreadyDone(Exception):  # noqa: N818  (a state, not a defect)
    """The key's call was made and succeeded as ``request_id``; nothing was recorded."""

    def __init__(self, request_id: str) -> None:
        super().__init__(f"done as {request_id}")
        self.request_id = request_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """An accepted answer whose selected data is kept: what a proof or a replay is made of.

    ``seq`` and ``event_id`` are those of its outcome, ``time`` when that was recorded,
    ``contract_digest`` the contract that judged it. ``data`` is the selected data, masked members
    left out.
    """

    event_id: str
    seq: int
    request_id: str
    time: datetime
    contract_digest: str
    data: JsonValue
    spent: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedPage:
    """Answers, the latest recorded first; ``next_before`` is what the next page begins behind.

    ``hidden``: when the latest of those was recorded whose data is not kept, or cannot be read.
    """

    answers: tuple[Accepted, ...]
    next_before: RecordPlace | None
    hidden: datetime | None = None
