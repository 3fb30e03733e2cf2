"""Key files: what is taken, and one clear sentence for what is not (RES-6)."""

from __future__ import annotations

import json

import pytest
from joserfc import jwk
from tests.unit.checks.signing import ED25519, OTHER, P256

from sluicegate.checks.authentication_keys import JwksUnfinished, Secrets, read_jwks

pytestmark = pytest.mark.requirement("RES-6")
ED, OTHER_ED, EC = (key.as_dict(private=False) for key in (ED25519, OTHER, P256))
SHORT = {
    "kty": "RSA",
    "e": "AQAB",
    "n": "vGiKJO4hMrYzr0F5GbVRHxMBe0_JUTd6RpKxm6uay6fg1lnpw3wmOMb8r36uP0kx5JC-ILtqaAvP4KJL1m9DPf"
    "4iXkBWbU0I_mw9n4SKTfBxjuyCFcHppECnavc3SoOUpb48Sc2HWPCZUMGCcaCAgZaAS1gLZqFXkFCmdPdVx8U",
}
"""An RSA key of 1024 bits."""


def keys(*documents: object) -> bytes:
    return json.dumps({"keys": documents}).encode()


BAD = {
    "no JSON": (b"{", "not JSON"),
    "one member twice": (b'{"keys": [], "keys": []}', "not JSON"),
    "a list": (b"[]", "no JWKS"),
    "no list": (b'{"keys": {}}', "no JWKS"),
    "a single key": (json.dumps(ED).encode(), "no JWKS"),
    "no key": (keys(), "no key"),
    "keys for encryption alone": (keys({**ED, "use": "enc"}), "no key"),
    "a text for a key": (keys("key"), "something else"),
    "a private key": (keys(ED25519.as_dict(private=True)), "private"),
    "a symmetric key": (keys({"kty": "oct", "k": "AAAA"}), "private or symmetric"),
    "a symmetric key for encryption": (
        keys({"kty": "oct", "k": "AAAA", "use": "enc"}),
        "private or symmetric",
    ),
    "an unknown kind": (keys({"kty": "XXX"}), "of a kind"),
    "half a key": (keys({"kty": "OKP", "crv": "Ed25519"}), "cannot be used"),
    "a key for agreement": (
        keys(jwk.OKPKey.generate_key("X25519").as_dict(private=False)),
        "of a kind",
    ),
    "a curve that is not taken": (
        keys(jwk.ECKey.generate_key("P-521").as_dict(private=False)),
        "of a kind",
    ),
    "a short RSA key": (keys(SHORT), "too short"),
    "one name twice": (keys(ED, {**OTHER_ED, "kid": "ed-1"}), "two keys"),
    "a name that is no text": (keys({**ED, "kid": 7}), "number 1"),
    "a crowd": (keys(*[ED] * 101), "no JWKS"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_key_file_is_told_in_one_sentence(case: str) -> None:
    raw, word = BAD[case]
    with pytest.raises(ValueError, match=word):
        read_jwks(raw)


def test_keys_for_encryption_are_passed_over() -> None:
    read = read_jwks(keys({**EC, "use": "enc"}, ED))
    assert [key.kid for key in read.keys] == ["ed-1"]


def test_no_key_shows_itself() -> None:
    secret = Secrets(keys=(b"very-secret-bytes-of-24-x",))
    assert "very-secret" not in repr(secret)
    assert ED["x"] not in repr(read_jwks(keys(ED)))


@pytest.mark.parametrize("end", range(0, len(keys(ED)) - 1, 7))
def test_a_file_that_was_cut_anywhere_is_unfinished(end: int) -> None:
    with pytest.raises(JwksUnfinished, match="not JSON"):
        read_jwks(keys(ED)[:end])


WHOLE = [b"[]", b"{]", b"nope", b'{"keys": [], "keys": []}', b'{"keys": NaN}', keys(), keys("key")]


@pytest.mark.parametrize("raw", WHOLE)
def test_what_no_more_bytes_would_mend_is_not_unfinished(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"JSON|JWKS|key") as told:
        read_jwks(raw)
    assert not isinstance(told.value, JwksUnfinished)
