"""From a refusal to what the agent sees of it: a code out of a closed set, and nothing else.

This is one of two functions that look at a ``Rejected``; the other one (recording) writes for the
operator. They share no output type. Source: SPEC ENV-1, ENV-2, section 15.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sluicegate.gates.envelopes import Failure, Needs, Refused
from sluicegate.values.codes import CODES, AgentCode
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import RequestId

_TOLD: Final = frozenset({AgentCode.INVALID_ARGUMENTS, AgentCode.CHECK_FAILED})
_HOPELESS: Final = frozenset({"KEY_MISSING"})


def refuse(rejected: Rejected, *, tool: str, request_id: RequestId) -> Refused:
    """Return the agent's view of a call that did not run."""
    entry = CODES[rejected.code]
    told = entry.before in _TOLD
    retryable = (told and rejected.code not in _HOPELESS) or entry.retryable
    return Refused(
        tool=tool,
        request_id=request_id,
        code=str(entry.before),
        retryable=retryable,
        findings=rejected.findings if told else (),
        needs=None
        if rejected.needed is None
        else Needs(tool=rejected.needed.tool, arguments=rejected.needed.arguments),
    )


def fail(
    rejected: Rejected,
    *,
    tool: str,
    request_id: RequestId,
    errors: Mapping[str, bool],
    outcome_open: bool,
    left_open: bool = False,
) -> Failure:
    """Return the agent's view of a call that ran, or may have.

    ``errors`` are the contract's own codes and whether each may be tried again; ``outcome_open``
    says that this is a write whose effect is not known, ``left_open`` that an attempt before this
    one left it so: then no code of this attempt may tell the agent to try again.
    """
    if outcome_open and left_open:
        return Failure(
            tool=tool,
            request_id=request_id,
            code=str(AgentCode.OUTCOME_UNKNOWN),
            retryable=False,
        )
    if rejected.mapped_code is not None and not outcome_open:
        return Failure(
            tool=tool,
            request_id=request_id,
            code=rejected.mapped_code,
            retryable=errors.get(rejected.mapped_code, True),
        )
    entry = CODES[rejected.code]
    after = entry.after
    if outcome_open and after is AgentCode.UPSTREAM_UNAVAILABLE:
        after = AgentCode.OUTCOME_UNKNOWN
    retryable = after is AgentCode.UPSTREAM_UNAVAILABLE and errors.get(str(after), entry.retryable)
    return Failure(tool=tool, request_id=request_id, code=str(after), retryable=retryable)
