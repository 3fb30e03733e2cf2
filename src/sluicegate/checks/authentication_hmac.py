"""Standard Webhooks: HMAC-SHA256 over id, time and body (standardwebhooks.com, SPEC RES-6)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from typing import Final

from sluicegate.checks.authentication_keys import Secrets
from sluicegate.checks.authentication_signed import Signed, read_header, refuse, replay_id_of
from sluicegate.values.codes import Code
from sluicegate.values.instants import NANOS
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

# A dot separates id, time and body in what is signed, so neither may hold one.
_ID: Final = re.compile(r"[\x21-\x2d\x2f-\x7e]{1,256}", re.ASCII)
_TIME: Final = re.compile(r"[0-9]{1,11}", re.ASCII)
_PREFIX: Final = "whsec_"
_MIN_SECRET_BYTES: Final = 24
_MAX_SIGNATURES: Final = 64


def read_secret(text: str) -> bytes:
    """Return the bytes of a secret, written ``whsec_`` and base64, or base64 alone.

    Raises: ValueError for what is no base64 or shorter than 24 bytes; its text holds no secret.
    """
    encoded = text.removeprefix(_PREFIX)
    try:
        secret = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("is no secret of the form whsec_BASE64") from None
    if len(secret) < _MIN_SECRET_BYTES:
        raise ValueError(f"has fewer than {_MIN_SECRET_BYTES} bytes; ask for a longer secret")
    return secret


def verify_webhook(raw: bytes, receipt: Receipt, secrets: Secrets) -> Signed | Rejected:
    """Verify ``webhook-signature`` over ``id.timestamp.body``, in constant time.

    Several signatures and several secrets may stand during a rotation; one pair must fit.
    Rejects: SIGNATURE_MISSING, SIGNATURE_WITHOUT_TIME, BAD_SIGNATURE.
    """
    given = read_header(receipt, "webhook-signature")
    if type(given) is Rejected:
        return given
    if not given:
        return refuse(Code.SIGNATURE_MISSING, "the answer bears no webhook-signature")
    time = read_header(receipt, "webhook-timestamp")
    if type(time) is Rejected:
        return time
    if not time:
        return refuse(Code.SIGNATURE_WITHOUT_TIME, "the answer bears no webhook-timestamp")
    if _TIME.fullmatch(time) is None:
        return refuse(Code.BAD_SIGNATURE, "webhook-timestamp is not a number of seconds")
    name = read_header(receipt, "webhook-id")
    if type(name) is Rejected:
        return name
    if name is None or _ID.fullmatch(name) is None:
        return refuse(Code.BAD_SIGNATURE, "the answer bears no webhook-id that can be signed")
    versions = given.split(" ")
    if len(versions) > _MAX_SIGNATURES:
        return refuse(Code.BAD_SIGNATURE, "the answer bears too many signatures")
    signatures = [_decode(each[3:]) for each in versions if each.startswith("v1,")]
    signed = b"%s.%s.%s" % (name.encode("ascii"), time.encode("ascii"), raw)
    fits = False
    for secret in secrets.keys:
        expected = hmac.digest(secret, signed, hashlib.sha256)
        for signature in signatures:
            fits |= hmac.compare_digest(expected, signature)
    if not fits:
        return refuse(Code.BAD_SIGNATURE, "no v1 signature fits the bytes under a known secret")
    return Signed(
        payload=raw,
        signed_at=int(time) * NANOS,
        replay_id=replay_id_of("webhook", name.encode("ascii")),
    )


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
