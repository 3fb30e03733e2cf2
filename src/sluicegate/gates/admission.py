"""The last rung before anything runs: key, evidence and quota (ARG-7).

What can change under two callers at once is not judged here: it becomes the terms of the intent,
which the store judges in the intent's own commit. Attempts that are counted elsewhere, in this
process or in Redis, are spent here, before the intent: one whose intent is not recorded then stays
spent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sluicegate.contracts.contract import Contract, Effect, QuotaRule
from sluicegate.gates.authorizing import Permitted
from sluicegate.gates.evidence import PlannedAction, Proven, Witnesses, prove
from sluicegate.gates.failures import is_failure, text_of
from sluicegate.gates.keys import derived_key
from sluicegate.gates.means import Means
from sluicegate.gates.record_queries import CallQuery
from sluicegate.gates.recording import Subject
from sluicegate.gates.terms import Allowance, Reservation, TermRefused, Terms
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.digests import digest_of_json
from sluicegate.values.json import JsonValue
from sluicegate.values.rejections import Rejected


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A call that may run once its intent is recorded under ``terms``.

    ``key`` is the idempotency key of the call; ``proven`` what it rests on.
    """

    permitted: Permitted
    terms: Terms
    key: str
    proven: Proven

    def decided_anew(self, permitted: Permitted) -> Admitted:
        """Return this admission under a newer decision about the same call (ARG-5)."""
        return replace(self, permitted=permitted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When an attempt is admitted, how long its call may run on, and how the last attempt ended.

    ``after`` is the event id of that outcome; None for the first attempt.
    """

    now: datetime
    runs_s: float
    after: str | None


async def admit(
    permitted: Permitted,
    contract: Contract,
    subject: Subject,
    moment: Moment,
    *,
    means: Means,
    witnesses: Witnesses,
) -> Admitted | Rejected:
    """Find what the call rests on, and say under which terms its intent may be recorded.

    Rejects with KEY_MISSING, and with EVIDENCE_REQUIRED, also for a waiver that has ended; where
    attempts are counted elsewhere than in the record, with QUOTA_EXCEEDED and QUOTA_UNAVAILABLE.
    Raises: TermRefused and AlreadyDone for a key that is held; TermRefused for a write that is
    open, where an attempt would be spent on it before the record could say so; AuditUnavailable.
    """
    arguments = permitted.prepared.arguments
    waiver = contract.evidence_waiver
    if waiver is not None and waiver.has_ended(moment.now.astimezone(UTC).date()):
        told = {"evidence_waiver": f"ended with {waiver.until}"}
        return Rejected(stage=Stage.ADMIT, code=Code.EVIDENCE_REQUIRED, told=told)
    rule = contract.idempotency
    if rule is not None and rule.key == "host" and not subject.call_id:
        return Rejected(stage=Stage.ADMIT, code=Code.KEY_MISSING)
    key = (
        derived_key(subject.caller, subject.tool, arguments)
        if rule is not None and rule.key == "derived"
        else subject.key
    )
    reservation = None if rule is None else _reserve(key, rule.keep_s, moment)
    query = _query(contract, subject, permitted)
    if reservation is not None and (contract.evidence or means.quota is not None):
        # What was done is given again: it asks for no evidence anew, and costs no attempt.
        await means.store.demand_key(reservation, query, now=moment.now)
    action = PlannedAction(
        caller=subject.caller, arguments=arguments, clock=means.clock, after=moment.after
    )
    proven = await prove(contract.evidence, action, witnesses, means.store)
    if isinstance(proven, Rejected):
        if reservation is not None:
            # The same call may have begun meanwhile, and be what made the proof none.
            await means.store.demand_key(reservation, query, now=moment.now)
        return proven
    allowances = tuple(_allowances(contract, means.quotas, subject.caller))
    if means.quota is not None and allowances:
        refused = await _count_elsewhere(permitted, contract, subject, means, allowances)
        if refused is not None:
            return refused
        allowances = ()
    terms = Terms(
        unless_open=contract.effect is not Effect.READ,
        allowances=allowances,
        reservation=reservation,
        evidence=proven.spent,
    )
    return Admitted(permitted=permitted, terms=terms, key=key, proven=proven)


def refuse_term(
    refused: TermRefused, proven: Proven, *, asker: str, running: Collection[str]
) -> Rejected:
    """Return the refusal of an intent whose terms did not hold.

    A write that is open is IN_PROGRESS where a call of this gate still runs (ACC-4); not where it
    is that of ``asker`` itself, of which an operator said meanwhile what became of it. Whether one
    of another process runs or was left by a crash cannot be told without a reservation, so that is
    OUTCOME_UNKNOWN.
    """
    if refused.code is Code.EVIDENCE_REQUIRED:
        return Rejected(
            stage=Stage.ADMIT,
            code=refused.code,
            needed=proven.needed,
            told=proven.tell_spent(refused.spent),
        )
    if refused.allowance is not None:
        told = _tell_quotas([refused.allowance], refused.frees)
        return Rejected(stage=Stage.ADMIT, code=refused.code, told=told)
    other = "it came with other arguments" if refused.code is Code.KEY_REUSED else ""
    held = tell_holder(refused.request_id, other)
    if refused.code is not Code.OUTCOME_UNKNOWN:
        return Rejected(stage=Stage.ADMIT, code=refused.code, told=held)
    if refused.request_id in running and refused.request_id != asker:
        return Rejected(stage=Stage.ADMIT, code=Code.IN_PROGRESS, told=held)
    # The rung is admit, the question is whether to send again: SPEC 15 calls that retry.
    return Rejected(stage=Stage.RETRY, code=Code.OUTCOME_UNKNOWN, told=held)


def tell_holder(request_id: str, why: str = "") -> Mapping[str, JsonValue]:
    """Return what the record says of the call that stands in the way of this one, and how."""
    return {"held_by": request_id, **({"because": why} if why else {})}


def _allowances(
    contract: Contract, folder: Sequence[QuotaRule], caller: Caller
) -> Iterator[Allowance]:
    """Name what each quota counts: a rule of the folder over all tools unless it says ``tool``."""
    for rule in contract.quotas:
        yield _allow(rule, contract.tool, caller)
    for rule in folder:
        yield _allow(rule, contract.tool if "tool" in rule.per else None, caller)


def _allow(rule: QuotaRule, tool: str | None, caller: Caller) -> Allowance:
    # By what is counted alone: a quota that is changed goes on where it stood.
    counted = [
        *("quota", tool),
        [caller.tenant] if "tenant" in rule.per else None,
        [caller.tenant, caller.subject] if "caller" in rule.per else None,
    ]
    key = digest_of_json(counted).removeprefix("sha256:")
    per = sorted({*rule.per, *(() if tool is None else ("tool",))})
    return Allowance(key=key, count=rule.count, window_s=rule.window_s, per=tuple(per))


def _tell_quotas(
    allowances: Sequence[Allowance], frees: datetime | None = None
) -> Mapping[str, JsonValue]:
    """Return what the record says: the quota that is spent, or several of which one is."""
    told: list[JsonValue] = []
    for allowance in allowances:
        quota: dict[str, JsonValue] = {
            "per": list(allowance.per),
            "count": allowance.count,
            "window_s": allowance.window_s,
        }
        if frees is not None:
            quota["frees"] = f"{frees.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        told.append(quota)
    return {"quotas": told}


def _reserve(key: str, keep_s: float, moment: Moment) -> Reservation:
    return Reservation(
        key=key,
        runs_until=moment.now + timedelta(seconds=moment.runs_s),
        kept_until=moment.now + timedelta(seconds=max(moment.runs_s, keep_s)),
    )


def _query(contract: Contract, subject: Subject, permitted: Permitted) -> CallQuery:
    return CallQuery(
        request_id=subject.request_id,
        tool=contract.tool,
        caller=subject.caller,
        arguments=permitted.prepared.arguments,
    )


async def _count_elsewhere(
    permitted: Permitted,
    contract: Contract,
    subject: Subject,
    means: Means,
    allowances: Sequence[Allowance],
) -> Rejected | None:
    if contract.effect is not Effect.READ:
        open_as = await means.store.find_open_call(_query(contract, subject, permitted))
        if open_as is not None:
            raise TermRefused(Code.OUTCOME_UNKNOWN, open_as)
    try:
        granted = await means.quota.spend(allowances) if means.quota is not None else False
    except BaseException as error:  # a store that fails denies (ACC-3)
        if not is_failure(error):
            raise
        return Rejected(
            stage=Stage.ADMIT, code=Code.QUOTA_UNAVAILABLE, engine_message=text_of(error)
        )
    if granted is True:
        return None
    return Rejected(stage=Stage.ADMIT, code=Code.QUOTA_EXCEEDED, told=_tell_quotas(allowances))
