"""What is the same for every form of signature: bytes, window, replays, keys (RES-6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.checks import signing
from tests.unit.checks.signing import (
    BODY,
    ED25519,
    NOW,
    OTHER,
    P256,
    SECONDS,
    flips,
    judge,
    receive,
)

from sluicegate.checks.authentication import NOBODY
from sluicegate.contracts.contract import Signature
from sluicegate.values.receipts import Receipt

BAD = ("authenticate", "BAD_SIGNATURE")
pytestmark = pytest.mark.requirement("RES-6")


def webhook(seconds: int = SECONDS) -> Receipt:
    return receive(BODY, signing.webhook(seconds=seconds))


def in_header(seconds: int = SECONDS) -> Receipt:
    return receive(BODY, signing.detached(iat=seconds))


def in_body(seconds: int = SECONDS) -> Receipt:
    return receive(signing.compact(iat=seconds).encode(), {})


def covered(seconds: int = SECONDS) -> Receipt:
    return receive(BODY, signing.message(seconds=seconds))


FORMS: dict[str, tuple[Signature, Any, Callable[..., Receipt]]] = {
    "webhook": (signing.WEBHOOK, signing.secrets(signing.SECRET), webhook),
    "jws in a header": (signing.JWS, signing.public(ED25519, P256), in_header),
    "jws as the body": (signing.JWS_BODY, signing.public(ED25519, P256), in_body),
    "rfc9421": (signing.MESSAGE, signing.public(ED25519, P256), covered),
}
every_form = pytest.mark.parametrize("form", FORMS)


@every_form
def test_a_good_signature_yields_the_signed_bytes(form: str) -> None:
    rule, keys, sign = FORMS[form]
    assert judge(sign(), rule, keys) == BODY


@every_form
def test_a_flipped_bit_anywhere_in_the_bytes_is_refused(form: str) -> None:
    rule, keys, sign = FORMS[form]
    good = sign()
    for raw in flips(good.raw):
        outcome = judge(replace(good, raw=raw), rule, keys)
        assert outcome in (BAD, ("authenticate", "SIGNATURE_MISSING")), raw


@every_form
def test_without_a_signature_nothing_is_accepted(form: str) -> None:
    rule, keys, _ = FORMS[form]
    assert judge(receive(BODY, {}), rule, keys) == ("authenticate", "SIGNATURE_MISSING")


@every_form
def test_where_no_key_is_known_nothing_is_accepted(form: str) -> None:
    rule, _, sign = FORMS[form]
    assert judge(sign(), rule, NOBODY.keys) == BAD


@every_form
@pytest.mark.parametrize(
    ("late_s", "expected"),
    [
        (300.0, BODY),
        (300.000001, ("vouch", "STALE")),
        (-5.0, BODY),
        (-5.000001, ("vouch", "FROM_FUTURE")),
    ],
    ids=["oldest", "too old", "furthest ahead", "too far ahead"],
)
def test_both_edges_of_the_window_belong_to_it(form: str, late_s: float, expected: object) -> None:
    rule, keys, sign = FORMS[form]
    now = NOW + timedelta(seconds=late_s)
    assert judge(sign(), rule, keys, now=now) == expected


@every_form
def test_what_was_seen_before_is_refused_though_its_signature_is_good(form: str) -> None:
    rule, keys, sign = FORMS[form]
    assert judge(sign(), rule, keys, seen=True) == ("authenticate", "REPLAYED")


@every_form
def test_a_forged_answer_is_told_as_forged_even_if_it_was_seen(form: str) -> None:
    rule, keys, sign = FORMS[form]
    good = sign()
    forged = replace(good, raw=good.raw[:-2] + b"AA")
    assert judge(forged, rule, keys, seen=True) == BAD


@pytest.mark.parametrize("form", ["jws in a header", "jws as the body", "rfc9421"])
def test_during_a_rotation_both_keys_count_and_afterwards_only_the_new_one(form: str) -> None:
    rule, _, sign = FORMS[form]
    good = sign()
    assert judge(good, rule, signing.public(OTHER, ED25519)) == BODY
    assert judge(good, rule, signing.public(OTHER)) == BAD


def test_during_a_rotation_both_secrets_count_and_afterwards_only_the_new_one() -> None:
    good = receive(BODY, signing.webhook(secret=signing.OLD_SECRET))
    both = signing.secrets(signing.SECRET, signing.OLD_SECRET)
    assert judge(good, signing.WEBHOOK, both) == BODY
    assert judge(good, signing.WEBHOOK, signing.secrets(signing.SECRET)) == BAD


@every_form
def test_only_the_signed_time_counts(form: str) -> None:
    rule, keys, sign = FORMS[form]
    old = sign(SECONDS - 301)
    fresh_looking = replace(old, headers=(*old.headers, ("date", "Mon, 30 Nov 2026 12:00:00 GMT")))
    assert judge(fresh_looking, rule, keys) == ("vouch", "STALE")


SIGNING_HEADERS = {
    "webhook": ("webhook-signature", "webhook-id", "webhook-timestamp"),
    "jws in a header": ("X-Signature",),
    "rfc9421": ("Signature", "Signature-Input", "Content-Digest"),
}
ODD = {
    "twice": lambda value: [value, value],
    "non-ASCII": lambda value: [value + "é"],
    "a line break": lambda value: [value + "\nx"],
    "huge": lambda value: [value + " " * 20_000],
    "a NUL": lambda value: ["\0" + value],
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    ("form", "name"), [(form, name) for form, names in SIGNING_HEADERS.items() for name in names]
)
def test_a_header_that_two_readers_could_read_differently_is_refused(
    form: str, name: str, odd: str
) -> None:
    rule, keys, sign = FORMS[form]
    good = sign()
    headers = [
        (found, each)
        for found, value in good.headers
        for each in (ODD[odd](value) if found.lower() == name.lower() else [value])
    ]
    assert judge(replace(good, headers=tuple(headers)), rule, keys) == BAD


@every_form
def test_names_of_headers_are_compared_without_case(form: str) -> None:
    rule, keys, sign = FORMS[form]
    good = sign()
    headers = tuple((name.upper(), value) for name, value in good.headers)
    assert judge(replace(good, headers=headers), rule, keys) == BODY
