"""The result ladder: tool → model. The order of its rungs lives here.

    fetch → bound → authenticate → parse → unwrap → narrow → conform → vouch → select

The quick climb guards depth and finiteness only where the schema does not prove them, and
explains nothing. On
any refusal every rung is climbed again, in order, with each check spelled out, so that stage and
code never depend on the shortcut (SPEC section 3). Source: SPEC section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sluicegate.checks.authentication import (
    NOBODY,
    Trust,
    accept_unsigned,
    authenticate,
    identify,
    prepare_authentication,
)
from sluicegate.checks.authentication_keys import TrustedKeys
from sluicegate.checks.authentication_signed import Signed
from sluicegate.checks.bounds import bound_answer
from sluicegate.checks.conformance import conform
from sluicegate.checks.delivery import accept_delivery
from sluicegate.checks.meaning import (
    Expectations,
    ResultCheck,
    Vouching,
    prepare_vouching,
    vouch,
)
from sluicegate.checks.narrowing import find_new_members, narrow
from sluicegate.checks.parsing import ParseRule, parse
from sluicegate.checks.selection import Selected, compile_selector, select
from sluicegate.checks.unwrapping import ENVELOPE_STRINGS, unwrap
from sluicegate.contracts.contract import Contract
from sluicegate.contracts.schemas.compiled import Predicate
from sluicegate.contracts.schemas.guards import residual_guard, shape_guard
from sluicegate.contracts.schemas.reach import asserts_format
from sluicegate.contracts.schemas.string_counts import StringCount, compile_string_count
from sluicegate.gates.rigour import DISAGREEMENT, Rigour
from sluicegate.values.codes import Stage
from sluicegate.values.findings import Finding
from sluicegate.values.instants import Instant
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRigour(Rigour):
    """How the result's climb is made: also how an answer is vouched for."""

    vouching: Vouching


class ResultLadder:
    """The nine rungs of one contract, with everything precomputed that can be."""

    __slots__ = (
        "_errors",
        "_exact",
        "_limits",
        "_quick",
        "_schema",
        "_selector",
        "_signature",
        "_upstream",
    )

    def __init__(self, contract: Contract, checks: Sequence[ResultCheck] = ()) -> None:
        result, upstream, limits = contract.result, contract.upstream, contract.limits
        guard = shape_guard(limits.max_depth)
        text = (
            upstream.carrier == "bare"
            and upstream.text is not None
            and upstream.text.kind != "json"
        )
        exact = ParseRule(limits.max_depth, guard, result.integers, text)
        # The proof covers the result schema only: a wide answer that is mapped, or one inside an
        # MCP result, is guarded whole (facts: prototype 1). An envelope adds one level and is
        # held to its closed shape by ``unwrap``.
        schema = result.schema
        left: Predicate | None = guard
        strings: StringCount | None = None
        if upstream.map is None and upstream.carrier != "mcp":
            enveloped = upstream.carrier == "envelope"
            member = "data" if enveloped else None
            left = residual_guard(schema.document, limits.max_depth, member=member)
            strings = compile_string_count(
                schema.document, inside=member, beside=ENVELOPE_STRINGS if enveloped else 0
            )
        quick = ParseRule(limits.max_depth, left, result.integers, text, strings, explain=False)
        self._upstream, self._limits, self._schema = upstream, limits, schema
        self._errors = contract.errors
        self._selector = compile_selector(result)
        self._signature = (
            None
            if upstream.signature is None
            else prepare_authentication(upstream.signature, limits.max_depth)
        )
        expected = Expectations(
            bind=result.bind,
            fresh=result.fresh,
            checks=tuple(checks),
            free_text=tuple(result.untrusted_text.values()),
            envelope=upstream.carrier == "envelope",
            tool_at=None,
            request_id_at=None,
            dated=result.fresh is not None
            and asserts_format(schema.document, result.fresh.at, "date-time"),
        )
        self._quick = ResultRigour(
            parse=quick,
            count_nesting=False,
            explain=None,
            vouching=prepare_vouching(expected, quick=True),
        )
        self._exact = ResultRigour(
            parse=exact,
            count_nesting=not text,
            explain="result",
            vouching=prepare_vouching(expected, quick=False),
        )

    def climb(
        self, receipt: Receipt, request: Request, now: datetime, trust: Trust = NOBODY
    ) -> Selected | Rejected:
        """Judge one receipt as the answer to ``request`` at ``now``.

        ``trust`` is what a signature is judged by; an unsigned contract needs none. Returns the
        selected fields, or the refusal with its findings. Never raises for what a receipt holds;
        an engine's own exception is a refusal of the rung it happened in.
        """
        outcome = self._climb(receipt, request, now, trust, self._quick)
        if type(outcome) is Rejected:
            explained = self._climb(receipt, request, now, trust, self._exact)
            return explained if type(explained) is Rejected else DISAGREEMENT
        return outcome

    def identify(
        self, receipt: Receipt, request: Request, now: datetime, keys: TrustedKeys
    ) -> Signed | Rejected | None:
        """Climb to the signature alone: which answer it says this is; None: none is demanded.

        A refusal is the one that ``climb`` comes to as well.
        """
        if self._signature is None:
            return None
        delivered = accept_delivery(receipt, self._upstream)
        if type(delivered) is Rejected:
            return delivered
        bounded = bound_answer(delivered, self._limits, True)
        if type(bounded) is Rejected:
            return bounded
        return identify(bounded, receipt, self._signature, keys, request, now)

    def last_moment(self, signed: Signed) -> Instant:
        """Return the last instant at which the window takes ``signed``."""
        assert self._signature is not None  # noqa: S101  (what is signed was identified by it)
        return Instant(signed.signed_at + self._signature.max_age)

    def _climb(
        self,
        receipt: Receipt,
        request: Request,
        now: datetime,
        trust: Trust,
        rigour: ResultRigour,
    ) -> Selected | Rejected:
        upstream = self._upstream
        delivered = accept_delivery(receipt, upstream)
        if type(delivered) is Rejected:
            return delivered
        bounded = bound_answer(delivered, self._limits, rigour.count_nesting)
        if type(bounded) is Rejected:
            return bounded
        signature = self._signature
        if signature is None:
            authentic = accept_unsigned(bounded)
        else:
            proven = authenticate(bounded, receipt, signature, trust, request, now)
            if type(proven) is Rejected:
                return proven
            authentic = proven
        parsed = parse(authentic, rigour.parse)
        if type(parsed) is Rejected:
            return parsed
        unwrapped = unwrap(parsed, upstream, request, self._errors, rigour.parse)
        if type(unwrapped) is Rejected:
            return unwrapped
        new_members: tuple[Finding, ...] = ()
        if upstream.known is not None:
            new_members = find_new_members(unwrapped, upstream.known)
            if new_members and upstream.on_new == "refuse":
                return Rejected.because(Stage.NARROW, *new_members)
        narrowed = narrow(unwrapped, upstream.map)
        if type(narrowed) is Rejected:
            return narrowed
        conforming = conform(narrowed, self._schema, rigour.explain)
        if type(conforming) is Rejected:
            return conforming
        vouched = vouch(conforming, parsed, authentic, rigour.vouching, request, now=now)
        if type(vouched) is Rejected:
            return vouched
        return select(vouched, self._selector, new_members)
