"""The rung that asks who made the bytes, and when (SPEC RES-6).

A contract without a ``signature`` takes the bytes as they came. With one, only verified bytes go
on, only signed time counts, and what was seen before is refused. Keys, clock and the memory of
what was seen come in as parameters.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NewType, TypeAlias, cast

from sluicegate.checks.authentication_hmac import verify_webhook
from sluicegate.checks.authentication_keys import PublicKeys, Secrets, TrustedKeys, say_absent
from sluicegate.checks.authentication_signed import Signed, refuse
from sluicegate.checks.bounds import BoundedAnswer, find_excess, too_deep
from sluicegate.contracts.contract import JwsSignature, Rfc9421Signature, Signature
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.instants import instant_of, nanos_of
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

Authentic = NewType("Authentic", bytes)

Verify: TypeAlias = Callable[[bytes, Receipt, Request, TrustedKeys], Signed | Rejected]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What a signature is judged by: the keys, and whether this very answer was seen before."""

    keys: TrustedKeys
    seen: bool = False


NOBODY: Final = Trust(keys=PublicKeys())
"""Where nobody's keys are known, nothing signed is accepted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureCheck:
    """The rule of one contract, ready to use; ages are whole nanoseconds, edges included."""

    verify: Verify
    max_age: int
    max_ahead: int
    max_age_s: float
    max_ahead_s: float
    max_depth: int


def accept_unsigned(bounded: BoundedAnswer) -> Authentic:
    """Return the bytes of a contract that demands no signature; rejects nothing."""
    minted: Any = bounded
    authentic: Authentic = minted
    return authentic


def authenticate(
    bounded: BoundedAnswer,
    receipt: Receipt,
    check: SignatureCheck,
    trust: Trust,
    request: Request,
    now: datetime,
) -> Authentic | Rejected:
    """Return the verified payload bytes of a signed answer.

    Rejects, at stage authenticate: SIGNATURE_MISSING, BAD_SIGNATURE, WRONG_ISSUER,
    SIGNATURE_WITHOUT_TIME, REPLAYED; at stage vouch STALE and FROM_FUTURE by the signature's own
    time, both edges included; at stage bound TOO_DEEP for the payload inside a signed body.
    Source: SPEC RES-6.
    """
    signed = identify(bounded, receipt, check, trust.keys, request, now)
    if type(signed) is Rejected:
        return signed
    if trust.seen:
        return refuse(Code.REPLAYED, "an answer with this signed id was received before")
    if signed.payload is not bounded:
        offset = find_excess(signed.payload, check.max_depth)
        if offset is not None:
            return too_deep(signed.payload, offset, check.max_depth)
    minted: Any = signed.payload
    authentic: Authentic = minted
    return authentic


def identify(
    bounded: BoundedAnswer,
    receipt: Receipt,
    check: SignatureCheck,
    keys: TrustedKeys,
    request: Request,
    now: datetime,
) -> Signed | Rejected:
    """Verify as ``authenticate`` does, and say which answer it is, before it is known as seen."""
    signed = check.verify(bounded, receipt, request, keys)
    if type(signed) is Rejected:
        return signed
    return _judge_time(signed, check, now) or signed


def prepare_authentication(rule: Signature, max_depth: int) -> SignatureCheck:
    """Return the check of ``rule``. Raises: ConfigurationError where its library is absent."""
    return SignatureCheck(
        verify=_prepare_verify(rule),
        max_age=nanos_of(rule.max_age_s),
        max_ahead=nanos_of(rule.max_ahead_s),
        max_age_s=rule.max_age_s,
        max_ahead_s=rule.max_ahead_s,
        max_depth=max_depth,
    )


def _prepare_verify(rule: Signature) -> Verify:
    if isinstance(rule, JwsSignature):
        verify_jws = _import("authentication_jws").verify_jws

        def verify(
            raw: bytes, receipt: Receipt, request: Request, keys: TrustedKeys
        ) -> Signed | Rejected:
            if not isinstance(keys, PublicKeys):
                return refuse(Code.BAD_SIGNATURE, "no public key is known")
            return cast("Signed | Rejected", verify_jws(raw, receipt, rule, keys))

        return verify
    if isinstance(rule, Rfc9421Signature):
        verify_message = _import("authentication_rfc9421").verify_message

        def verify_covered(
            raw: bytes, receipt: Receipt, request: Request, keys: TrustedKeys
        ) -> Signed | Rejected:
            if not isinstance(keys, PublicKeys):
                return refuse(Code.BAD_SIGNATURE, "no public key is known")
            return cast("Signed | Rejected", verify_message(raw, receipt, rule, keys, request))

        return verify_covered

    def verify_shared(
        raw: bytes, receipt: Receipt, request: Request, keys: TrustedKeys
    ) -> Signed | Rejected:
        if not isinstance(keys, Secrets):
            return refuse(Code.BAD_SIGNATURE, "no shared secret is known")
        return verify_webhook(raw, receipt, keys)

    return verify_shared


def _import(module: str) -> Any:
    """Import a form of signature when a contract asks for it: its library is an extra."""
    try:
        return importlib.import_module(f"sluicegate.checks.{module}")
    except ImportError as error:
        raise say_absent(error) from error


def _judge_time(signed: Signed, check: SignatureCheck, now: datetime) -> Rejected | None:
    """The signature's own time, both edges included; a signed end is none of them (RFC 7519)."""
    age = instant_of(now) - signed.signed_at
    if age > check.max_age:
        return _refuse_time(Code.STALE, f"signed at most {check.max_age_s:g} s ago")
    if age < -check.max_ahead:
        return _refuse_time(Code.FROM_FUTURE, f"signed at most {check.max_ahead_s:g} s ahead")
    if signed.expires_at is not None and instant_of(now) >= signed.expires_at:
        return _refuse_time(Code.STALE, "before the end that the signature itself sets")
    return None


def _refuse_time(code: Code, limit: str) -> Rejected:
    return Rejected.because(
        Stage.VOUCH,
        Finding(
            code=code,
            expected=limit,
            limit=limit,
            hint="the time that the signature covers is judged, not one in the data",
        ),
    )
