"""One document against one bare schema, through the same rungs as a served call or answer."""

from __future__ import annotations

from typing import Final

from sluicegate.checks.authentication import accept_unsigned
from sluicegate.checks.bounds import bound_answer, bound_arguments
from sluicegate.checks.conformance import conform
from sluicegate.checks.delivery import accept_delivery
from sluicegate.checks.meaning import Expectations, Vouching, prepare_vouching, vouch
from sluicegate.checks.narrowing import narrow
from sluicegate.checks.parsing import ParseRule, parse
from sluicegate.checks.unwrapping import unwrap
from sluicegate.contracts.contract import BindRule, UpstreamPart
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.guards import shape_guard
from sluicegate.contracts.schemas.registration import SchemaFault, register
from sluicegate.gates.verdicts import Question, Verdict
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Stage
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.findings import Finding
from sluicegate.values.instants import EPOCH
from sluicegate.values.pointers import Pointer
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

_UPSTREAM: Final = UpstreamPart()
_NOBODY: Final = Caller(subject="judge")


def judge(raw: bytes, question: Question) -> Verdict:
    """Return the verdict on ``raw``; never raises for what it or the schema holds.

    Every rung is climbed in its exact form. A schema that does not register gives stage
    ``register``. With a ``fresh`` rule and no ``now`` the time cannot be judged, which is misuse.
    Raises: ValueError in that case.
    """
    digest = digest_of_bytes(raw)
    if question.fresh is not None and question.now is None:
        raise ValueError("judging freshness needs `now`: give the time to judge by")
    schema = register(question.schema, side=question.side, strict=question.strict)
    if not isinstance(schema, CompiledSchema):
        findings = tuple(_schema_finding(fault) for fault in schema)
        return Verdict(
            accepted=False,
            stage=Stage.REGISTER,
            code=findings[0].code,
            findings=findings,
            digest=digest,
        )
    if question.side == "arguments":
        outcome = _judge_arguments(raw, question, schema)
    else:
        outcome = _judge_result(raw, question, schema)
    if outcome is None:
        return Verdict(accepted=True, stage=None, code=None, findings=(), digest=digest)
    return Verdict(
        accepted=False,
        stage=outcome.stage,
        code=outcome.code,
        findings=outcome.findings or (Finding(code=outcome.code),),
        digest=digest,
    )


def _judge_arguments(raw: bytes, question: Question, schema: CompiledSchema) -> Rejected | None:
    bounded = bound_arguments(raw, question.limits, True)
    if isinstance(bounded, Rejected):
        return bounded
    parsed = parse(bounded, _parse_rule(question))
    if isinstance(parsed, Rejected):
        return parsed
    conforming = conform(parsed, schema, "arguments")
    return conforming if isinstance(conforming, Rejected) else None


def _judge_result(raw: bytes, question: Question, schema: CompiledSchema) -> Rejected | None:
    receipt = Receipt(adapter="judge", adapter_version="1", endpoint="", raw=raw)
    request = _request(question)
    delivered = accept_delivery(receipt, _UPSTREAM)
    if isinstance(delivered, Rejected):
        return delivered
    bounded = bound_answer(delivered, question.limits, True)
    if isinstance(bounded, Rejected):
        return bounded
    authentic = accept_unsigned(bounded)
    parsed = parse(authentic, _parse_rule(question))
    if isinstance(parsed, Rejected):
        return parsed
    unwrapped = unwrap(parsed, _UPSTREAM, request, {})
    if isinstance(unwrapped, Rejected):
        return unwrapped
    narrowed = narrow(unwrapped, None)
    if isinstance(narrowed, Rejected):
        return narrowed
    conforming = conform(narrowed, schema, "result")
    if isinstance(conforming, Rejected):
        return conforming
    now = EPOCH if question.now is None else question.now
    vouched = vouch(conforming, parsed, authentic, _vouching(question), request, now=now)
    return vouched if isinstance(vouched, Rejected) else None


def _parse_rule(question: Question) -> ParseRule:
    depth = question.limits.max_depth
    return ParseRule(depth, shape_guard(depth), question.integers, False)


def _request(question: Question) -> Request:
    """The bound values stand in for arguments: each at its own pointer, numbered."""
    values = {str(index): value for index, value in enumerate(question.bind.values())}
    return Request(
        tool="",
        request_id=RequestId(question.request_id or ""),
        arguments=values,
        caller=_NOBODY,
    )


def _vouching(question: Question) -> Vouching:
    expected = Expectations(
        bind=tuple(
            BindRule(data=pointer, argument=Pointer((str(index),)))
            for index, pointer in enumerate(question.bind)
        ),
        fresh=question.fresh,
        checks=(),
        free_text=(),
        envelope=False,
        tool_at=None,
        request_id_at=None if question.request_id is None else Pointer(("request_id",)),
        dated=False,
    )
    return prepare_vouching(expected, quick=False)


def _schema_finding(fault: SchemaFault) -> Finding:
    return Finding(
        code=fault.code,
        pointer="",
        schema_pointer=fault.pointer,
        keyword=fault.keyword,
        hint=f"{fault.message} {fault.mend}",
    )
