"""How an operator's act stands in the record: one place that spells them all.

The stores' questions read these events back (``detail.resolves`` frees a call), so nobody else
writes them. Each function is pure: name, time and ids come in. Each raises MisuseError without a
name or, where the act has one, a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from sluicegate.contracts.reading_adapter import MAX_TIMEOUT_S
from sluicegate.gates.events import AuditEvent, EventKind, Outcome, StoredEvent
from sluicegate.gates.handed_in import demand_account, demand_name
from sluicegate.gates.open_calls import open_attempts
from sluicegate.gates.record_reading import as_written, read_time
from sluicegate.gates.terms import Terms

Found: TypeAlias = Literal["done", "not-done"]
"""What an operator found out about a call whose outcome was not known."""

_REFS_NAMED: Final = 100
_LONGEST_RUN: Final = timedelta(seconds=MAX_TIMEOUT_S)


class StillRunning(Exception):  # noqa: N818  (a state, not a defect)
    """No end of the call is recorded, and it may be running ``until`` then; nothing was made."""

    def __init__(self, request_id: str, until: datetime) -> None:
        super().__init__(f"{request_id} may be running until {until.isoformat()}")
        self.until = until


class StoryChanged(Exception):  # noqa: N818  (a state, not a defect)
    """What is recorded of the call went on behind what an act was judged by; nothing was made."""


def find_end_of_run(events: Iterable[StoredEvent]) -> datetime | None:
    """Return until when the request of these events may be running; None: its end is recorded.

    Its end is the outcome of its last attempt, and none that tells of a further one: between two
    attempts a call runs. An intent with a key tells until when. Without one the longest time that
    a contract may grant counts from the newest intent on, since a contract that has changed may
    have granted it. Source: SPEC ACC-4, RET-2, RET-3. Raises: AuditUnavailable for an event that
    no gate wrote so.
    """
    newest: StoredEvent | None = None
    has_ended = True
    for event in events:
        if event.kind == EventKind.INTENT:
            newest, has_ended = event, False
        elif event.kind == EventKind.OUTCOME:
            is_last = newest is not None and event.attempt >= newest.attempt
            has_ended = has_ended or (is_last and not _goes_on(event))
    if newest is None or has_ended:
        return None
    try:
        return read_time(json.loads(newest.detail)["reserved"]["runs"])
    except (ValueError, LookupError, TypeError, RecursionError):
        pass  # it holds no key, or was recorded by a gate that did not tell this
    with as_written(newest.request_id):
        return read_time(newest.time) + _LONGEST_RUN


def _goes_on(outcome: StoredEvent) -> bool:
    with as_written(outcome.request_id):
        return json.loads(outcome.detail).get("retry_in_s") is not None


def resolve(
    events: Iterable[StoredEvent],
    request_id: str,
    *,
    found: Found,
    who: str,
    reason: str,
    now: datetime,
    gate_is_gone: bool = False,
) -> tuple[AuditEvent, Terms]:
    """Return the act that says what became of a call, and under which terms it may be recorded.

    It frees the call, and stands in its story: ``events`` are all of that, and the terms see that
    they still are in the commit. ``gate_is_gone``: who acts states that the process which made the
    call has ended, so that it is not asked whether it still runs. Source: SPEC RET-2, ACC-4.
    Raises: KeyError where the call is not open; StillRunning, as the same call would run beside it;
    AuditUnavailable for events that no gate wrote so.
    """
    demand_account(who, reason)
    of_call = [event for event in events if event.request_id == request_id]
    intent = next(iter(open_attempts(of_call)), None)
    if intent is None:
        raise KeyError(request_id)
    until = None if gate_is_gone else find_end_of_run(of_call)
    if until is not None and now < until:
        raise StillRunning(request_id, until)
    detail = {"act": "resolve", "resolves": request_id, "as": found, "reason": reason}
    if gate_is_gone:
        detail["gate_is_gone"] = "stated"
    act = _act(
        detail,
        request_id=request_id,
        who=who,
        now=now,
        tool=intent.tool,
        contract_version=intent.contract_version,
        contract_digest=intent.contract_digest,
    )
    return act, Terms(if_last=of_call[-1].seq)


def reveal(
    ref: str,
    *,
    kind: str,
    request_id: str,
    tool: str,
    contract_digest: str,
    who: str,
    reason: str,
    now: datetime,
) -> AuditEvent:
    """Return the act that stands before plain bytes are given, in the call's story (AUD-4)."""
    demand_account(who, reason)
    detail = {"act": "reveal", "ref": ref, "kind": kind, "who": who, "reason": reason}
    return _act(
        detail, request_id=request_id, who=who, now=now, tool=tool, contract_digest=contract_digest
    )


