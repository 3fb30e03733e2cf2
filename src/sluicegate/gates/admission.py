"""The last rung before anything runs: quota, and writes whose outcome is still open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sluicegate.contracts.contract import Contract, Effect
from sluicegate.gates.authorizing import Permitted
from sluicegate.gates.failures import is_failure, text_of
from sluicegate.gates.ports import AuditStore, AuditUnavailable, Quota
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """A call that may run now."""

    permitted: Permitted

    def decided_anew(self, permitted: Permitted) -> Admitted:
        """Return this admission under a newer decision about the same call (ARG-5)."""
        return Admitted(permitted=permitted)


async def admit(
    permitted: Permitted,
    contract: Contract,
    caller: Caller,
    *,
    request_id: RequestId,
    store: AuditStore,
    quota: Quota | None,
    running: Collection[str] = (),
) -> Admitted | Rejected:
    """Count the attempt.

    A write that is open is refused by the commit of its intent (RET-2); where attempts are counted
    it is refused here already, so that it costs nothing. ``running`` are the calls of this gate.
    Rejects with QUOTA_EXCEEDED, QUOTA_UNAVAILABLE, IN_PROGRESS, OUTCOME_UNKNOWN,
    AUDIT_UNAVAILABLE.
    """
    if quota is not None:
        if contract.effect is not Effect.READ:
            try:
                open_as = await store.find_open_call(
                    tool=contract.tool,
                    caller=caller,
                    arguments=permitted.prepared.arguments,
                    but=request_id,
                )
            except AuditUnavailable as error:
                return Rejected(
                    stage=Stage.AUDIT, code=Code.AUDIT_UNAVAILABLE, engine_message=str(error)
                )
            if open_as is not None:
                return refuse_open(open_as, running)
        try:
            granted = await quota.spend(caller=caller, tool=contract.tool)
        except BaseException as error:  # a store that fails denies (ACC-3)
            if not is_failure(error):
                raise
            return Rejected(
                stage=Stage.ADMIT, code=Code.QUOTA_UNAVAILABLE, engine_message=text_of(error)
            )
        if granted is not True:
            return Rejected(stage=Stage.ADMIT, code=Code.QUOTA_EXCEEDED)
    return Admitted(permitted=permitted)


def refuse_open(request_id: str, running: Collection[str]) -> Rejected:
    """Return the refusal of a write that is open as ``request_id``.

    IN_PROGRESS where a call of this gate still runs (ACC-4). Whether one of another process runs or
    was left by a crash cannot be told, so that is OUTCOME_UNKNOWN.
    """
    if request_id in running:
        return Rejected(stage=Stage.ADMIT, code=Code.IN_PROGRESS)
    # The rung is admit, the question is whether to send again: SPEC 15 calls that retry.
    return Rejected(stage=Stage.RETRY, code=Code.OUTCOME_UNKNOWN)
