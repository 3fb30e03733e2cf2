"""Answers of calls that have no course: a tool that is not served, and what is unexpected."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from sluicegate.gates.answers import Answer
from sluicegate.gates.failures import is_failure
from sluicegate.gates.means import Means
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.recording import Subject, record_refusal
from sluicegate.gates.refusing import refuse
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.names import show_name
from sluicegate.values.rejections import Rejected

R = TypeVar("R")

_LOG: Final = logging.getLogger("sluicegate")

UNKNOWN: Final = "unknown"
"""The constant that stands for every tool that does not exist (ENV-1)."""


async def guard(
    means: Means, subject: Subject, work: Callable[[], Awaitable[R]]
) -> R | Answer[Any]:
    """Do ``work``; what is unexpected outside the course of a call, such as a clock that fails,
    ends as INTERNAL, recorded where possible (RES-9)."""
    with means.observer.watch(subject) as watch:
        try:
            result: R | Answer[Any] = await work()
        except BaseException as error:
            if not is_failure(error):
                raise
            # Misuse was said before: what a port raises here is its failure, whatever its type.
            _LOG.error("call %s: unexpected %s", subject.request_id, type(error).__name__)
            result = await _refuse_unexpected(means, subject)
        watch.answered(result.envelope if isinstance(result, Answer) else None)
        return result


async def _refuse_unexpected(means: Means, subject: Subject) -> Answer[Any]:
    rejected = Rejected(stage=Stage.INTERNAL, code=Code.INTERNAL)
    refused = refuse(rejected, tool=subject.tool, request_id=subject.request_id)
    try:
        now = means.clock.now()
        event = record_refusal(subject, rejected, refused, time=now, kept=())
        await means.store.record([event])
    except BaseException as failed:
        if not is_failure(failed):
            raise
        # The clock or the store itself may be what failed.
        _LOG.error("call %s: no record: %s", subject.request_id, type(failed).__name__)
    return Answer(envelope=refused)


async def refuse_unknown(means: Means, subject: Subject, tool: str, why: str) -> Answer[Any]:
    """Refuse the call of a tool that is not served, and record why."""
    rejected = Rejected.because(
        Stage.REGISTER, Finding(code=Code.UNKNOWN_TOOL, hint=f"{show_name(tool)}: {why}")
    )
    refused = refuse(rejected, tool=UNKNOWN, request_id=subject.request_id)
    event = record_refusal(subject, rejected, refused, time=means.clock.now(), kept=())
    try:
        await means.store.record([event])
    except AuditUnavailable as error:
        _LOG.error("call %s: no record: %s", subject.request_id, error)
        closed = Rejected(stage=Stage.AUDIT, code=Code.AUDIT_UNAVAILABLE)
        refused = refuse(closed, tool=UNKNOWN, request_id=subject.request_id)
    return Answer(envelope=refused)
