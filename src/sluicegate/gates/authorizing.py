"""The rung that asks an independent decision point, for each resource (SPEC ARG-6, ACC-1)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeGuard

from sluicegate.contracts.contract import Contract
from sluicegate.gates.call_gate import Prepared
from sluicegate.gates.failures import is_failure, text_of
from sluicegate.gates.ports import AccessQuery, Authorizer, Clock, Decision, Resource
from sluicegate.values.actions import CALL
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import NOTHING
from sluicegate.values.rejections import Rejected

DECISION_TIMEOUT_S: Final = 0.25
DECISION_LIFETIME_S: Final = 1.0
"""A decision older than this is taken anew before anything runs (ARG-5)."""

_DENIED: Final = Rejected(stage=Stage.AUTHORIZE, code=Code.DENIED)
_UNAVAILABLE: Final = Rejected(stage=Stage.AUTHORIZE, code=Code.PDP_UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permitted:
    """Arguments that the caller may use; ``decided_at`` is monotonic.

    ``decision_id`` and ``policy_version`` are those of the first decision, ``decision_ids`` those
    of all, in the order of the resources.
    """

    prepared: Prepared
    decision_id: str
    decided_at: float
    policy_version: str = ""
    decision_ids: tuple[str, ...] = ()


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
    queries = [_query(contract, caller, resource) for resource in resources or [None]]
    taken: list[Decision] = []
    rejected = await _decide(queries, authorizer, taken)
    ids = tuple(decision.decision_id for decision in taken)
    if rejected is not None:
        return replace(rejected, told=_tell_decisions(ids, rejected.decision_id))
    return Permitted(
        prepared=prepared,
        decision_id=ids[0],
        decided_at=decided_at,
        policy_version=taken[0].policy_version,
        decision_ids=ids,
    )


async def _decide(
    queries: Sequence[AccessQuery], authorizer: Authorizer, taken: list[Decision]
) -> Rejected | None:
    """Put each query until one is not allowed, and add to ``taken`` whatever was decided."""
    try:
        async with asyncio.timeout(DECISION_TIMEOUT_S) as limit:
            for query in queries:
                decision: object = await authorizer.decide(query)
                if not _is_whole(decision):
                    return _UNAVAILABLE
                taken.append(decision)
                if _is_past(limit):
                    return _UNAVAILABLE
                if decision.errors:
                    return _told(_UNAVAILABLE, decision, "; ".join(decision.errors))
                if decision.allow is not True or decision.obligations:
                    return _told(_DENIED, decision, decision.reason)
    except BaseException as error:  # whatever a decision point raises is a denial
        if not is_failure(error):
            raise
        return replace(_UNAVAILABLE, engine_message=text_of(error))
    return None


def _tell_decisions(ids: Sequence[str], decision_id: str | None) -> Mapping[str, JsonValue] | None:
    """Return what the record says beside ``decision_id`` of the event: every id, if it has more."""
    return None if set(ids) <= {decision_id or ""} else {"decisions": list(ids)}


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
