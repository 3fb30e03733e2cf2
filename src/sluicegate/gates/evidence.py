"""What an action rests on: accepted answers, found by the gate itself (EVI-1, EVI-2).

The agent passes no token: whatever it says, the record of this caller is asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol, cast

from sluicegate.checks.meaning_subject import is_same
from sluicegate.contracts.contract import Contract, EvidenceRule, FreshRule
from sluicegate.contracts.evidence import known_arguments
from sluicegate.gates.ports import AuditStore, Clock
from sluicegate.gates.terms import Accepted
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.instants import NANOS, instant_of, parse_rfc3339
from sluicegate.values.json import JsonValue
from sluicegate.values.pointers import NOTHING
from sluicegate.values.rejections import Needed, Rejected

_MAX_PAGES: Final = 50
"""Answers beyond so many pages are too many to look through: none is found then."""


class Witnesses(Protocol):
    """The tools of the set that a call began with, as its caller is served them."""

    def contract_of(self, tool: str) -> Contract | None:
        """Return the contract that judges this caller's calls of ``tool``; None: not served."""

    async def ask(self, tool: str, arguments: Mapping[str, JsonValue]) -> str | None:
        """Call ``tool``; return the request id of an accepted answer, None for any other end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """The answers an action rests on: event ids of all of them, and of those it spends.

    ``needed`` says what to ask for where one of the latter is spent by another meanwhile.
    """

    event_ids: tuple[str, ...] = ()
    spent: tuple[str, ...] = ()
    needed: Needed | None = None


NOTHING_PROVEN: Final = Proven()


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Who wants to act, and with which arguments.

    ``after``: the event id of the last attempt's outcome, and what was asked for before it proves
    nothing any more (EVI-2). The age of an answer is judged when it is there, by ``clock``.
    """

    caller: Caller
    arguments: Mapping[str, object]
    clock: Clock
    after: str | None


@dataclass(frozen=True, slots=True)
class _Found:
    rule: EvidenceRule
    witness: Contract
    answer: Accepted


async def prove(
    rules: Sequence[EvidenceRule], question: Question, witnesses: Witnesses, store: AuditStore
) -> Proven | Rejected:
    """Find an answer for each rule; the newest one that holds is taken.

    What is taken again is asked for first, for that takes time; once all are there, the age of each
    is judged once more. Rejects: EVIDENCE_REQUIRED (stage admit), with the tool to ask and what is
    known of its arguments, where none holds: missing, too old, spent, about another subject, of
    another state, from a cache, judged by another contract, given to another caller. Raises:
    AuditUnavailable.
    """
    found: list[_Found] = []
    for rule in sorted(rules, key=lambda rule: not rule.refetch):
        witness = witnesses.contract_of(rule.tool)
        answer = None if witness is None else await _find(rule, witness, question, witnesses, store)
        if witness is None or answer is None:
            return _refuse(rule, witness, question)
        found.append(_Found(rule, witness, answer))
    now = question.clock.now()
    for each in found:
        if not _is_recent(each.answer, each.rule, each.witness, now):
            return _refuse(each.rule, each.witness, question)
    once = [each for each in found if each.rule.once]
    return Proven(
        event_ids=tuple(dict.fromkeys(each.answer.event_id for each in found)),
        spent=tuple(dict.fromkeys(each.answer.event_id for each in once)),
        needed=_needed(once[0].rule, once[0].witness, question) if once else None,
    )


def _refuse(rule: EvidenceRule, witness: Contract | None, question: Question) -> Rejected:
    needed = _needed(rule, witness, question)
    return Rejected(stage=Stage.ADMIT, code=Code.EVIDENCE_REQUIRED, needed=needed)


async def _find(
    rule: EvidenceRule,
    witness: Contract,
    question: Question,
    witnesses: Witnesses,
    store: AuditStore,
) -> Accepted | None:
    if not rule.refetch:
        async for answer in _candidates(rule, witness, question, store):
            if _holds(answer, rule, witness, question):
                return answer
        return None
    request_id = await witnesses.ask(rule.tool, _needed(rule, witness, question).arguments)
    if request_id is None:
        return None
    taken = await store.answer_of(
        request_id, tool=rule.tool, caller=question.caller, now=question.clock.now()
    )
    return taken if taken is not None and _holds(taken, rule, witness, question) else None


async def _candidates(
    rule: EvidenceRule, witness: Contract, question: Question, store: AuditStore
) -> AsyncIterator[Accepted]:
    """Yield what this caller was told by ``witness`` within the rule's age, newest first."""
    fresh = witness.result.fresh
    ahead_s = 0.0 if fresh is None else fresh.max_ahead_s
    now, before = question.clock.now(), None
    for _ in range(_MAX_PAGES):
        page = await store.accepted(
            tool=rule.tool,
            caller=question.caller,
            contract_digest=witness.fingerprints.digest,
            since=now - timedelta(seconds=rule.max_age_s + ahead_s),
            now=now,
            after=question.after,
            before=before,
        )
        for answer in page.answers:
            yield answer
        before = page.next_before
        if before is None:
            return


def _holds(answer: Accepted, rule: EvidenceRule, witness: Contract, question: Question) -> bool:
    if rule.once and answer.spent:
        return False
    if answer.contract_digest != witness.fingerprints.digest:
        return False
    if not _is_recent(answer, rule, witness, question.clock.now()):
        return False
    subjects = (
        is_same(each.data.find(answer.data), each.argument.find(question.arguments))
        for each in rule.bind
        if each.argument is not None
    )
    states = (is_same(pointer.find(answer.data), wanted) for pointer, wanted in rule.where)
    return all(subjects) and all(states)


def may_be_replayed(answer: Accepted, contract: Contract, now: datetime) -> bool:
    """Whether a kept answer may be given again at ``now`` under ``contract``.

    It must have been judged by it: what another version selected is not what this one gives. And
    it must be fresh still, by the contract's own rule.
    """
    if answer.contract_digest != contract.fingerprints.digest:
        return False
    fresh = contract.result.fresh
    return fresh is None or _is_within(answer.data, fresh, fresh.max_age_s, now)


def _is_recent(answer: Accepted, rule: EvidenceRule, witness: Contract, now: datetime) -> bool:
    fresh = witness.result.fresh
    return fresh is not None and _is_within(answer.data, fresh, rule.max_age_s, now)


def _is_within(data: JsonValue, fresh: FreshRule, max_age_s: float, now: datetime) -> bool:
    """Judge the age by the time that the answer itself bears, both edges inclusive."""
    observed = fresh.at.find(data)
    instant = parse_rfc3339(observed) if isinstance(observed, str) else None
    if instant is None:
        return False
    return -fresh.max_ahead_s * NANOS <= instant_of(now) - instant <= max_age_s * NANOS


def _needed(rule: EvidenceRule, witness: Contract | None, question: Question) -> Needed:
    """Say which tool to call, with those of its arguments that the action's own tell."""
    arguments: dict[str, JsonValue] = {}
    known = {} if witness is None else known_arguments(rule, witness)
    for target, source in known.items():
        value = source.find(question.arguments)
        if len(target.segments) == 1 and value is not NOTHING:
            arguments[target.segments[0]] = cast("JsonValue", value)
    return Needed(tool=rule.tool, arguments=arguments)
