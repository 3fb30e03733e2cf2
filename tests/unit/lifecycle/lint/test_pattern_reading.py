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
    ],
)
def test_a_pattern_bounds_a_text_only_where_it_is_anchored(
    pattern: str, anchored: bool, longest: int | None
) -> None:
    assert (is_anchored(pattern), longest_match(pattern)) == (anchored, longest)


@pytest.mark.parametrize(
    "atom", [".", "[^a]", r"\s", r"\S", r"\w", r"\W", r"\d", r"\D", "[a-z]", "[^\n]"]
)
def test_an_odd_character_is_told_where_the_engine_admits_it(atom: str) -> None:
    admitted = [words for words, odd in ODD.items() if matches(f"^{atom}$", odd)]
    assert odd_characters(f"^{atom}$") == admitted


def test_an_odd_character_that_was_written_out_was_meant() -> None:
    assert odd_characters("^[a-z\u0430]{1,9}$") == []
