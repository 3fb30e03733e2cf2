"""What a pattern promises: ends, length, odd characters."""

from __future__ import annotations

import pytest

from sluicegate.contracts.schemas.compiling import matches
from sluicegate.lifecycle.lint.pattern_reading import (
    ODD,
    is_anchored,
    longest_match,
    odd_characters,
)

pytestmark = pytest.mark.requirement("LIF-1")


@pytest.mark.parametrize(
    ("pattern", "anchored", "longest"),
    [
        ("^a{2,5}$", True, 5),
        ("^(?:a|bcd)$", True, 3),
        ("(?:^a$)", True, 1),
        ("^a$|^bc$", True, 2),
        ("^a|b$", False, None),
        ("^a", False, None),
        ("a{3}", False, None),
        ("^a+$", True, None),
        ("", False, None),
        ("^a\\$", False, None),
        ("(?m)^a{1,3}$", False, None),
        ("(?im)^a{1,3}$", False, None),
        ("(?m:^a{1,3}$)", False, None),
        ("^(?m:a{1,3}$)", False, None),
        ("(?mR:^a$)", False, None),
        ("^(?mU:a)|(b$)", False, None),
        ("(?m)(?-m:^a{1,3}$)", True, 3),
        ("^(?m:a{1,3})$", True, 3),
        ("(?i)^a{1,3}$", True, 3),
        (r"^\p{L}|x$", False, None),
        (r"^(?:\p{L}|\p{Nd}){1,3}$", True, 3),
        ("^[[a]{1,3}$", True, None),
        ("^[[a]|b$", False, None),
    ],
)
def test_a_pattern_bounds_a_text_only_where_it_is_anchored(
    pattern: str, anchored: bool, longest: int | None
) -> None:
    assert (is_anchored(pattern), longest_match(pattern)) == (anchored, longest)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(?m)^a{1,3}$", "<b>\naaa"),
        ("(?m:^a{1,3}$)", "<b>\naaa"),
        ("^(?m:a$)", "a\n<b>"),
        ("(?mR:^a$)", "a\r\n<b>"),
        (r"^\p{L}|x$", "a<b>"),
    ],
)
def test_what_the_engine_finds_in_a_longer_text_is_not_anchored(pattern: str, text: str) -> None:
    assert matches(pattern, text)
    assert not is_anchored(pattern)


@pytest.mark.parametrize("pattern", ["^.$", "(?s)^.$", "^(?s:.)$"])
def test_a_dot_takes_no_line_feed_whatever_the_flags(pattern: str) -> None:
    assert not matches(pattern, "\n")
    assert "a line feed" not in odd_characters(pattern)


@pytest.mark.parametrize(
    "atom", [".", "[^a]", r"\s", r"\S", r"\w", r"\W", r"\d", r"\D", "[a-z]", "[^\n]"]
)
def test_an_odd_character_is_told_where_the_engine_admits_it(atom: str) -> None:
    admitted = [words for words, odd in ODD.items() if matches(f"^{atom}$", odd)]
    assert odd_characters(f"^{atom}$") == admitted


def test_an_odd_character_that_was_written_out_was_meant() -> None:
    assert odd_characters("^[a-z\u0430]{1,9}$") == []
