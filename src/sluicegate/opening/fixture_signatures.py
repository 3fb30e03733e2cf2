"""Fixtures of a signed contract: signed here, with a key that nothing else knows (SPEC LIF-2).

A fixture holds the payload, as the provider would sign it. A key is made for the purpose, the
real rung verifies with it, and a sidecar can ask for each fault that the rung must see. So no
secret is needed to check a folder. What brings a signature of its own is judged by the real keys.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from sluicegate.checks.authentication import Trust
from sluicegate.checks.authentication_keys import ALGORITHMS, Secrets, read_jwks
from sluicegate.checks.authentication_signed import COMPACT
from sluicegate.contracts.contract import (
    JwsSignature,
    Rfc9421Signature,
    Signature,
    WebhookSignature,
)
from sluicegate.gates.ports import SigningKeys
from sluicegate.values.json import JsonValue, canonical_text
from sluicegate.values.receipts import Receipt
from sluicegate.values.requests import Request

HOWS: Final = (
    *("good", "missing", "stranger", "altered", "without_time", "other_issuer"),
    *("old", "ahead", "replayed"),
)
"""What a sidecar may say of a signature (docs/reference/signatures.md)."""

_STRANGER: Final = "https://stranger.example"


@dataclass(frozen=True, slots=True, kw_only=True)
class FixtureSignature:
    """How the answers of one situation are signed. ``own``: they bring their signature."""

    rule: Signature
    how: str
    own: SigningKeys | None = None

    def sign(self, receipt: Receipt, request: Request, now: datetime) -> tuple[Receipt, Trust]:
        """Return the signed receipt, and the trust that it is judged by.

        Raises: whatever reading real keys raises, for an answer that is judged by them.
        """
        if self.own is not None and self.is_brought(receipt):
            return receipt, Trust(keys=self.own.read())
        rule, how = self.rule, self.how
        time = now + timedelta(seconds=_shift(rule, how))
        if isinstance(rule, WebhookSignature):
            signed, keys = _sign_webhook(receipt, time, how), Secrets(keys=(_secret("fixture"),))
            return signed, Trust(keys=keys, seen=how == "replayed")
        pair, stranger = _pair(rule.algorithms[0], "fixture"), _pair(rule.algorithms[0], "stranger")
        used = stranger if how == "stranger" else pair
        if isinstance(rule, JwsSignature):
            signed = _sign_jws(receipt, rule, used, time, how)
        else:
            signed = _sign_message(receipt, rule, used, request, time, how)
        return signed, Trust(keys=read_jwks(pair.jwks), seen=how == "replayed")

    def is_brought(self, receipt: Receipt) -> bool:
        """Whether the answer brings a signature of its own."""
        rule = self.rule
        names = {name.lower() for name, _ in receipt.headers}
        if isinstance(rule, JwsSignature):
            if rule.header is None:
                return COMPACT.fullmatch(receipt.raw) is not None
            return rule.header in names
        wanted = "webhook-signature" if isinstance(rule, WebhookSignature) else "signature-input"
        return wanted in names


def _shift(rule: Signature, how: str) -> float:
    if how == "old":
        return -rule.max_age_s - 2  # seconds are whole in every form: two are surely beyond
    return rule.max_ahead_s + 2 if how == "ahead" else 0.0


def _seconds(time: datetime) -> int:
    return int(time.timestamp() // 1)


def _alter(raw: bytes) -> bytes:
    """Change one byte, so that what was signed is not what came."""
    return raw + b" " if not raw else raw[:-1] + bytes([raw[-1] ^ 1])


def _with(receipt: Receipt, headers: Mapping[str, str]) -> Receipt:
    return replace(receipt, headers=(*receipt.headers, *headers.items()))


# --- Standard Webhooks -------------------------------------------------------------------------


def _secret(whose: str) -> bytes:
    return hashlib.sha256(f"sluicegate {whose}".encode()).digest()


def _sign_webhook(receipt: Receipt, time: datetime, how: str) -> Receipt:
    if how == "missing":
        return receipt
    name, seconds = "msg_fixture", str(_seconds(time))
    secret = _secret("stranger" if how == "stranger" else "fixture")
    signed = f"{name}.{seconds}.".encode() + receipt.raw
    signature = base64.b64encode(hmac.digest(secret, signed, hashlib.sha256)).decode()
    headers = {
        "webhook-id": name,
        "webhook-timestamp": seconds,
        "webhook-signature": f"v1,{signature}",
    }
    if how == "without_time":
        del headers["webhook-timestamp"]
    raw = _alter(receipt.raw) if how == "altered" else receipt.raw
    return _with(replace(receipt, raw=raw), headers)


# --- JWS ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """A pair of keys for one algorithm: ``jwks`` is the public half, as a file would hold it."""

    jose: Any
    jwks: bytes


@functools.cache
def _pair(algorithm: str, whose: str) -> _Pair:
    """Make a pair once a process; ``whose`` tells apart what must not fit."""
    keys = importlib.import_module("joserfc.jwk")
    kind, names = ALGORITHMS[algorithm]
    make: Mapping[str, Callable[[], Any]] = {
        "Ed25519": lambda: keys.OKPKey.generate_key("Ed25519"),
        "P-256": lambda: keys.ECKey.generate_key("P-256"),
        "P-384": lambda: keys.ECKey.generate_key("P-384"),
        "RSA": lambda: keys.RSAKey.generate_key(2048),
    }
    jose = make[kind]()
    public: dict[str, JsonValue] = {**jose.as_dict(private=False), "kid": "fixture"}
    public["alg"] = min(names)
    return _Pair(jose=jose, jwks=canonical_text({"keys": [public]}).encode())


def _sign_jws(
    receipt: Receipt, rule: JwsSignature, pair: _Pair, time: datetime, how: str
) -> Receipt:
    if how == "missing":
        return receipt
    header: dict[str, JsonValue] = {
        "alg": rule.algorithms[0],
        "kid": "fixture",
        "iss": _STRANGER if how == "other_issuer" else rule.issuer,
    }
    if how != "without_time":
        header["iat"] = _seconds(time)
    head = _encode(canonical_text(header).encode())
    body = _encode(receipt.raw)
    model = importlib.import_module("joserfc.jws").JWSRegistry.algorithms[rule.algorithms[0]]
    tail = _encode(model.sign(head + b"." + body, pair.jose))
    altered = _alter(receipt.raw) if how == "altered" else receipt.raw
    if rule.header is None:
        return replace(receipt, raw=b".".join((head, _encode(altered), tail)))
    detached = b"..".join((head, tail)).decode()
    return _with(replace(receipt, raw=altered), {rule.header: detached})


def _encode(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


# --- RFC 9421 ----------------------------------------------------------------------------------


def _sign_message(
    receipt: Receipt,
    rule: Rfc9421Signature,
    pair: _Pair,
    request: Request,
    time: datetime,
    how: str,
) -> Receipt:
    if how == "missing":
        return receipt
    algorithm = rule.algorithms[0]
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(receipt.raw).digest()).decode()}:"
    covered = {
        '"@status"': str(receipt.status),
        '"content-digest"': digest,
        '"x-request-id";req': str(request.request_id),
    }
    params = f"({' '.join(covered)})"
    if how != "without_time":
        params += f";created={_seconds(time)}"
    params += ';keyid="fixture"' + (f';tag="{rule.tag}"' if rule.tag is not None else "")
    lines = [f"{name}: {value}" for name, value in covered.items()]
    base = "\n".join((*lines, f'"@signature-params": {params}'))
    made = _signer(algorithm)(private_key=pair.jose.get_op_key("sign")).sign(base.encode())
    raw = _alter(receipt.raw) if how == "altered" else receipt.raw
    return _with(
        replace(receipt, raw=raw),
        {
            "content-digest": digest,
            "signature-input": f"fixture={params}",
            "signature": f"fixture=:{base64.b64encode(made).decode()}:",
        },
    )


def _signer(algorithm: str) -> Any:
    known = vars(importlib.import_module("http_message_signatures.algorithms")).values()
    return next(each for each in known if getattr(each, "algorithm_id", None) == algorithm)