def purge(
    destroyed: Sequence[str],
    *,
    rule: Literal["expired", "named"],
    act_id: str,
    who: str,
    now: datetime,
) -> AuditEvent:
    """Return the act of destroying blobs; the first hundred refs are named (AUD-4)."""
    refs = list(destroyed[:_REFS_NAMED])
    detail = {"act": "purge", "who": who, "rule": rule, "count": len(destroyed), "refs": refs}
    return _act(detail, request_id=act_id, who=who, now=now)


def rewrap(key_id: str, *, count: int, act_id: str, who: str, now: datetime) -> AuditEvent:
    """Return the act of wrapping ``count`` data keys anew under ``key_id`` (AUD-4)."""
    detail = {"act": "rewrap", "who": who, "key_id": key_id, "count": count}
    return _act(detail, request_id=act_id, who=who, now=now)


def rotate(
    key_id: str, *, is_drawn: bool, act_id: str, who: str, reason: str, now: datetime
) -> AuditEvent:
    """Return the act of making ``key_id`` the key of custody; ``is_drawn``: it is new (AUD-4)."""
    demand_account(who, reason)
    detail = {"act": "rotate", "who": who, "key_id": key_id, "drawn": is_drawn, "reason": reason}
    return _act(detail, request_id=act_id, who=who, now=now)


def disable(tool: str, *, act_id: str, who: str, reason: str, now: datetime) -> AuditEvent:
    """Return the act of taking ``tool`` out of service."""
    return _steer("disable", tool, act_id=act_id, who=who, reason=reason, now=now)


def enable(tool: str, *, act_id: str, who: str, reason: str, now: datetime) -> AuditEvent:
    """Return the act of putting ``tool`` back into service."""
    return _steer("enable", tool, act_id=act_id, who=who, reason=reason, now=now)


def rollback(
    tool: str, version: str, *, act_id: str, who: str, reason: str, now: datetime
) -> AuditEvent:
    """Return the act of serving a released ``version`` of ``tool``."""
    return _steer("rollback", tool, act_id=act_id, who=who, reason=reason, now=now, version=version)


def replay(
    tool: str, versions: str, *, act_id: str, who: str, reason: str, now: datetime
) -> AuditEvent:
    """Return the act that stands before kept answers of ``tool`` are read to be judged anew.

    One for the whole replay, not one a blob: no byte of them is shown. ``versions`` says which
    versions judge. Source: SPEC AUD-4, LIF-4.
    """
    return _steer("replay", tool, act_id=act_id, who=who, reason=reason, now=now, versions=versions)


def _steer(
    act: str, tool: str, *, act_id: str, who: str, reason: str, now: datetime, **more: str
) -> AuditEvent:
    demand_account(who, reason)
    detail = {"act": act, "reason": reason, **more}
    return _act(detail, request_id=act_id, who=who, now=now, tool=tool)


def _act(
    detail: Mapping[str, object],
    *,
    request_id: str,
    who: str,
    now: datetime,
    tool: str = "",
    contract_version: str = "",
    contract_digest: str = "",
) -> AuditEvent:
    demand_name(who)
    return AuditEvent(
        kind=EventKind.OPERATOR,
        time=now,
        request_id=request_id,
        attempt=0,
        outcome=Outcome.DONE,
        tool=tool,
        contract_version=contract_version,
        contract_digest=contract_digest,
        caller_subject=who,
        detail=detail,
    )
