"""The last rung before anything runs: quota, and writes whose outcome is still open."""

from __future__ import annotations

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
) -> Admitted | Rejected:
    """Count the attempt, and refuse a write that may already have been made (RET-2).

    Rejects with QUOTA_EXCEEDED, QUOTA_UNAVAILABLE, OUTCOME_UNKNOWN, AUDIT_UNAVAILABLE.
    """
    if contract.effect is not Effect.READ:
        try:
            unresolved = await store.is_unresolved(
                tool=contract.tool,
                caller=caller,
                arguments=permitted.prepared.arguments,
                but=request_id,
            )
        except AuditUnavailable as error:
            return Rejected(
                stage=Stage.AUDIT, code=Code.AUDIT_UNAVAILABLE, engine_message=str(error)
            )
        if unresolved:
            # The rung is admit, the question is whether to send again: SPEC 15 calls that retry.
            return Rejected(stage=Stage.RETRY, code=Code.OUTCOME_UNKNOWN)
    if quota is not None:
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
