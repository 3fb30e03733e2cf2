"""Names that the other side made, as a reader may be shown them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.values.names import MAX_SHOWN_NAME, show_name


@pytest.mark.requirement("ARG-3", "AUD-5")
@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("run_id", "run_id"),
        ("", ""),
        ("a b", "a b"),
        ("été ☃ 日本", "été ☃ 日本"),
        ("a\nb", "a\\u000ab"),
        ("\x1b[2J", "\\u001b[2J"),
        ("\x7f", "\\u007f"),
        ("\u202eevil", "\\u202eevil"),
        ("\u200b", "\\u200b"),
        ("\u2028", "\\u2028"),
        ("\xa0", "\\u00a0"),
        ("\ud800", "\\ud800"),
        ("\ufffe", "\\ufffe"),
        ("\U000e0041", "\\u{e0041}"),
        ("\U0010ffff", "\\u{10ffff}"),
    ],
)
def test_shows_plain_characters_and_escapes_the_rest(name: str, shown: str) -> None:
    assert show_name(name) == shown


@pytest.mark.parametrize("length", [63, 64])
def test_keeps_a_name_of_64_characters(length: int) -> None:
    assert show_name("n" * length) == "n" * length


def test_cuts_a_longer_name_and_says_so() -> None:
    assert show_name("n" * 65) == "n" * 64 + "…"


@given(st.text(max_size=200))
def test_whatever_is_shown_is_short_and_printable(name: str) -> None:
    shown = show_name(name)
    assert shown.isprintable()
    assert len(shown) <= MAX_SHOWN_NAME * len("\\u{10ffff}") + 1
