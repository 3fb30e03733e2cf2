"""The public API as a type checker sees it; mypy --strict reads this file, nothing runs it.

Each ``type: ignore`` stands where skipping a rung must not type-check: an unused one is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_type

from sluicegate import Answer, BlockingGate, Caller, Failure, Gate, Refused, Success
from sluicegate.checks.bounds import BoundedAnswer
from sluicegate.checks.conformance import conform
from sluicegate.checks.meaning import Vouching, vouch
from sluicegate.checks.parsing import ParsedAnswer, ParseRule, parse
from sluicegate.checks.selection import Selected, Selector, select
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.gates.authorizing import Permitted
from sluicegate.gates.outstanding import Outstanding, PendingCall
from sluicegate.gates.recording import Subject
from sluicegate.gates.serving import Line
from sluicegate.values.instants import EPOCH
from sluicegate.values.json import JsonValue
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request


@dataclass
class JobStatus:
    state: str


async def answers(gate: Gate, caller: Caller) -> None:
    plain = await gate.call("job_status", "{}", caller=caller)
    assert_type(plain, Answer[JsonValue])
    typed = await gate.call("job_status", "{}", caller=caller, as_=JobStatus)
    assert_type(typed, Answer[JobStatus])
    assert_type(typed.typed, JobStatus | None)
    assert_type(plain.envelope, Success | Failure | Refused)


def blocking(gate: BlockingGate, caller: Caller) -> None:
    assert_type(gate.call("job_status", "{}", caller=caller), Answer[JsonValue])
    assert_type(gate.call_as(JobStatus, "job_status", "{}", caller=caller), Answer[JobStatus])


def skipped_rungs(
    raw: bytes,
    bounded: BoundedAnswer,
    parsed: ParsedAnswer,
    schema: CompiledSchema,
    vouching: Vouching,
    request: Request,
    selector: Selector,
    rule: ParseRule,
) -> None:
    parse(raw, rule)  # type: ignore[call-overload]  # not bounded, not authentic
    parse(bounded, rule)  # type: ignore[call-overload]  # not authentic
    conform(parsed, schema, None)  # type: ignore[call-overload]  # not unwrapped, not narrowed
    select(parsed, selector)  # type: ignore[arg-type]  # not conforming, not vouched
    vouch(parsed, parsed, raw, vouching, request, now=EPOCH)  # type: ignore[arg-type]


def unhandled_refusal(judged: Selected | Rejected) -> JsonValue:
    return judged[0]  # type: ignore[index]


def outstanding_before_admission(line: Line, subject: Subject, permitted: Permitted) -> Outstanding:
    call = PendingCall(line=line, subject=subject, admitted=permitted, deadline=9.0)  # type: ignore[arg-type]
    return Outstanding(_gate=None, _call=call)
