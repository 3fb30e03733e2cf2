"""What an action rests on: accepted answers, found by the gate itself (EVI-1, EVI-2).

The agent passes no token: whatever it says, the record of this caller is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, Protocol, cast

from sluicegate.checks.meaning_subject import is_same
from sluicegate.contracts.contract import Contract, EvidenceRule, FreshRule
from sluicegate.contracts.evidence import known_arguments
from sluicegate.gates.ports import AuditStore, Clock
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery
from sluicegate.gates.terms import Accepted
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.instants import NANOS, instant_of, parse_rfc3339
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import NOTHING
from sluicegate.values.rejections import Needed, Rejected

_MAX_PAGES: Final = 100
"""Answers beyond so many pages are too many to look through: none is a proof then."""


class Lack(StrEnum):
    """Why a proof is none, as the record says it.

    Only answers of the served contract are looked for: where there are others alone, nothing is
    recorded. OTHER_CONTRACT is for a store that tells of one all the same.
    """

    NOT_SERVED = "its tool is not served to this caller"
    NOT_ASKED = "its tool acts, and what acts is not asked"
    ASKING_FAILED = "the gate asked for it and got no accepted answer"
    NOT_KEPT = "the answer that the gate asked for is not kept"
    OTHER_CONTRACT = "the answer was judged by another contract than the one that is served"
    NOTHING_RECORDED = "no answer of the served contract that is recent enough is on record"
    OTHER_SUBJECT = "what is on record is about another subject"
    TOO_MANY = "more answers are on record than are looked through"
    OUTDATED = "what the gate was told was observed before what is on record about it"
    HIDDEN = "an answer on record that may be newer is not kept, or cannot be read"
    OTHER_STATE = "the newest answer about it says another state"
    TOO_OLD = "the newest answer about it is older than allowed"
    SPENT = "the newest answer about it was spent by an earlier action"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnCall:
    """A call that the gate made by itself; ``code`` is None where its answer was accepted."""

    request_id: str
    code: str | None


class Witnesses(Protocol):
    """The tools of the set that a call began with, as its caller is served them."""

    def contract_of(self, tool: str) -> Contract | None:
        """Return the contract that judges this caller's calls of ``tool``; None: not served."""

    async def ask(self, tool: str, arguments: Mapping[str, JsonValue]) -> OwnCall | None:
        """Call ``tool``; return how that ended, None if such a tool is never asked."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One rule of a contract's ``evidence``: its ``number`` there, from 1, and its ``tool``."""

    number: int
    tool: str

    def tell(self, lack: Lack, own_call: OwnCall | None = None) -> Mapping[str, JsonValue]:
        """Return what the record says of it; ``own_call``: the one that the gate made for it."""
        told: dict[str, JsonValue] = {
            "number": self.number,
            "tool": self.tool,
            "why": str(lack),
        }
        if own_call is not None:
            told["asked"] = own_call.request_id
            if own_call.code is not None:
                told["agent_code"] = own_call.code
        return {"proof": told}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """The answers an action rests on: event ids of all of them, and of those it spends.

    ``needed`` says what to ask for where one of the latter is spent by another meanwhile, and
    ``proofs`` which proof each of them is.
    """

    event_ids: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    needed: Needed | None = None
    proofs: tuple[Proof, ...] = ()

    def tell_spent(self, event_id: str | None) -> Mapping[str, JsonValue] | None:
        """Return what the record says where ``event_id`` was spent meanwhile."""
        for spent, proof in zip(self.spent, self.proofs, strict=True):
            if spent == event_id:
                return proof.tell(Lack.SPENT)
        return None


NOTHING_PROVEN: Final = Proven()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAction:
    """What somebody is about to do: who, and with which arguments.

    ``after``: the event id of the last attempt's outcome, and what was asked for before it proves
    nothing any more (EVI-2). The age of an answer is judged when it is there, by ``clock``.
    """

    caller: Caller
    arguments: Mapping[str, object]
    clock: Clock
    after: str | None


@dataclass(frozen=True, slots=True)
class _Found:
    """``event_ids``: what the action rests on, and spends where the rule says so: ``answer``, and
    another one of its time that was recorded later."""

    proof: Proof
    rule: EvidenceRule
    witness: Contract
    answer: Accepted
    event_ids: tuple[str, ...]
    own_call: OwnCall | None = None


@dataclass(frozen=True, slots=True)
class _Lacking:
    lack: Lack
    own_call: OwnCall | None = None


