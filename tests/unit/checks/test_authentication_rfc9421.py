"""HTTP message signatures: coverage, digest, request and tags (RES-6, RFC 9421, RFC 9530)."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.unit.checks.signing import (
    BODY,
    ED25519,
    MESSAGE,
    OTHER,
    P256,
    SECONDS,
    judge,
    message,
    public,
    receive,
    request,
)

from sluicegate.checks.authentication_rfc9421 import _Asked, _Fields, verify_message
from sluicegate.checks.authentication_signed import Signed

pytestmark = pytest.mark.requirement("RES-6")
BAD = ("authenticate", "BAD_SIGNATURE")
KEYS = public(ED25519, P256)


@pytest.mark.parametrize("key", [ED25519, P256], ids=["ed25519", "ecdsa-p256-sha256"])
def test_each_algorithm_of_the_contract_is_taken(key: Any) -> None:
    assert judge(receive(BODY, message(key=key)), MESSAGE, KEYS) == BODY


def test_an_algorithm_that_the_contract_does_not_name_is_refused() -> None:
    only = replace(MESSAGE, algorithms=("ecdsa-p256-sha256",))
    assert judge(receive(BODY, message()), only, KEYS) == BAD


COVERAGE = {
    "no status": message(covered=('"x-request-id";req',)),
    "no request id": message(covered=("@status",)),
    "no digest": message(digest=False),
    "the method of a request that is not known": message(
        covered=("@status", '"x-request-id";req', '"@method";req')
    ),
}


@pytest.mark.parametrize("case", COVERAGE)
def test_what_a_signature_must_cover_it_must_cover(case: str) -> None:
    headers = COVERAGE[case]
    if case == "no digest":
        headers = {**headers, "Content-Digest": message()["Content-Digest"]}
    assert judge(receive(BODY, headers), MESSAGE, KEYS) == BAD


@pytest.mark.parametrize(
    "part",
    [
        '"@method";req',
        '"@target-uri";req',
        '"@authority";req',
        '"@scheme";req',
        '"@request-target";req',
        '"@path";req',
        '"@query";req',
        '"@query-param";req;name="a"',
    ],
)
def test_of_the_request_a_signature_covers_nothing_but_its_id(part: str) -> None:
    covered = ("@status", '"x-request-id";req', part)
    unknown = _Asked(_Fields(()))
    for method, url in (("GET", "https://ci.example/?a=1"), (unknown.method, unknown.url)):
        if "query-param" in part and "?" not in url:
            continue  # there is nothing to sign
        headers = message(covered=covered, method=method, url=url)
        assert judge(receive(BODY, headers), MESSAGE, KEYS) == BAD


def test_the_answer_to_another_request_is_refused() -> None:
    good = receive(BODY, message(request_id="req.another0"))
    assert judge(good, MESSAGE, KEYS) == BAD
    assert judge(good, MESSAGE, KEYS, asked=request("req.another0")) == BODY


def test_another_status_than_the_signed_one_is_refused() -> None:
    assert judge(receive(BODY, message(status=201)), MESSAGE, KEYS) == BAD


def test_a_stranger_under_a_known_name_is_refused() -> None:
    forged = {
        name: value.replace('keyid="ed-2"', 'keyid="ed-1"')
        for name, value in message(key=OTHER).items()
    }
    assert judge(receive(BODY, forged), MESSAGE, KEYS) == BAD


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        pytest.param("", ("authenticate", "SIGNATURE_WITHOUT_TIME"), id="none"),
        pytest.param(";created", BAD, id="without a value"),
        pytest.param(f";created={SECONDS}", BODY, id="a time"),
        pytest.param(f";created={SECONDS};expires", BAD, id="an end without a value"),
        pytest.param(f";created={SECONDS};expires=2.5", BAD, id="a broken end"),
        pytest.param(f';created={SECONDS};expires="never"', BAD, id="an end in words"),
    ],
)
def test_a_signed_time_is_a_whole_number_of_seconds(times: str, expected: object) -> None:
    """Signed by hand: the library itself always adds a right ``created``."""
    base64_of = message()["Content-Digest"]
    params = f'("@status" "content-digest" "x-request-id";req);keyid="ed-1"{times}'
    base = (
        f'"@status": 200\n"content-digest": {base64_of}\n"x-request-id";req: req.signing0\n'
        f'"@signature-params": {params}'
    )
    made = base64.b64encode(ED25519.get_op_key("sign").sign(base.encode())).decode()
    headers = {
        "Content-Digest": base64_of,
        "Signature-Input": f"sig={params}",
        "Signature": f"sig=:{made}:",
    }
    assert judge(receive(BODY, headers), MESSAGE, KEYS) == expected


def test_a_time_that_was_taken_out_afterwards_is_a_bad_signature() -> None:
    headers = message()
    headers["Signature-Input"] = re.sub(r";created=\d+", "", headers["Signature-Input"])
    assert judge(receive(BODY, headers), MESSAGE, KEYS) == BAD


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "x-gzip"])
def test_encoded_content_is_refused_since_its_digest_cannot_be_checked(encoding: str) -> None:
    """RFC 9530: the digest is over the content as sent; here stand the decoded bytes."""
    packed = zlib.compress(BODY)
    for raw, signed in ((BODY, packed), (BODY, BODY)):
        receipt = receive(raw, message(signed), content_encoding=encoding)
        assert judge(receipt, MESSAGE, KEYS) == BAD


def test_a_digest_of_an_algorithm_that_is_not_known_is_refused() -> None:
    headers = message()
    headers["Content-Digest"] = headers["Content-Digest"].replace("sha-256", "md5")
    assert judge(receive(BODY, headers), MESSAGE, KEYS) == BAD


def two_signatures(**more: Any) -> dict[str, str]:
    first, second = message(label="a", **more), message(key=P256, label="b", tag="audit")
    return {
        "Content-Digest": first["Content-Digest"],
        "Signature-Input": f"{first['Signature-Input']}, {second['Signature-Input']}",
        "Signature": f"{first['Signature']}, {second['Signature']}",
    }


def test_of_several_signatures_the_one_with_the_tag_is_taken() -> None:
    tagged = replace(MESSAGE, tag="gate")
    assert judge(receive(BODY, two_signatures(tag="gate")), tagged, KEYS) == BODY
    assert judge(receive(BODY, two_signatures()), tagged, KEYS) == BAD
    assert judge(receive(BODY, two_signatures()), MESSAGE, KEYS) == BAD
    assert (
        judge(receive(BODY, two_signatures(tag="audit")), replace(MESSAGE, tag="audit"), KEYS)
        == BAD
    )


@pytest.mark.parametrize("name", ["Signature", "Signature-Input"])
def test_half_a_signature_is_a_bad_one(name: str) -> None:
    headers = message()
    del headers[name]
    assert judge(receive(BODY, headers), MESSAGE, KEYS) == BAD


@pytest.mark.parametrize(("late", "expected"), [(1, BODY), (0, ("vouch", "STALE"))])
def test_the_end_that_the_provider_sets_counts_as_well(late: int, expected: object) -> None:
    expires = datetime.fromtimestamp(SECONDS + late, tz=UTC)
    assert judge(receive(BODY, message(expires=expires)), MESSAGE, KEYS) == expected


def test_a_command_has_no_status_to_sign() -> None:
    assert judge(receive(BODY, message(), status=None), MESSAGE, KEYS) == BAD


def replay_id(**more: Any) -> str:
    receipt = receive(BODY, message(**more))
    signed = verify_message(BODY, receipt, MESSAGE, KEYS, request())
    assert isinstance(signed, Signed)
    return signed.replay_id


def test_a_nonce_or_else_what_is_signed_makes_an_answer_one_of_its_kind() -> None:
    assert replay_id(nonce="n1") == replay_id(nonce="n1", seconds=SECONDS + 1)
    assert replay_id(nonce="n1") != replay_id(nonce="n2")
    # An ECDSA signature is another one each time; what it signs is the same.
    assert replay_id(key=P256) == replay_id(key=P256) != replay_id()
