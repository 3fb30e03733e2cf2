"""JSON Pointer with a wildcard: RFC 6901's own examples, and what a wildcard finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.values.pointers import (
    NOTHING,
    Pointer,
    escape_segment,
    join_segments,
    step,
)

RFC_DOCUMENT = {
    "foo": ["bar", "baz"],
    "": 0,
    "a/b": 1,
    "c%d": 2,
    "e^f": 3,
    "g|h": 4,
    "i\\j": 5,
    'k"l': 6,
    " ": 7,
    "m~n": 8,
}
RFC_EXAMPLES = [
    ("", RFC_DOCUMENT),
    ("/foo", ["bar", "baz"]),
    ("/foo/0", "bar"),
    ("/", 0),
    ("/a~1b", 1),
    ("/c%d", 2),
    ("/e^f", 3),
    ("/g|h", 4),
    ("/i\\j", 5),
    ('/k"l', 6),
    ("/ ", 7),
    ("/m~0n", 8),
]


@pytest.mark.parametrize(("text", "value"), RFC_EXAMPLES, ids=[text for text, _ in RFC_EXAMPLES])
def test_finds_what_the_rfc_says(text: str, value: object) -> None:
    assert Pointer.parse(text).find(RFC_DOCUMENT) == value


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("/~01", ("~1",)),
        ("/~10", ("/0",)),
        ("/~0~1", ("~/",)),
        ("//", ("", "")),
        ("/*", ("*",)),
        ("/é/☃", ("é", "☃")),
    ],
)
def test_decodes_segments_once(text: str, segments: tuple[str, ...]) -> None:
    assert Pointer.parse(text).segments == segments


@pytest.mark.parametrize("text", ["a", "a/b", "#/a", " /a", "/~", "/~2", "/a~", "/~0~", "/a/~b"])
def test_refuses_what_is_no_pointer(text: str) -> None:
    with pytest.raises(ValueError, match="JSON Pointer"):
        Pointer.parse(text)


@given(st.lists(st.text(max_size=6), max_size=5))
def test_text_and_segments_are_two_forms_of_one_pointer(segments: list[str]) -> None:
    pointer = Pointer(tuple(segments))
    assert Pointer.parse(pointer.text) == pointer
    assert str(pointer) == join_segments(segments)


def test_joins_indexes_as_decimals() -> None:
    assert join_segments(["rows", 0, "a/b"]) == "/rows/0/a~1b"
    assert escape_segment("~/") == "~0~1"


@pytest.mark.parametrize(
    ("segment", "found"),
    [
        ("0", "a"),
        ("1", "b"),
        ("2", NOTHING),
        ("-1", NOTHING),
        ("-", NOTHING),
        ("01", NOTHING),
        ("00", NOTHING),
        ("+1", NOTHING),
        ("1.0", NOTHING),
        ("", NOTHING),
        ("١", NOTHING),
        ("²", NOTHING),
        ("9999999999", NOTHING),
        ("*", NOTHING),
    ],
)
def test_indexes_an_array_by_canonical_decimals_alone(segment: str, found: object) -> None:
    assert step(["a", "b"], segment) is found or step(["a", "b"], segment) == found


@pytest.mark.parametrize("document", ["text", 7, 7.5, True, None])
def test_finds_nothing_in_a_scalar(document: object) -> None:
    assert Pointer(("0",)).find(document) is NOTHING


def test_nothing_is_not_null() -> None:
    assert Pointer.parse("/a").find({"a": None}) is None
    assert Pointer.parse("/b").find({"a": None}) is NOTHING
    assert Pointer.parse("/a/b").find({"a": None}) is NOTHING
    assert repr(NOTHING) == "NOTHING"


def test_a_numeric_segment_names_a_member_of_an_object() -> None:
    assert Pointer.parse("/0").find({"0": "member"}) == "member"


def test_find_refuses_a_wildcard() -> None:
    with pytest.raises(ValueError, match="every"):
        Pointer.parse("/rows/*").find({"rows": []})


@pytest.mark.parametrize(
    ("text", "document", "places"),
    [
        ("/a", {"a": 1}, [("/a", 1)]),
        ("/a/b", {"a": 1}, [("/a/b", NOTHING)]),
        ("/*", [1, 2], [("/0", 1), ("/1", 2)]),
        ("/*", [], []),
        ("/*", {"*": 1}, [("/*", NOTHING)]),
        ("/r/*/id", {"r": [{"id": 1}, {}]}, [("/r/0/id", 1), ("/r/1/id", NOTHING)]),
        ("/r/*/id", {"r": {"id": 1}}, [("/r/*/id", NOTHING)]),
        ("/r/*/id", {}, [("/r/*/id", NOTHING)]),
        ("/*/*", [[1], [], [2, 3]], [("/0/0", 1), ("/2/0", 2), ("/2/1", 3)]),
        ("/*/a/*", [{"a": [1]}, {"b": 1}], [("/0/a/0", 1), ("/1/a/*", NOTHING)]),
        ("", 5, [("", 5)]),
    ],
)
def test_every_names_each_place(text: str, document: object, places: object) -> None:
    assert list(Pointer.parse(text).every(document)) == places


def test_tells_wild_pointers_and_covered_places() -> None:
    rows, ids = Pointer.parse("/rows"), Pointer.parse("/rows/*/id")
    assert (rows.is_wild, ids.is_wild) == (False, True)
    assert (rows.covers(ids), ids.covers(rows), rows.covers(rows)) == (True, False, True)
    assert not rows.covers(Pointer.parse("/rowset"))
    assert rows.child("*").child("id") == ids