async def prove(
    rules: Sequence[EvidenceRule], action: PlannedAction, witnesses: Witnesses, store: AuditStore
) -> Proven | Rejected:
    """Find an answer for each rule: the newest one about the subject decides, and no other.

    What was observed later and says otherwise is no reason to act on what was observed before, and
    a proof that is spent leaves none behind it: where another answer about the subject was observed
    at its time and recorded after it, that one is held to the rule and spent as well. What is taken
    again is asked for first, for that takes time; once all are there, the age of each is judged
    once more. Rejects: EVIDENCE_REQUIRED (stage admit), with the tool to ask and what is known of
    its arguments, where none holds: missing, too old, spent, about another subject, of another
    state, from a cache, judged by another contract, given to another caller. Raises:
    AuditUnavailable.
    """
    found: list[_Found] = []
    for number, rule in sorted(enumerate(rules, 1), key=lambda each: not each[1].refetch):
        proof = Proof(number, rule.tool)
        witness = witnesses.contract_of(rule.tool)
        if witness is None:
            return _refuse(rule, None, action, proof.tell(Lack.NOT_SERVED))
        answer = await _find(proof, rule, witness, action, witnesses, store)
        if isinstance(answer, _Lacking):
            return _refuse(rule, witness, action, proof.tell(answer.lack, answer.own_call))
        found.append(answer)
    now = action.clock.now()
    for each in found:
        if not _is_recent(each.answer, each.rule, each.witness, now):
            told = each.proof.tell(Lack.TOO_OLD, each.own_call)
            return _refuse(each.rule, each.witness, action, told)
    once = [each for each in found if each.rule.once]
    spent: dict[str, Proof] = {}
    for each in once:
        for event_id in each.event_ids:
            spent.setdefault(event_id, each.proof)
    return Proven(
        event_ids=tuple(dict.fromkeys(name for each in found for name in each.event_ids)),
        spent=tuple(spent),
        needed=_needed(once[0].rule, once[0].witness, action) if once else None,
        proofs=tuple(spent.values()),
    )


def _refuse(
    rule: EvidenceRule,
    witness: Contract | None,
    action: PlannedAction,
    told: Mapping[str, JsonValue],
) -> Rejected:
    needed = _needed(rule, witness, action)
    return Rejected(stage=Stage.ADMIT, code=Code.EVIDENCE_REQUIRED, needed=needed, told=told)


async def _find(
    proof: Proof,
    rule: EvidenceRule,
    witness: Contract,
    action: PlannedAction,
    witnesses: Witnesses,
    store: AuditStore,
) -> _Found | _Lacking:
    if rule.refetch:
        return await _take(proof, rule, witness, action, witnesses, store)
    newest = await _find_newest(rule, witness, action, store)
    if isinstance(newest, Lack):
        return _Lacking(newest)
    lack = _find_lack(newest, rule, witness, action)
    if lack is not None:
        return _Lacking(lack)
    return _Found(proof, rule, witness, newest, (newest.event_id,))


async def _take(
    proof: Proof,
    rule: EvidenceRule,
    witness: Contract,
    action: PlannedAction,
    witnesses: Witnesses,
    store: AuditStore,
) -> _Found | _Lacking:
    """Ask anew, and hold what was told to what is on record about the subject.

    Many answers bear one time where that is when the subject changed last: one that somebody else
    was told meanwhile makes the one taken no older, but must be a proof as well.
    """
    own_call = await witnesses.ask(rule.tool, _needed(rule, witness, action).arguments)
    if own_call is None:
        return _Lacking(Lack.NOT_ASKED)
    if own_call.code is not None:
        return _Lacking(Lack.ASKING_FAILED, own_call)
    query = AnswerQuery(request_id=own_call.request_id, tool=rule.tool, caller=action.caller)
    taken = await store.answer_of(query, now=action.clock.now())
    lack = Lack.NOT_KEPT if taken is None else _find_lack(taken, rule, witness, action)
    if taken is None or lack is not None:
        return _Lacking(lack or Lack.NOT_KEPT, own_call)
    newest = await _find_newest(rule, witness, action, store)
    if isinstance(newest, Lack):
        return _Lacking(newest, own_call)
    if _observed(newest, witness) > _observed(taken, witness):
        return _Lacking(Lack.OUTDATED, own_call)
    lack = _find_lack(newest, rule, witness, action)
    if lack is not None:
        return _Lacking(lack, own_call)
    return _Found(proof, rule, witness, taken, (taken.event_id, newest.event_id), own_call)


