"""JWS answers: algorithms, keys, claims and forms that must not pass (RES-6, RFC 8725)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import (
    decode_dss_signature,
    encode_dss_signature,
)
from joserfc import jwk
from tests.unit.checks.signing import (
    BODY,
    ED25519,
    ISSUER,
    JWS,
    JWS_BODY,
    NOW,
    OTHER,
    P256,
    SECONDS,
    compact,
    detached,
    judge,
    public,
    receive,
)

from sluicegate.checks.authentication_jws import verify_jws
from sluicegate.checks.authentication_signed import Signed

pytestmark = pytest.mark.requirement("RES-6")
BAD = ("authenticate", "BAD_SIGNATURE")
WITHOUT_TIME = ("authenticate", "SIGNATURE_WITHOUT_TIME")
KEYS = public(ED25519, P256)


def b64(raw: bytes | str | dict[str, Any]) -> str:
    if isinstance(raw, dict):
        raw = json.dumps(raw)
    return (
        base64.urlsafe_b64encode(raw.encode() if isinstance(raw, str) else raw).decode().rstrip("=")
    )


CLAIMS: dict[str, Any] = {"alg": "Ed25519", "kid": "ed-1", "iss": ISSUER, "iat": SECONDS}


def by_hand(header: dict[str, Any] | str) -> str:
    """Return what no library would sign: any header, under a good key."""
    made = ED25519.get_op_key("sign").sign(f"{b64(header)}.{b64(BODY)}".encode())
    return f"{b64(header)}.{b64(BODY)}.{b64(made)}"


def body(text: str) -> Any:
    return receive(text.encode(), {}, content_type="application/jose")


@pytest.mark.parametrize("key", [ED25519, P256], ids=["Ed25519", "ES256"])
def test_each_algorithm_of_the_contract_is_taken(key: Any) -> None:
    assert judge(receive(BODY, detached(key=key)), JWS, KEYS) == BODY
    assert judge(body(compact(key=key)), JWS_BODY, KEYS) == BODY


def test_the_older_name_of_ed25519_is_taken_where_the_contract_says_so() -> None:
    text = by_hand({**CLAIMS, "alg": "EdDSA"})
    assert judge(body(text), JWS_BODY, KEYS) == BAD
    older = replace(JWS_BODY, algorithms=("EdDSA",))
    assert judge(body(text), older, KEYS) == BODY
    named = jwk.OKPKey.import_key({**ED25519.as_dict(private=False), "alg": "Ed25519"})
    assert judge(body(text), older, public(named)) == BODY


def unsigned(algorithm: str) -> str:
    return f"{b64({'alg': algorithm, 'iss': ISSUER, 'iat': SECONDS})}.{b64(BODY)}."


def confused(key: Any) -> str:
    """HMAC keyed with what everybody knows: the public key."""
    head = b64({"alg": "HS256", "kid": key.kid, "iss": ISSUER, "iat": SECONDS})
    made = hmac.digest(key.as_pem(private=False), f"{head}.{b64(BODY)}".encode(), hashlib.sha256)
    return f"{head}.{b64(BODY)}.{b64(made)}"


FORGED = {
    "none": unsigned("none"),
    "None": unsigned("None"),
    "an algorithm without signature": unsigned("Ed25519"),
    "HMAC with a public key": confused(P256),
    "a kid of another": compact(kid="ec-1"),
    "an unknown kid": compact(kid="ed-9"),
    "a stranger's key under a known kid": compact(key=OTHER, kid="ed-1"),
    "its own key": compact(key=OTHER, kid=None, jwk=OTHER.as_dict(private=False)),
    "a critical parameter": by_hand({**CLAIMS, "crit": ["exp"], "exp": SECONDS + 60}),
    "an empty list of critical parameters": by_hand({**CLAIMS, "crit": []}),
    "two claims in two places": compact(b'{"iat": 1}'),
    "an end that is no time": compact(exp="soon"),
    "padding": compact().replace(".", "=.", 1),
    "a fourth part": compact() + ".AAAA",
    "one name twice in the header": by_hand('{"alg": "none", "alg": "Ed25519"}'),
    "a header without end": f"{'A' * 9000}.{b64(BODY)}.AAAA",
    "a header of brackets": f"{b64('[' * 3000)}.{b64(BODY)}.AAAA",
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_body_is_refused(case: str) -> None:
    assert judge(body(FORGED[case]), JWS_BODY, KEYS) == BAD


def test_an_algorithm_that_the_contract_does_not_name_is_refused() -> None:
    only = replace(JWS_BODY, algorithms=("ES256",))
    assert judge(body(compact()), only, KEYS) == BAD


def test_a_key_that_bears_another_algorithm_is_not_used() -> None:
    restricted = jwk.ECKey.import_key({**P256.as_dict(private=False), "alg": "ES384"})
    assert judge(body(compact(key=P256)), JWS_BODY, public(restricted)) == BAD


def test_without_a_kid_the_only_key_that_fits_is_used_and_of_two_none() -> None:
    text = compact(kid=None)
    assert judge(body(text), JWS_BODY, KEYS) == BODY
    assert judge(body(text), JWS_BODY, public(ED25519, OTHER)) == BAD


@pytest.mark.parametrize("issuer", ["https://other", ISSUER + "/", None, [ISSUER]])
def test_a_good_signature_of_another_issuer_is_told_as_such(issuer: object) -> None:
    expected = ("authenticate", "WRONG_ISSUER")
    assert judge(body(by_hand({**CLAIMS, "iss": issuer})), JWS_BODY, KEYS) == expected


@pytest.mark.parametrize("time", [None, str(SECONDS), True, -1, 10**12, [SECONDS]])
def test_without_a_signed_time_nothing_is_accepted(time: object) -> None:
    assert judge(body(compact(iat=time)), JWS_BODY, KEYS) == WITHOUT_TIME
    assert judge(receive(BODY, detached(iat=time)), JWS, KEYS) == WITHOUT_TIME


def test_claims_may_stand_in_the_payload_of_a_body_and_nowhere_else() -> None:
    raw = json.dumps({"iss": ISSUER, "iat": SECONDS, "state": "failed"}).encode()
    assert judge(body(compact(raw, iss=None, iat=None)), JWS_BODY, KEYS) == raw
    unsigned_claims = receive(raw, detached(raw, iss=None, iat=None))
    assert judge(unsigned_claims, JWS, KEYS) == ("authenticate", "WRONG_ISSUER")


@pytest.mark.parametrize(("exp", "expected"), [(1, BODY), (0, ("vouch", "STALE"))])
def test_the_end_that_the_issuer_sets_counts_as_well(exp: int, expected: object) -> None:
    assert judge(body(compact(exp=SECONDS + exp)), JWS_BODY, KEYS) == expected


def test_an_unencoded_payload_is_verified_where_it_is_marked_as_critical() -> None:
    head = b64({"alg": "Ed25519", "b64": False, "crit": ["b64"], "iss": ISSUER, "iat": SECONDS})
    made = b64(ED25519.get_op_key("sign").sign(head.encode() + b"." + BODY))
    good = receive(BODY, {"x-signature": f"{head}..{made}"})
    assert judge(good, JWS, KEYS) == BODY
    assert judge(replace(good, raw=BODY + b" "), JWS, KEYS) == BAD


@pytest.mark.parametrize(
    "header", [{"b64": False}, {"b64": False, "crit": ["b64", "exp"]}, {"crit": ["b64"]}]
)
def test_an_unencoded_payload_that_is_not_marked_so_is_refused(header: dict[str, Any]) -> None:
    head = b64({"alg": "Ed25519", "iss": ISSUER, "iat": SECONDS, **header})
    made = b64(ED25519.get_op_key("sign").sign(head.encode() + b"." + BODY))
    assert judge(receive(BODY, {"x-signature": f"{head}..{made}"}), JWS, KEYS) == BAD


def test_a_jws_in_a_header_that_bears_a_payload_of_its_own_is_refused() -> None:
    assert judge(receive(BODY, {"x-signature": compact()}), JWS, KEYS) == BAD
    assert judge(receive(b'{"evil": 1}', {"x-signature": compact()}), JWS, KEYS) == BAD


def test_the_payload_inside_a_body_is_held_to_the_nesting_limit() -> None:
    deep = b"[" * 17 + b"]" * 17
    assert judge(body(compact(deep)), JWS_BODY, KEYS) == ("bound", "TOO_DEEP")
    assert judge(body(compact(deep)), JWS_BODY, KEYS, max_depth=17) == deep


def replay_id(receipt: Any) -> str:
    signed = verify_jws(receipt.raw, receipt, JWS, KEYS)
    assert isinstance(signed, Signed)
    return signed.replay_id


def test_the_twin_of_an_ecdsa_signature_is_the_same_answer() -> None:
    """Whoever sees (r, s) can make (r, n - s), which fits as well."""
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    good = receive(BODY, detached(key=P256))
    head, _, tail = good.headers[0][1].split(".")
    made = base64.urlsafe_b64decode(tail + "==")
    r, s = int.from_bytes(made[:32], "big"), int.from_bytes(made[32:], "big")
    assert decode_dss_signature(encode_dss_signature(r, s)) == (r, s)
    twin = made[:32] + (order - s).to_bytes(32, "big")
    other = replace(good, headers=(("x-signature", f"{head}..{b64(twin)}"),))
    assert judge(other, JWS, KEYS) == BODY
    assert replay_id(other) == replay_id(good)


def test_an_id_of_the_issuer_makes_an_answer_one_of_its_kind() -> None:
    first, second = (receive(BODY, detached(jti=name)) for name in ("a", "b"))
    moved = receive(BODY, detached(jti="a", iat=SECONDS + 1))
    assert replay_id(first) == replay_id(moved) != replay_id(second)


def test_the_clock_is_the_one_that_came_in() -> None:
    assert judge(body(compact()), JWS_BODY, KEYS, now=NOW.replace(year=2040)) == ("vouch", "STALE")
