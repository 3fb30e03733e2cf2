"""Standard Webhooks, against the vectors of its reference library (RES-6)."""

from __future__ import annotations

import pytest
from tests.unit.checks.signing import (
    BODY,
    OLD_SECRET,
    SECONDS,
    SECRET,
    WEBHOOK,
    judge,
    receive,
    secrets,
    webhook,
)

from sluicegate.checks.authentication_hmac import read_secret, verify_webhook
from sluicegate.checks.authentication_keys import Secrets
from sluicegate.checks.authentication_signed import Signed

pytestmark = pytest.mark.requirement("RES-6")
BAD = ("authenticate", "BAD_SIGNATURE")
KEYS = secrets(SECRET)


def test_the_published_vector_fits() -> None:
    """The example of the Standard Webhooks specification, which its libraries are tested with."""
    secret = read_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    raw = b'{"test": 2432232314}'
    signed = verify_webhook(raw, receive(raw, headers), Secrets(keys=(secret,)))
    assert isinstance(signed, Signed)
    assert (signed.payload, signed.signed_at) == (raw, 1_614_265_330 * 10**9)


def good(**changes: str) -> dict[str, str]:
    return {**webhook(), **changes}


WRONG = {
    "no time": ({"webhook-timestamp": ""}, ("authenticate", "SIGNATURE_WITHOUT_TIME")),
    "no signature": ({"webhook-signature": ""}, ("authenticate", "SIGNATURE_MISSING")),
    "no id": ({"webhook-id": ""}, BAD),
    "an id with a dot": ({"webhook-id": "msg.1"}, BAD),
    "another id": ({"webhook-id": "msg_2"}, BAD),
    "a moved time": ({"webhook-timestamp": str(SECONDS + 1)}, BAD),
    "a time with a sign": ({"webhook-timestamp": f"+{SECONDS}"}, BAD),
    "a time with a fraction": ({"webhook-timestamp": f"{SECONDS}.0"}, BAD),
    "a time in other digits": ({"webhook-timestamp": "１７００"}, BAD),
    "a signature of another version": (
        {"webhook-signature": webhook()["webhook-signature"].replace("v1,", "v1a,")},
        BAD,
    ),
    "no base64": ({"webhook-signature": "v1,§§"}, BAD),
    "an empty signature": ({"webhook-signature": "v1,"}, BAD),
    "half a signature": (
        {"webhook-signature": webhook()["webhook-signature"][:20]},
        BAD,
    ),
    "a crowd of signatures": ({"webhook-signature": " ".join(["v1,AAAA"] * 65)}, BAD),
}


@pytest.mark.parametrize("case", WRONG)
def test_each_of_the_three_headers_must_fit(case: str) -> None:
    changes, expected = WRONG[case]
    assert judge(receive(BODY, good(**changes)), WEBHOOK, KEYS) == expected


def test_one_of_several_signatures_is_enough() -> None:
    stranger = webhook(secret=OLD_SECRET)["webhook-signature"]
    both = f"v1a,AAAA {stranger} {webhook()['webhook-signature']}"
    assert judge(receive(BODY, good(**{"webhook-signature": both})), WEBHOOK, KEYS) == BODY


def test_the_parts_of_what_is_signed_cannot_run_into_each_other() -> None:
    """`id.time.body` of one message read as another split of the same bytes."""
    raw = b"1764500000.5"
    headers = webhook(raw, name="msg_1", seconds=SECONDS)
    moved = {
        "webhook-id": f"msg_1.{SECONDS}",
        "webhook-timestamp": "1764500000",
        "webhook-signature": headers["webhook-signature"],
    }
    assert judge(receive(b"5", moved), WEBHOOK, KEYS) == BAD


def test_the_id_makes_an_answer_one_of_its_kind() -> None:
    ids = set()
    for headers in (webhook(), webhook(seconds=SECONDS + 1), webhook(name="msg_2")):
        signed = verify_webhook(BODY, receive(BODY, headers), KEYS)
        assert isinstance(signed, Signed)
        ids.add(signed.replay_id)
    assert len(ids) == 2


@pytest.mark.parametrize(
    "text", ["", "whsec_", "whsec_c2hvcnQ=", "not base64 at all!", "whsec_" + "é" * 40]
)
def test_a_secret_that_is_none_is_refused_without_being_told(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_secret(text)
    assert not text or text not in str(caught.value)
