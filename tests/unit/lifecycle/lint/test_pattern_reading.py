"""What a pattern promises: ends, length, odd characters."""

from __future__ import annotations

import pytest

from sluicegate.contracts.schemas.compiling import matches
from sluicegate.lifecycle.lint.pattern_atoms import ODD, odd_characters
from sluicegate.lifecycle.lint.pattern_reading import is_anchored, longest_match, shortest_match

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
        ("^?a$", False, None),
        ("^*a$", False, None),
        ("^{0,1}a$", False, None),
        ("^a$?", False, None),
        ("(?:^)?a$", False, None),
        ("^a\\\\$", True, 2),
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
        ("^?a$", "<b>a"),
        ("^*a$", "<b>a"),
        ("^{0}a$", "<b>a"),
        ("^a$?", "a<b>"),
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
    "atom",
    [
        *(
            ".",
            "[^a]",
            r"\s",
            r"\S",
            r"\w",
            r"\W",
            r"\d",
            r"\D",
            "[a-z]",
            "[^\n]",
            r"[\s,]",
            r"[^\]]",
        ),
        *(r"\PM", r"\pL", r"\p{Cf}", r"\P{L}", r"\p{L}", r"[\p{Zs}a]", r"[^\p{L}]", r"\p{Any}"),
        *("[ -\uffff]", r"[\u0020-\u2fff]", r"[\t-~]", r"[\x00-\x7f]", r"\.", "[.]", r"[\]-~.]"),
    ],
)
@pytest.mark.parametrize("around", ["^{}$", "^[a-z]{{5}}{}$", "^(?:x|{}{{1,9}})$"])
def test_an_odd_character_is_told_where_the_engine_admits_it(atom: str, around: str) -> None:
    admitted = [words for words, odd in ODD.items() if matches(f"^{atom}$", odd)]
    assert odd_characters(around.format(atom)) == admitted


@pytest.mark.parametrize(
    "pattern", ["^[a-z\u0430]{1,9}$", "^[\u0430-\u044f]{1,9}$", "^[\u0400-\u04ff]{1,9}$", r"^a\n$"]
)
def test_an_odd_character_that_was_written_out_was_meant(pattern: str) -> None:
    assert odd_characters(pattern) == []


@pytest.mark.parametrize(
    ("pattern", "shortest"), [("^a{5}$", 5), ("^(?:abc|de)$", 2), (r"^\p{L}{2,}$", 2), ("[[a]", 0)]
)
def test_a_text_that_fits_is_as_long_as_the_pattern_demands(pattern: str, shortest: int) -> None:
    assert shortest_match(pattern) == shortest