async def _find_newest(
    rule: EvidenceRule, witness: Contract, action: PlannedAction, store: AuditStore
) -> Accepted | Lack:
    """Return the answer about the subject that was observed last, by the time that it bears.

    Of several of one time it is the one that was recorded last. What cannot be read may have been
    observed last, and may say otherwise. Whatever clock a gate has, it accepts nothing that was
    observed further ahead of it than the contract says: so what was recorded before that cannot
    have been observed after the newest one, and is not looked at.
    """
    now, ahead = action.clock.now(), _ahead(witness)
    query = AcceptedQuery(
        tool=rule.tool,
        caller=action.caller,
        contract_digest=witness.fingerprints.digest,
        since=now - timedelta(seconds=rule.max_age_s + ahead / NANOS),
        after=action.after,
    )
    newest: Accepted | None = None
    seen, hidden = -math.inf, None
    otherwise = Lack.NOTHING_RECORDED
    for _ in range(_MAX_PAGES):
        page = await store.accepted(query, now=now)
        if page.hidden is not None:
            until = instant_of(page.hidden) + ahead
            hidden = until if hidden is None else max(hidden, until)
        for answer in page.answers:
            if not _is_about(answer, rule, action):
                otherwise = Lack.OTHER_SUBJECT
                continue
            observed = _observed(answer, witness)
            if newest is None or observed > seen:
                newest, seen = answer, observed
        if page.next_before is None or instant_of(page.next_before.time) + ahead < seen:
            if hidden is not None and seen <= hidden:
                return Lack.HIDDEN
            return newest or otherwise
        query = replace(query, before=page.next_before)
    return Lack.TOO_MANY


def _ahead(witness: Contract) -> float:
    """Return how many nanoseconds an accepted answer may have been observed ahead of the clock."""
    return 0 if witness.result.fresh is None else witness.result.fresh.max_ahead_s * NANOS


def _find_lack(
    answer: Accepted, rule: EvidenceRule, witness: Contract, action: PlannedAction
) -> Lack | None:
    """Return why ``answer`` is no proof, in the order of Lack; None: it is one."""
    if answer.contract_digest != witness.fingerprints.digest:
        return Lack.OTHER_CONTRACT
    if not _is_about(answer, rule, action):
        return Lack.OTHER_SUBJECT
    states = (is_same(pointer.find(answer.data), wanted) for pointer, wanted in rule.where)
    if not all(states):
        return Lack.OTHER_STATE
    if not _is_recent(answer, rule, witness, action.clock.now()):
        return Lack.TOO_OLD
    return Lack.SPENT if rule.once and answer.spent else None


def _is_about(answer: Accepted, rule: EvidenceRule, action: PlannedAction) -> bool:
    return all(
        is_same(each.data.find(answer.data), each.argument.find(action.arguments))
        for each in rule.bind
        if each.argument is not None
    )


def find_staleness(answer: Accepted | None, contract: Contract, now: datetime) -> str | None:
    """Return why a kept answer may not be given again at ``now`` under ``contract``; None: it may.

    It must have been judged by it: what another version selected is not what this one gives. And
    it must be fresh still, by the contract's own rule.
    """
    if answer is None:
        return "its answer is not kept"
    if answer.contract_digest != contract.fingerprints.digest:
        return "another version of the contract judged its answer"
    fresh = contract.result.fresh
    if fresh is None or _is_within(answer.data, fresh, fresh.max_age_s, now):
        return None
    return "its answer is no longer fresh"


def _is_recent(answer: Accepted, rule: EvidenceRule, witness: Contract, now: datetime) -> bool:
    fresh = witness.result.fresh
    return fresh is not None and _is_within(answer.data, fresh, rule.max_age_s, now)


def _is_within(data: JsonValue, fresh: FreshRule, max_age_s: float, now: datetime) -> bool:
    """Judge the age by the time that the answer itself bears, both edges inclusive."""
    instant = _observed_at(data, fresh)
    if instant is None:
        return False
    return -fresh.max_ahead_s * NANOS <= instant_of(now) - instant <= max_age_s * NANOS


def _observed(answer: Accepted, witness: Contract) -> float:
    """Return when ``answer`` was observed; before everything else where it bears no time."""
    observed = _observed_at(answer.data, witness.result.fresh)
    return -math.inf if observed is None else observed


def _observed_at(data: JsonValue, fresh: FreshRule | None) -> float | None:
    """Return the nanoseconds of the time that the answer itself bears; None where it bears none."""
    observed = None if fresh is None else fresh.at.find(data)
    return parse_rfc3339(observed) if isinstance(observed, str) else None


def _needed(rule: EvidenceRule, witness: Contract | None, action: PlannedAction) -> Needed:
    """Say which tool to call, with those of its arguments that the action's own tell."""
    arguments: dict[str, JsonValue] = {}
    known = {} if witness is None else known_arguments(rule, witness)
    for target, source in known.items():
        value = source.find(action.arguments)
        if len(target.segments) == 1 and value is not NOTHING:
            arguments[target.segments[0]] = cast("JsonValue", value)
    return Needed(tool=rule.tool, arguments=arguments)
