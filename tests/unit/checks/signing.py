"""Providers that really sign, and the climb of one rung, for the tests of authentication."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms
from joserfc import jwk, jws
from standardwebhooks import Webhook

from sluicegate.checks.authentication import Trust, authenticate, prepare_authentication
from sluicegate.checks.authentication_keys import PublicKeys, Secrets, read_jwks
from sluicegate.checks.bounds import bound_answer
from sluicegate.checks.delivery import accept_delivery
from sluicegate.contracts.contract import (
    JwsSignature,
    Rfc9421Signature,
    Signature,
    UpstreamPart,
    WebhookSignature,
)
from sluicegate.values.callers import Caller
from sluicegate.values.limits import Limits
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
SECONDS = int(NOW.timestamp())
BODY = b'{"run": "run_1", "state": "failed"}'
ISSUER = "https://ci.example"
SECRET = base64.b64encode(bytes(range(24))).decode()
OLD_SECRET = base64.b64encode(bytes(range(50, 82))).decode()

ED25519: Any = jwk.OKPKey.generate_key("Ed25519", {"kid": "ed-1"})
OTHER: Any = jwk.OKPKey.generate_key("Ed25519", {"kid": "ed-2"})
P256: Any = jwk.ECKey.generate_key("P-256", {"kid": "ec-1"})

WEBHOOK = WebhookSignature(secrets=("CI_SECRET",), max_age_s=300, max_ahead_s=5)
JWS = JwsSignature(
    issuer=ISSUER,
    algorithms=("Ed25519", "ES256"),
    keys="ci.jwks",
    header="x-signature",
    max_age_s=300,
    max_ahead_s=5,
)
JWS_BODY = replace(JWS, header=None)
MESSAGE = Rfc9421Signature(
    algorithms=("ed25519", "ecdsa-p256-sha256"),
    keys="ci.jwks",
    tag=None,
    max_age_s=300,
    max_ahead_s=5,
)


def public(*keys: Any) -> PublicKeys:
    """Return the public halves as a JWKS file would give them."""
    documents = [{**key.as_dict(private=False)} for key in keys]
    return read_jwks(json.dumps({"keys": documents}).encode())


def secrets(*texts: str) -> Secrets:
    return Secrets(keys=tuple(base64.b64decode(text) for text in texts))


def request(request_id: str = "req.signing0") -> Request:
    return Request(
        tool="job_status",
        request_id=RequestId(request_id),
        arguments={},
        caller=Caller(subject="ci"),
    )


def receive(raw: bytes, headers: Mapping[str, str] | Sequence[tuple[str, str]], **more: Any) -> Any:
    items = headers.items() if isinstance(headers, Mapping) else headers
    return Receipt(
        **{
            "adapter": "test",
            "adapter_version": "1",
            "endpoint": "",
            "raw": raw,
            "status": 200,
            "content_type": "application/json",
            "headers": tuple(items),
            **more,
        }
    )


def judge(
    receipt: Receipt,
    rule: Signature,
    keys: Secrets | PublicKeys,
    *,
    now: datetime = NOW,
    seen: bool = False,
    asked: Request | None = None,
    max_depth: int = 16,
) -> bytes | tuple[str, str]:
    """Return the verified payload, or stage and code of the refusal."""
    upstream = UpstreamPart(content_type=("application/json", "application/jose"))
    delivered = accept_delivery(receipt, upstream)
    assert not isinstance(delivered, Rejected), delivered
    bounded = bound_answer(delivered, Limits(max_bytes=65_536, max_depth=max_depth), True)
    assert not isinstance(bounded, Rejected), bounded
    outcome = authenticate(
        bounded,
        receipt,
        prepare_authentication(rule, max_depth),
        Trust(keys=keys, seen=seen),
        asked or request(),
        now,
    )
    if isinstance(outcome, Rejected):
        return str(outcome.stage), str(outcome.code)
    return outcome


def webhook(
    raw: bytes = BODY, *, secret: str = SECRET, name: str = "msg_1", seconds: int = SECONDS
) -> dict[str, str]:
    """Return the headers that the reference library signs with."""
    when = datetime.fromtimestamp(seconds, tz=UTC)
    return {
        "webhook-id": name,
        "webhook-timestamp": str(seconds),
        "webhook-signature": Webhook(secret).sign(name, when, raw.decode()),
    }


def compact(raw: bytes = BODY, *, key: Any = ED25519, **header: Any) -> str:
    """Return a compact JWS by joserfc; a header of None is left out."""
    algorithm = "ES256" if isinstance(key, jwk.ECKey) else "Ed25519"
    protected = {"alg": algorithm, "kid": key.kid, "iss": ISSUER, "iat": SECONDS, **header}
    protected = {name: value for name, value in protected.items() if value is not None}
    registry = jws.JWSRegistry(algorithms=[protected["alg"]], strict_check_header=False)
    return jws.serialize_compact(protected, raw, key, registry=registry)


def detached(raw: bytes = BODY, *, key: Any = ED25519, **header: Any) -> dict[str, str]:
    """Return the header that bears a JWS without its payload."""
    head, _, tail = compact(raw, key=key, **header).split(".")
    return {"X-Signature": f"{head}..{tail}"}


def message(
    raw: bytes = BODY,
    *,
    key: Any = ED25519,
    request_id: str = "req.signing0",
    status: int = 200,
    covered: Sequence[str] = ("@status", '"x-request-id";req'),
    seconds: int = SECONDS,
    digest: bool = True,
    method: str = "GET",
    url: str = "https://ci.example/",
    **more: Any,
) -> dict[str, str]:
    """Return the headers that the library signs an answer with."""
    kind = algorithms.ECDSA_P256_SHA256 if isinstance(key, jwk.ECKey) else algorithms.ED25519
    signer = HTTPMessageSigner(
        signature_algorithm=kind,
        key_resolver=MappingKeyResolver(
            public_keys={}, private_keys={key.kid: key.get_op_key("sign")}
        ),
    )
    answered = SimpleNamespace(
        status_code=status,
        headers={},
        request=SimpleNamespace(method=method, url=url, headers={"x-request-id": request_id}),
    )
    signer.sign(
        answered,
        key_id=key.kid,
        created=datetime.fromtimestamp(seconds, tz=UTC),
        covered_component_ids=covered,
        body=raw if digest else None,
        **more,
    )
    return dict(answered.headers)


def flips(raw: bytes) -> list[bytes]:
    """Return ``raw`` with each one of its bits turned round."""
    return [
        raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :]
        for at in range(len(raw))
        for bit in range(8)
    ]
