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

_AT_ONCE: Final = 8
"""Questions about the resources of one call that a decision point is asked side by side."""

_OBLIGED: Final = "it is allowed with obligations, and none is understood"
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


@dataclass(frozen=True, slots=True)
class _Question:
    """``query`` is None for a resource that cannot be named; ``place`` is its type and pointer."""

    query: AccessQuery | None
    place: str


async def authorize(
    prepared: Prepared, contract: Contract, caller: Caller, authorizer: Authorizer, clock: Clock
) -> Permitted | Rejected:
    """Ask about the caller, the call and each resource; proceed only on a plain True.

    Rejects with DENIED when one resource is denied, and does not say which; with PDP_UNAVAILABLE
    when a decision is late, raises, or is not a Decision. Late is what the clock says afterwards: a
    decision point that holds up the loop, or swallows its cancellation, is not cut off in time.
    Obligations are not understood by this release, so a decision that bears one is a denial. All
    resources share one deadline, and are asked about side by side. The record says which of them
    was not allowed, by type and place. Source: SPEC ACC-1, ACC-2.
    """
    decided_at = clock.monotonic()
    asked = list(_questions(prepared.arguments, contract, caller))
    if contract.arguments.resources and not asked:
        return _DENIED  # what names nothing cannot be decided
    for question in asked:
        if question.query is None:
            return replace(_DENIED, told={"resource": question.place})
    taken: list[Decision] = []
    rejected = await _decide(
        asked or [_Question(_query(contract, caller, None), "")], authorizer, taken
    )
    ids = tuple(decision.decision_id for decision in taken)
    if rejected is not None:
        told = {**(rejected.told or {}), **_tell_decisions(ids, rejected.decision_id)}
        return replace(rejected, told=told or None)
    return Permitted(
        prepared=prepared,
        decision_id=ids[0],
        decided_at=decided_at,
        policy_version=taken[0].policy_version,
        decision_ids=ids,
    )


async def _decide(
    asked: Sequence[_Question], authorizer: Authorizer, taken: list[Decision]
) -> Rejected | None:
    """Ask until a batch holds what is no plain yes: a denial of it, else its first fault.

    A denial stands whatever became of the other questions. Whatever was decided is added to
    ``taken``.
    """
    ends = asyncio.get_running_loop().time() + DECISION_TIMEOUT_S
    for first in range(0, len(asked), _AT_ONCE):
        some = asked[first : first + _AT_ONCE]
        decisions = await _ask(some, authorizer, ends)
        taken += filter(_is_whole, decisions)
        rejected = [
            judged
            for question, decision in zip(some, decisions, strict=True)
            if (judged := _judge(decision, question.place)) is not None
        ]
        if rejected:
            return next((each for each in rejected if each.code is Code.DENIED), rejected[0])
        if asyncio.get_running_loop().time() > ends:
            return _UNAVAILABLE
    return None


async def _ask(some: Sequence[_Question], authorizer: Authorizer, ends: float) -> Sequence[object]:
    """Return the decision on each, or what was raised in its place; a late one is a TimeoutError.

    ``ends`` is a time of the loop. Late is what the loop says afterwards: a decision point that
    holds it up is not cut off in time.
    """
    if len(some) == 1:  # by far the most calls: there is nothing to be side by side with
        try:
            async with asyncio.timeout_at(ends):
                return [await _take(some[0].query, authorizer)]
        except TimeoutError as error:
            return [error]
    asking = [asyncio.ensure_future(_take(each.query, authorizer)) for each in some]
    try:
        await asyncio.wait(asking, timeout=max(ends - asyncio.get_running_loop().time(), 0.0))
    finally:
        late = [not each.done() for each in asking]
        for each in asking:
            each.cancel()
    return [
        TimeoutError() if is_late else each.result()
        for each, is_late in zip(asking, late, strict=True)
    ]


async def _take(query: AccessQuery | None, authorizer: Authorizer) -> object:
    assert query is not None  # noqa: S101  (what cannot be named was refused before)
    try:
        return await authorizer.decide(query)
    except BaseException as error:  # whatever a decision point raises is a denial
        if not is_failure(error):
            raise
        return error


def _judge(decision: object, place: str) -> Rejected | None:
    """Return the refusal of what is no plain yes without obligations."""
    if not _is_whole(decision):
        told = {"resource": place} if place else None
        said = text_of(decision) if isinstance(decision, BaseException) else None
        return replace(_UNAVAILABLE, engine_message=said, told=told)
    if decision.errors:
        return _told(_UNAVAILABLE, decision, "; ".join(decision.errors), place)
    if not decision.allow:
        return _told(_DENIED, decision, decision.reason, place)
    return _told(_DENIED, decision, _OBLIGED, place) if decision.obligations else None


def _tell_decisions(ids: Sequence[str], decision_id: str | None) -> Mapping[str, JsonValue]:
    """Return what the record says beside ``decision_id`` of the event: every id, if it has more."""
    return {} if set(ids) <= {decision_id or ""} else {"decisions": list(ids)}


def _is_whole(decision: object) -> TypeGuard[Decision]:
    """Whether it is a Decision with members of their types: a function of the operator's made it.

    Obligations that are None or 0 would else count as none, and so would a text of errors.
    """
    if not isinstance(decision, Decision) or not isinstance(decision.allow, bool):
        return False
    members: tuple[object, ...] = (decision.errors, decision.obligations)
    if not all(isinstance(member, tuple | list) for member in members):
        return False
    texts = (decision.decision_id, decision.reason, decision.policy_version)
    return all(isinstance(text, str) for text in (*texts, *decision.errors, *decision.obligations))


def _told(rejected: Rejected, decision: Decision, said: str, place: str) -> Rejected:
    """Say whose decision it was; what it says of itself goes to custody, for it may quote."""
    return replace(
        rejected,
        told={"resource": place} if place else None,
        decision_id=decision.decision_id or None,
        policy_version=decision.policy_version or None,
        engine_message=said or None,
    )


def _query(contract: Contract, caller: Caller, resource: Resource | None) -> AccessQuery:
    return AccessQuery(
        subject=caller,
        action=CALL,
        tool=contract.tool,
        resource=resource,
        context={"tool": contract.tool, "contract_digest": contract.fingerprints.digest},
    )


def _questions(
    arguments: Mapping[str, object], contract: Contract, caller: Caller
) -> Iterator[_Question]:
    """Yield one about each resource that the arguments name."""
    for rule in contract.arguments.resources:
        for pointer, value in rule.id.every(arguments):
            items = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, item in items:
                place = f"{rule.type} at {pointer}" + ("" if index is None else f"/{index}")
                if item is NOTHING or isinstance(item, bool) or not isinstance(item, str | int):
                    yield _Question(None, place)
                else:
                    resource = Resource(type=rule.type, id=str(item))
                    yield _Question(_query(contract, caller, resource), place)
