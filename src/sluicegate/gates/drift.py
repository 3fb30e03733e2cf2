"""When the owner of a contract is told, and what: never a value (AUD-6)."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from sluicegate.checks.delivery import IDENTITY
from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import Contract
from sluicegate.gates.ports import Notice
from sluicegate.values.codes import CODES, Actor, Code, Stage
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import RequestId

_NOT_DRIFT: Final = frozenset({Stage.FETCH, Stage.INTERNAL, Stage.AUDIT})


def notice_of(
    judged: Selected | Rejected, contract: Contract, *, request_id: RequestId, time: datetime
) -> Notice | None:
    """Return the notice for a refused answer or a member that is new; None where nothing drifted.

    A transport failure is the operator's affair; a wrong status or media type is the owner's, and
    so is an upstream that does not prove who it is: its contract says what the proof is.
    """
    says = ""
    if not isinstance(judged, Rejected):
        *_, notes = judged
        if not notes:
            return None
        code, stage, findings = Code.UPSTREAM_NEW_MEMBER, Stage.NARROW, notes
    elif judged.mapped_code is not None:
        return None  # an answer that the contract foresees
    elif (impostor := _find_impostor(judged)) is not None:
        code, stage, findings, says = judged.code, judged.stage, judged.findings, impostor
    elif judged.stage in _NOT_DRIFT and CODES[judged.code].actor is not Actor.OWNER:
        return None
    else:
        code, stage, findings = judged.code, judged.stage, judged.findings
    return Notice(
        owner=contract.owner,
        tool=contract.tool,
        contract_version=contract.version,
        code=str(code),
        stage=str(stage),
        request_id=request_id,
        time=time,
        findings=findings,
        says=says,
    )


def _find_impostor(rejected: Rejected) -> str | None:
    """Say how the upstream failed to prove who it is; None where it did not fail at that."""
    for finding in rejected.findings:
        if finding.keyword == IDENTITY and rejected.stage is Stage.FETCH:
            return finding.hint
    return None
