"""A text is found in bytes whichever way JSON spells it."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.values.spellings import holds_text

PLAIN = "tok/en-𝕏"


def every_escape(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))


SPELLINGS = {
    "as it stands": PLAIN,
    "as Python writes it": json.dumps(PLAIN),
    "unescaped, as JavaScript writes it": json.dumps(PLAIN, ensure_ascii=False),
    "with an escaped solidus, as PHP writes it": json.dumps(PLAIN).replace("/", "\\/"),
    "one letter escaped": json.dumps(PLAIN).replace("k", "\\u006b"),
    "a solidus by its number, in capitals": json.dumps(PLAIN).replace("/", "\\u002F"),
    "a solidus by its number": json.dumps(PLAIN).replace("/", "\\u002f"),
    "a pair in capitals": json.dumps(PLAIN).replace("\\ud835\\udd4f", "\\uD835\\uDD4F"),
    "every character escaped": every_escape(PLAIN),
    "JSON inside a JSON text": json.dumps({"text": json.dumps({"t": PLAIN})}),
    "escapes inside a JSON text": json.dumps({"text": f'{{"t": "{every_escape(PLAIN)}"}}'}),
    "three documents deep": json.dumps(json.dumps(json.dumps(PLAIN))),
    "behind escapes that belong to something else": '"\\\\\\"\\n' + every_escape(PLAIN),
    "in what is no JSON": "token=" + PLAIN.replace("/", "\\/") + "\\",
}


@pytest.mark.requirement("ADP-5", "AUD-5")
@pytest.mark.parametrize("spelt", SPELLINGS.values(), ids=SPELLINGS)
def test_a_text_is_found_in_every_spelling(spelt: str) -> None:
    assert holds_text(b"\x00\xff{" + spelt.encode() + b"}", "something else", PLAIN)


ELSEWHERE = {
    "nothing": b"",
    "another text": b'"tok/en-\\ud835\\udd50"',
    "a part": b'"tok\\/en-"',
    "behind more layers than a document has": b'"to' + b"\\" * 16 + rb'u006b/en-\ud835\udd4f"',
    "half of a pair": b'"tok/en-\\ud835"',
    "an escape that is cut off": b'"tok\\u00',
}


@pytest.mark.parametrize("raw", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_text_is_not_found_where_it_does_not_stand(raw: bytes) -> None:
    assert not holds_text(raw, PLAIN)


@pytest.mark.parametrize(
    ("letter", "spelt"),
    [
        ('"', '\\"'),
        ("\\", "\\\\"),
        ("/", "\\/"),
        ("\b", "\\b"),
        ("\f", "\\f"),
        ("\n", "\\n"),
        ("\r", "\\r"),
        ("\t", "\\t"),
    ],
    ids=["quote", "backslash", "solidus", "b", "f", "n", "r", "t"],
)
def test_each_short_escape_is_known(letter: str, spelt: str) -> None:
    assert holds_text(f'"x{spelt}y"'.encode(), f"x{letter}y")


def test_the_empty_text_is_held_by_nothing() -> None:
    assert not holds_text(b"anything", "")
    assert not holds_text(b"anything")


def test_a_byte_of_the_environment_that_is_not_utf_8_is_found_as_byte_and_as_escape() -> None:
    secret = b"s3cret\xff".decode("utf-8", "surrogateescape")
    assert holds_text(b"x s3cret\xff y", secret)
    assert holds_text(json.dumps(secret).encode(), secret)
    assert not holds_text(b"x s3cret\xfe y", secret)
    assert holds_text(json.dumps("lone \ud800").encode(), "lone \ud800")


@given(st.text(min_size=1), st.text(), st.text(), st.data())
def test_a_text_is_found_whichever_of_its_characters_are_escaped(
    text: str, before: str, behind: str, data: st.DataObject
) -> None:
    spelt = "".join(
        every_escape(character)
        if data.draw(st.booleans())
        else json.dumps(character, ensure_ascii=data.draw(st.booleans()))[1:-1]
        for character in text
    )
    document = f"{json.dumps(before)[:-1]}{spelt}{json.dumps(behind)[1:]}"
    assert json.loads(document, strict=False) == before + text + behind
    assert holds_text(document.encode("utf-8", "surrogatepass"), text)


@pytest.mark.parametrize("unit", [b"\\", b"\\\\u005c", b"\\u005cu", b"\\ud835", b"aaaaaaab"])
def test_the_time_grows_with_the_length_and_not_with_its_square(unit: bytes) -> None:
    def spent_s(size: int) -> float:
        raw = unit * (size // len(unit))
        began = time.process_time()
        holds_text(raw, "aaaaaaaa" * 8)
        return time.process_time() - began

    small = min(spent_s(100_000) for _ in range(3))
    assert min(spent_s(800_000) for _ in range(3)) < max(24 * small, 0.05)
