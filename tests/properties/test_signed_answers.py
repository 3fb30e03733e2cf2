"""For all headers and bytes a signed contract gives a verdict, never raises, accepts no forgery."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.checks import signing
from tests.unit.checks.signing import BODY, ED25519, P256, judge, receive

from sluicegate.contracts.contract import Signature
from sluicegate.values.receipts import Receipt

pytestmark = pytest.mark.requirement("RES-6", "RES-9")

PUBLIC = signing.public(ED25519, P256)
FORMS: dict[str, tuple[Signature, Any, Receipt]] = {
    "webhook": (signing.WEBHOOK, signing.secrets(signing.SECRET), receive(BODY, signing.webhook())),
    "jws in a header": (signing.JWS, PUBLIC, receive(BODY, signing.detached())),
    "jws as the body": (signing.JWS_BODY, PUBLIC, receive(signing.compact().encode(), {})),
    "rfc9421": (signing.MESSAGE, PUBLIC, receive(BODY, signing.message())),
}
NAMES = (
    *("webhook-id", "webhook-timestamp", "webhook-signature", "x-signature"),
    *("signature", "signature-input", "content-digest", "x-request-id"),
)
PIECES = st.sampled_from(
    [
        *("v1,", " ", ",", ";", "=", ":", '"', "(", ")", ".", "..", "\\", "\n", "\0", "é", "?1"),
        *("sig=", "sig=()", ";created=1", ";created=9999999999999999", ";keyid=", ";alg=", ";req"),
        *(
            '"@status"',
            '"content-digest"',
            '"x-request-id";req',
            '"@query-param";name="a"',
            '"a";bs',
        ),
        *("sha-256=:AAAA:", "eyJ", "e30", "e30.e30.", "[" * 500, "A" * 9000, "1764504000", "-1"),
    ]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=8).map("".join))
HEADERS = st.lists(st.tuples(st.sampled_from(NAMES), TEXTS), max_size=6)


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None)
@given(raw=st.binary(max_size=80), headers=HEADERS)
def test_whatever_comes_is_refused_with_a_code(
    form: str, raw: bytes, headers: list[tuple[str, str]]
) -> None:
    rule, keys, _ = FORMS[form]
    stage, _ = judge(receive(raw, headers), rule, keys)
    assert stage in ("authenticate", "vouch", "bound")


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None)
@given(data=st.data())
def test_a_good_answer_with_something_changed_is_refused_or_says_what_was_signed(
    form: str, data: st.DataObject
) -> None:
    rule, keys, good = FORMS[form]
    headers = list(good.headers)
    raw = good.raw
    if headers and data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(headers) - 1))
        name, value = headers[at]
        cut = data.draw(st.integers(0, len(value)))
        end = data.draw(st.integers(cut, len(value)))
        headers[at] = (name, value[:cut] + data.draw(TEXTS) + value[end:])
    else:
        cut = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(cut, len(raw)))
        raw = raw[:cut] + data.draw(st.binary(max_size=4)) + raw[end:]
    outcome = judge(replace(good, raw=raw, headers=tuple(headers)), rule, keys)
    assert isinstance(outcome, tuple) or outcome == BODY
