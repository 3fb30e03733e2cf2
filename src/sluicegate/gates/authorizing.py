"""The rung that asks an independent decision point, for each resource (SPEC ARG-6, ACC-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from sluicegate.contracts.contract import Contract
from sluicegate.gates.call_gate import Prepared
from sluicegate.gates.failures import is_failure, text_of
from sluicegate.gates.ports import AccessQuery, Authorizer, Clock, Decision, Resource
from sluicegate.values.actions import CALL
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.pointers import NOTHING
from sluicegate.values.rejections import Rejected

DECISION_TIMEOUT_S: Final = 0.25
DECISION_LIFETIME_S: Final = 1.0
"""A decision older than this is taken anew before anything runs (ARG-5)."""

_DENIED: Final = Rejected(stage=Stage.AUTHORIZE, code=Code.DENIED)
_UNAVAILABLE: Final = Rejected(stage=Stage.AUTHORIZE, code=Code.PDP_UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """Arguments that the caller may use; ``decided_at`` is monotonic."""

    prepared: Prepared
    decision_id: str
    decided_at: float
    policy_version: str = ""


async def authorize(
    prepared: Prepared, contract: Contract, caller: Caller, authorizer: Authorizer, clock: Clock
) -> Permitted | Rejected:
    """Ask about the caller, the call and each resource; proceed only on a plain True.

    Rejects with DENIED when one resource is denied, and does not say which; with PDP_UNAVAILABLE
    when a decision is late, raises, or is not a Decision. Late is what the clock says afterwards: a
    decision point that holds up the loop, or swallows its cancellation, is not cut off in time.
    Obligations are not understood by this release, so a decision that bears one is a denial. All
    resources share one deadline.
    Source: SPEC ACC-1, ACC-2.
    """
    decided_at = clock.monotonic()
    resources = list(_resources(prepared.arguments, contract))
    if None in resources or (contract.arguments.resources and not resources):
        return _DENIED  # what cannot be named, or names nothing, cannot be decided
    decision_id = policy_version = ""
    try:
        async with asyncio.timeout(DECISION_TIMEOUT_S) as limit:
            for resource in resources or [None]:
                decision: object = await authorizer.decide(_query(contract, caller, resource))
                if _is_past(limit) or not _is_whole(decision):
                    return _UNAVAILABLE
                if decision.errors:
                    return _told(_UNAVAILABLE, decision, "; ".join(decision.errors))
                if decision.allow is not True or decision.obligations:
                    return _told(_DENIED, decision, decision.reason)
                decision_id = decision_id or decision.decision_id
                policy_version = decision.policy_version
    except BaseException as error:  # whatever a decision point raises is a denial
        if not is_failure(error):
            raise
        return replace(_UNAVAILABLE, engine_message=text_of(error))
    return Permitted(
        prepared=prepared,
        decision_id=decision_id,
        decided_at=decided_at,
        policy_version=policy_version,
    )


def _is_whole(decision: object) -> TypeGuard[Decision]:
    """Whether it is a Decision whose texts are texts: a function of the operator's made it."""
    return isinstance(decision, Decision) and all(
        isinstance(text, str)
        for text in (
            decision.decision_id,
            decision.reason,
            decision.policy_version,
            *decision.errors,
        )
    )


def _told(rejected: Rejected, decision: Decision, said: str) -> Rejected:
    """Say whose decision it was; what it says of itself goes to custody, for it may quote."""
    return replace(
        rejected,
        decision_id=decision.decision_id or None,
        policy_version=decision.policy_version or None,
        engine_message=said or None,
    )


def _is_past(limit: asyncio.Timeout) -> bool:
    until = limit.when()
    return limit.expired() or until is None or asyncio.get_running_loop().time() > until


def _query(contract: Contract, caller: Caller, resource: Resource | None) -> AccessQuery:
    return AccessQuery(
        subject=caller,
        action=CALL,
        tool=contract.tool,
        resource=resource,
        context={"tool": contract.tool, "contract_digest": contract.fingerprints.digest},
    )


def _resources(arguments: Mapping[str, object], contract: Contract) -> Iterator[Resource | None]:
    """Yield each resource that the arguments name; None for one that cannot be named."""
    for rule in contract.arguments.resources:
        for _, value in rule.id.every(arguments):
            items = value if isinstance(value, list) else [value]
            for item in items:
                if item is NOTHING or isinstance(item, bool) or not isinstance(item, str | int):
                    yield None
                else:
                    yield Resource(type=rule.type, id=str(item))
