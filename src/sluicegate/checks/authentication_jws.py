"""JWS: a compact one as the body, or a detached one in a header (RFC 7515, 7797, 8725)."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Final

import jiter
from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry

from sluicegate.checks.authentication_keys import PublicKeys
from sluicegate.checks.authentication_signed import Signed, read_header, refuse, replay_id_of
from sluicegate.contracts.contract import JwsSignature
from sluicegate.values.codes import Code
from sluicegate.values.instants import NANOS
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

_SEGMENT: Final = re.compile(rb"[A-Za-z0-9_-]*")
_COMPACT: Final = re.compile(rb"[A-Za-z0-9_.=-]+")
_MAX_HEADER: Final = 8_192
_MAX_SIGNATURE: Final = 2_048
_MAX_SECONDS: Final = 253_402_300_799  # the last second of the year 9999
_CLAIMS: Final = ("iss", "iat", "exp", "jti")
_ABSENT: Final = object()


def verify_jws(
    raw: bytes, receipt: Receipt, rule: JwsSignature, keys: PublicKeys
) -> Signed | Rejected:
    """Verify the JWS that ``rule`` names and return its payload: the body's, or the body itself.

    The algorithm must be one of the rule's and fit the key that ``kid`` names; ``crit`` is
    refused but for ``b64`` of a detached payload. ``iss``, ``iat``, ``exp`` and ``jti`` are read
    from the protected header, and from the payload of a body. Rejects: SIGNATURE_MISSING,
    BAD_SIGNATURE, WRONG_ISSUER, SIGNATURE_WITHOUT_TIME.
    """
    compact: bytes = raw
    if rule.header is not None:
        found = read_header(receipt, rule.header)
        if type(found) is Rejected:
            return found
        if not found:
            return refuse(Code.SIGNATURE_MISSING, f"the answer bears no {rule.header}")
        compact = found.encode("ascii")
    elif _COMPACT.fullmatch(raw) is None:
        return refuse(Code.SIGNATURE_MISSING, "the body is no compact JWS")
    segments = compact.split(b".", 3)
    if len(segments) != 3:
        return refuse(Code.BAD_SIGNATURE, "a compact JWS has three parts")
    head, middle, tail = segments
    if len(head) > _MAX_HEADER or len(tail) > _MAX_SIGNATURE:
        return refuse(Code.BAD_SIGNATURE, "the protected header or the signature is too long")
    protected, signature = _read_object(_decode(head)), _decode(tail)
    if protected is None or signature is None:
        return refuse(Code.BAD_SIGNATURE, "the protected header or the signature is not readable")
    if rule.header is not None and middle:
        return refuse(Code.BAD_SIGNATURE, "the JWS in the header bears a payload of its own")
    is_plain = _says_unencoded(protected)
    if is_plain is None or (is_plain and rule.header is None):
        return refuse(Code.BAD_SIGNATURE, "the protected header demands what is not understood")
    payload: bytes | None = raw
    if rule.header is None:
        payload = _decode(middle)
    elif not is_plain:
        middle = base64.urlsafe_b64encode(raw).rstrip(b"=")
    else:
        middle = raw
    signed = head + b"." + middle
    refused = _verify(signed, signature, protected, rule, keys)
    if refused is not None:
        return refused
    if payload is None:
        return refuse(Code.BAD_SIGNATURE, "the payload is not base64url")
    return _conclude(payload, signed, protected, rule)


def _verify(
    signed: bytes,
    signature: bytes,
    protected: Mapping[str, object],
    rule: JwsSignature,
    keys: PublicKeys,
) -> Rejected | None:
    algorithm = protected.get("alg")
    if not isinstance(algorithm, str) or algorithm not in rule.algorithms:
        return refuse(Code.BAD_SIGNATURE, "the algorithm is none of the contract's")
    key = keys.find(protected.get("kid"), algorithm)
    if key is None:
        return refuse(Code.BAD_SIGNATURE, "no known key fits the `kid` and the algorithm")
    model = JWSRegistry.algorithms[algorithm]
    try:
        # Not through joserfc.jws: it reads headers leniently, and warns of the name EdDSA.
        model.check_key(key.jose)
        fits = model.verify(signed, signature, key.jose)
    except (JoseError, ValueError) as error:
        return refuse(Code.BAD_SIGNATURE, "the signature cannot be verified", str(error))
    return None if fits is True else refuse(Code.BAD_SIGNATURE, "the signature does not fit")


def _conclude(
    payload: bytes, signed: bytes, protected: Mapping[str, object], rule: JwsSignature
) -> Signed | Rejected:
    claims = {name: protected[name] for name in _CLAIMS if name in protected}
    # What is no object, or no JSON at all, bears no claims; the rungs behind judge it.
    inner = (_read_object(payload) or {}) if rule.header is None else {}
    for name in _CLAIMS:
        if name in inner and claims.setdefault(name, inner[name]) != inner[name]:
            return refuse(Code.BAD_SIGNATURE, f"`{name}` of header and payload differ")
    if claims.get("iss") != rule.issuer:
        return refuse(Code.WRONG_ISSUER, "the signed `iss` is not the contract's issuer")
    signed_at = _instant(claims.get("iat"))
    if signed_at is None:
        return refuse(Code.SIGNATURE_WITHOUT_TIME, "no `iat` with a time is signed")
    expires_at = _instant(claims["exp"]) if "exp" in claims else None
    if "exp" in claims and expires_at is None:
        return refuse(Code.BAD_SIGNATURE, "`exp` is no time")
    name_of_answer = claims.get("jti")
    unique = isinstance(name_of_answer, str) and name_of_answer != ""
    return Signed(
        payload=payload,
        signed_at=signed_at,
        expires_at=expires_at,
        # Never the signature: an ECDSA signature has a twin that fits as well.
        replay_id=replay_id_of("jti", str(name_of_answer).encode("utf-8", "surrogatepass"))
        if unique
        else replay_id_of("jws", signed),
    )


def _says_unencoded(protected: Mapping[str, object]) -> bool | None:
    """Whether the payload is signed as it is (RFC 7797); None for what must not be accepted."""
    critical, encoded = protected.get("crit", _ABSENT), protected.get("b64", True)
    if encoded is True:
        return False if critical is _ABSENT else None
    return True if encoded is False and critical == ["b64"] else None


def _read_object(raw: bytes | None) -> Mapping[str, object] | None:
    if raw is None:
        return None
    try:
        document = jiter.from_json(raw, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def _instant(seconds: object) -> int | None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    if not 0 <= seconds <= _MAX_SECONDS:
        return None
    return int(Fraction(str(seconds)) * NANOS // 1)


def _decode(segment: bytes) -> bytes | None:
    """Return the bytes of base64url without padding; None for another spelling of them."""
    if _SEGMENT.fullmatch(segment) is None:
        return None
    try:
        decoded = base64.urlsafe_b64decode(segment + b"=" * (-len(segment) % 4))
    except (binascii.Error, ValueError):
        return None
    # Spare bits would give one signature several spellings.
    return decoded if base64.urlsafe_b64encode(decoded).rstrip(b"=") == segment else None
