"""Of what a decision service answers, only a plain boolean in strict JSON is a decision."""

from __future__ import annotations

import pytest

from sluicegate.access.authzen_answers import Answered, NoAnswer, read_answer
from sluicegate.contracts import json_reading

pytestmark = pytest.mark.requirement("ACC-1")


def answered(
    raw: bytes,
    *,
    status: int = 200,
    content_type: str | None = "application/json",
    content_encoding: str | None = None,
) -> Answered:
    return Answered(
        status=status, content_type=content_type, content_encoding=content_encoding, raw=raw
    )


TRUE = b'{"decision": true}'
DECIDED: dict[str, tuple[bytes, bool, tuple[str, ...]]] = {
    "true": (TRUE, True, ()),
    "false": (b'{"decision": false}', False, ()),
    "with reasons": (
        b'{"decision": false, "context": {"reason_admin": {"en": "policy C076E82F"}}}',
        False,
        (),
    ),
    "with an id": (b'{"id": "7", "decision": true, "context": {"metadata": {"ms": 60}}}', True, ()),
    "no obligation": (b'{"decision": true, "context": {"obligations": []}}', True, ()),
    "one obligation": (
        b'{"decision": true, "context": {"obligations": [{"id": "mfa"}]}}',
        True,
        ("obligation 1",),
    ),
    "two obligations": (
        b'{"decision": true, "context": {"obligations": ["log", {}]}}',
        True,
        ("obligation 1", "obligation 2"),
    ),
    "obligations beside the decision": (
        b'{"decision": true, "obligations": ["log"]}',
        True,
        ("obligation 1",),
    ),
    "obligations as XACML spells them": (
        b'{"decision": true, "context": {"Obligations": ["log"]}}',
        True,
        ("obligation 1",),
    ),
    "obligations by name": (
        b'{"decision": true, "context": {"obligations": {"log": {}}}}',
        True,
        ("obligations of an unknown form",),
    ),
    "obligations null": (
        b'{"decision": true, "context": {"obligations": null}}',
        True,
        ("obligations of an unknown form",),
    ),
}


@pytest.mark.parametrize(("raw", "allow", "obligations"), DECIDED.values(), ids=DECIDED)
def test_a_boolean_decides_and_every_obligation_is_seen(
    raw: bytes, allow: bool, obligations: tuple[str, ...]
) -> None:
    assert (allow, obligations) == read_answer(answered(raw))


HOSTILE = {
    "blanks behind it": TRUE + b" " * 60_000,
    "a long name around many items": b'{"decision": true, "%b": [%b1]}'
    % (b"K" * 30_000, b"1," * 15_000),
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=HOSTILE)
def test_an_answer_is_not_asked_where_its_parts_stand(
    raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_reading, "_scan", None)
    assert read_answer(answered(raw)) == (True, ())


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON", "application/json; charset=utf-8"],
)
def test_the_media_type_may_bear_parameters(content_type: str) -> None:
    assert read_answer(answered(TRUE, content_type=content_type)) == (True, ())


NO_ANSWER: dict[str, tuple[Answered, str]] = {
    "no decision": (answered(b'{"allowed": true}'), "missing"),
    "the text true": (answered(b'{"decision": "true"}'), "no boolean"),
    "the number 1": (answered(b'{"decision": 1}'), "no boolean"),
    "null": (answered(b'{"decision": null}'), "no boolean"),
    "a list of true": (answered(b'{"decision": [true]}'), "no boolean"),
    "a bare true": (answered(b"true"), "no object"),
    "a list": (answered(b'[{"decision": true}]'), "no object"),
    "a decision twice": (answered(b'{"decision": false, "decision": true}'), "DUPLICATE_MEMBER"),
    "a decision twice, once escaped": (
        answered(b'{"decision": false, "\\u0064ecision": true}'),
        "DUPLICATE_MEMBER",
    ),
    "obligations twice": (
        answered(b'{"decision": true, "context": {"obligations": [1], "obligations": []}}'),
        "DUPLICATE_MEMBER",
    ),
    "a decision in other letters": (answered(b'{"Decision": true}'), "missing"),
    "two documents": (answered(TRUE + TRUE), "strict JSON"),
    "a byte order mark": (answered(b"\xef\xbb\xbf" + TRUE), "strict JSON"),
    "bytes that are no UTF-8": (answered(b'{"decision": true, "a": "\xff"}'), "strict JSON"),
    "a number that overflows": (answered(b'{"decision": true, "a": 1e400}'), "strict JSON"),
    "deep nesting": (
        answered(b'{"decision": true, "a": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"),
        "strict JSON",
    ),
    "nothing": (answered(b""), "strict JSON"),
    "cut off": (answered(b'{"decision": true'), "strict JSON"),
    "HTML": (answered(b"<html>true</html>", content_type="text/html"), "application/json"),
    "JSON by another name": (answered(TRUE, content_type="text/json"), "application/json"),
    "a longer media type": (answered(TRUE, content_type="application/jsonp"), "application/json"),
    "no media type": (answered(TRUE, content_type=None), "application/json"),
    "two media types": (
        answered(TRUE, content_type="application/json, text/html"),
        "application/json",
    ),
    "packed": (answered(TRUE, content_encoding="gzip"), "encoded"),
    "a context that is a list": (answered(b'{"decision": true, "context": []}'), "`context`"),
    **{
        f"status {status}": (answered(TRUE, status=status), f"status is {status}")
        for status in (201, 204, 206, 302, 400, 401, 403, 404, 429, 500, 503)
    },
}


@pytest.mark.parametrize(("came", "said"), NO_ANSWER.values(), ids=NO_ANSWER)
def test_whatever_else_comes_is_no_decision(came: Answered, said: str) -> None:
    with pytest.raises(NoAnswer, match=said):
        read_answer(came)


@pytest.mark.requirement("AUD-5")
def test_nothing_of_the_answer_is_quoted() -> None:
    for raw in (b'{"SECRET": 1, "SECRET": 2}', b"SECRET", b'{"decision": "SECRET"}'):
        with pytest.raises(NoAnswer) as caught:
            read_answer(answered(raw))
        assert "SECRET" not in str(caught.value)
    allow, obligations = read_answer(
        answered(b'{"decision": true, "context": {"obligations": ["SECRET"]}}')
    )
    assert allow is True
    assert "SECRET" not in str(obligations)
