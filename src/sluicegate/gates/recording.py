"""From what happened to the events of the record: written for the operator (AUD-1, AUD-2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sluicegate.contracts.contract import Contract, Fingerprints
from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.gates.envelopes import Envelope, Success
from sluicegate.gates.events import AuditEvent, EventKind, Kept, Outcome
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import RequestId

_MAX_PROBLEMS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The members that every event of one call bears.

    ``call_id`` is fit to be shown; ``key`` is the idempotency key, made of the whole of it.
    """

    request_id: RequestId
    tool: str
    contract: Contract | None
    caller: Caller
    call_id: str | None
    key: str


def record_set(
    contracts: ContractSet,
    withdrawn: Mapping[str, str],
    *,
    what: str,
    problems: Sequence[Problem],
    request_id: RequestId,
    time: datetime,
) -> AuditEvent:
    """Return the event of a set that was opened, swapped, or kept because of ``problems``.

    It says what each digest stands for that a later event bears (CON-4).
    """
    return AuditEvent(
        kind=EventKind.CONTRACTS,
        time=time,
        request_id=request_id,
        attempt=0,
        outcome=Outcome.REFUSED if problems else Outcome.DONE,
        tool="",
        contract_digest=contracts.digest,
        code=str(problems[0].code) if problems else None,
        detail={
            "set": what,
            "tools": {
                tool: str(contract.fingerprints.digest)
                for tool, contract in contracts.contracts.items()
            },
            "withdrawn": dict(withdrawn),
            "side_by_side": {
                f"{tool} {offer}": str(offer.contract.fingerprints.digest)
                for tool, offers in contracts.rollouts.items()
                for offer in offers
            },
            "fingerprints": {
                str(fingerprints.digest): {
                    "language": fingerprints.language,
                    "text": fingerprints.text,
                    "policy": fingerprints.policy,
                }
                for fingerprints in _fingerprints(contracts)
            },
            "problems": [str(problem) for problem in problems[:_MAX_PROBLEMS]],
        },
    )


def _fingerprints(contracts: ContractSet) -> Iterator[Fingerprints]:
    """Of every contract that may judge: each event bears the digest of the one that did."""
    for contract in contracts.contracts.values():
        yield contract.fingerprints
    for offers in contracts.rollouts.values():
        for offer in offers:
            yield offer.contract.fingerprints


def record_refusal(
    subject: Subject,
    rejected: Rejected,
    envelope: Envelope,
    *,
    time: datetime,
    kept: tuple[Kept, ...],
    closes_intent: bool = False,
    raw: bytes | None = None,
) -> AuditEvent:
    """Return the one event of a call that did not run, or the one that closes its intent.

    ``raw`` is the call's own text: it is refused, so there is no arguments object to digest.
    """
    return _event(
        subject,
        EventKind.OUTCOME if closes_intent else EventKind.REFUSED,
        time,
        attempt=1,
        outcome=Outcome.REFUSED,
        rejected=rejected,
        envelope=envelope,
        decision_id=rejected.decision_id,
        raw=raw,
        kept=kept,
        detail={**_policy_of(rejected), **(rejected.told or {})},
    )


def record_intent(
    subject: Subject,
    arguments: Mapping[str, object],
    *,
    time: datetime,
    attempt: int,
    decision_id: str,
    policy_version: str = "",
    adapter: tuple[str, str, str],
    kept: tuple[Kept, ...],
    detail: Mapping[str, object],
) -> AuditEvent:
    """Return the event that stands before a dispatch. ``adapter``: name, version, endpoint."""
    name, version, endpoint = adapter
    return _event(
        subject,
        EventKind.INTENT,
        time,
        attempt=attempt,
        outcome=Outcome.PENDING,
        arguments=arguments,
        decision_id=decision_id,
        adapter=name,
        adapter_version=version,
        endpoint=endpoint,
        kept=kept,
        detail={"policy": policy_version, **detail} if policy_version else detail,
    )


def record_outcome(
    subject: Subject,
    receipt: Receipt,
    envelope: Envelope,
    *,
    time: datetime,
    attempt: int,
    rejected: Rejected | None,
    outcome_open: bool,
    arguments: Mapping[str, object],
    kept: tuple[Kept, ...],
    detail: Mapping[str, object],
) -> AuditEvent:
    """Return the event that stands after an attempt and before its answer is given."""
    if isinstance(envelope, Success):
        outcome = Outcome.SUCCESS
    elif outcome_open:
        outcome = Outcome.UNKNOWN
    else:
        outcome = Outcome.FAILURE
    status = receipt.status if receipt.status is not None else receipt.exit_code
    return _event(
        subject,
        EventKind.OUTCOME,
        time,
        attempt=attempt,
        outcome=outcome,
        rejected=rejected,
        envelope=envelope,
        arguments=arguments,
        decision_id=None if rejected is None else rejected.decision_id,
        adapter=receipt.adapter,
        adapter_version=receipt.adapter_version,
        endpoint=receipt.endpoint,
        upstream_status=None if status is None else str(status),
        raw=receipt.raw,
        kept=kept,
        detail=detail if rejected is None else {**_policy_of(rejected), **detail},
    )


def _policy_of(rejected: Rejected) -> Mapping[str, object]:
    version = rejected.policy_version
    return {} if version is None else {"policy": version}


def record_replay(
    subject: Subject, envelope: Success, *, time: datetime, detail: Mapping[str, object]
) -> AuditEvent:
    """Return the one event of a call that was made before: its kept answer is given again."""
    return _event(
        subject,
        EventKind.OUTCOME,
        time,
        attempt=0,
        outcome=Outcome.SUCCESS,
        envelope=envelope,
        detail=detail,
    )


def _event(
    subject: Subject,
    kind: EventKind,
    time: datetime,
    *,
    attempt: int,
    outcome: Outcome,
    rejected: Rejected | None = None,
    envelope: Envelope | None = None,
    arguments: Mapping[str, object] | None = None,
    decision_id: str | None = None,
    adapter: str | None = None,
    adapter_version: str | None = None,
    endpoint: str | None = None,
    upstream_status: str | None = None,
    raw: bytes | None = None,
    kept: tuple[Kept, ...] = (),
    detail: Mapping[str, object] | None = None,
) -> AuditEvent:
    contract, caller = subject.contract, subject.caller
    findings = rejected.findings if rejected else ()
    masked = () if contract is None else contract.masked_arguments + contract.masked_data
    return AuditEvent(
        kind=kind,
        time=time,
        request_id=subject.request_id,
        attempt=attempt,
        outcome=outcome,
        tool=subject.tool,
        contract_version=contract.version if contract else "",
        contract_digest=contract.fingerprints.digest if contract else "",
        caller_subject=caller.subject,
        caller_tenant=caller.tenant,
        session=caller.session,
        call_id=subject.call_id,
        adapter=adapter,
        adapter_version=adapter_version,
        endpoint=endpoint,
        upstream_status=upstream_status,
        stage=str(rejected.stage) if rejected else None,
        code=str(rejected.code) if rejected else None,
        agent_code=None if envelope is None or isinstance(envelope, Success) else envelope.code,
        schema_pointer=findings[0].schema_pointer if findings else None,
        decision_id=decision_id,
        findings=findings,
        arguments=arguments,
        raw=raw,
        returned=envelope.data if isinstance(envelope, Success) else None,
        kept=kept,
        masked=tuple(pointer.text for pointer in masked),
        detail=detail or {},
    )
