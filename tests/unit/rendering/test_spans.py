"""From a pointer to its place in the bytes, for good documents and bad ones."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sluicegate.rendering.spans import locate, locate_all, span_at
from sluicegate.values.names import show_name
from sluicegate.values.pointers import escape_segment

RAW = '{\n  "näme": {"b": [1, "x\\"y", {"c/d~e": null}]},\n  "日本": -1.5e3\n}'.encode()


@pytest.mark.parametrize(
    ("pointer", "value", "key", "line", "column"),
    [
        pytest.param("", RAW, None, 1, 1, id="the whole document"),
        pytest.param("/näme/b/0", b"1", None, 2, 19, id="an item"),
        pytest.param("/näme/b/1", b'"x\\"y"', None, 2, 22, id="a string with a quote"),
        pytest.param("/näme/b/2/c~1d~0e", b"null", b'"c/d~e"', 2, 40, id="an escaped name"),
        pytest.param("/日本", b"-1.5e3", '"日本"'.encode(), 3, 13, id="a name of two-byte cells"),
    ],
)
def test_a_pointer_leads_to_its_bytes(
    pointer: str, value: bytes, key: bytes | None, line: int, column: int
) -> None:
    place = locate(RAW, pointer)
    assert place is not None
    found = place.value
    assert RAW[found.offset : found.offset + found.length] == value
    assert (found.line, found.column) == (line, column)
    named = None if place.key is None else RAW[place.key.offset :][: place.key.length]
    assert named == key


@pytest.mark.parametrize(
    "pointer",
    ["/absent", "/näme/b/9", "/näme/b/x", "/näme/*/0", "no-slash", "/näme/b/0/deeper"],
)
def test_what_is_not_there_has_no_place(pointer: str) -> None:
    assert locate(RAW, pointer) is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("x" * 100, id="cut"),
        pytest.param("a\u202eb\n", id="escaped"),
        pytest.param("a~/b", id="with pointer characters"),
    ],
)
def test_a_name_is_found_as_findings_show_it(name: str) -> None:
    raw = json.dumps({"other": 1, name: [7]}).encode()
    place = locate(raw, f"/{escape_segment(show_name(name))}/0")
    assert place is not None
    assert raw[place.value.offset : place.value.offset + 1] == b"7"


def test_an_escaped_spelling_of_a_name_is_the_same_name() -> None:
    place = locate(b'{"\\u0061": 5}', "/a")
    assert place is not None
    assert (place.value.offset, place.value.length) == (11, 1)


@pytest.mark.parametrize(
    ("raw", "pointer", "offset"),
    [
        pytest.param(b'{"a": [1, 2', "/a/1", 10, id="breaks off"),
        pytest.param(b'{"a": [1, 2', "/a", 6, id="an open array"),
        pytest.param(b'{"a": 1, "b" 2}', "/a", 6, id="a fault behind it"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}', "/a", 9, id="behind a byte order mark"),
    ],
)
def test_a_broken_document_is_found_as_far_as_it_goes(
    raw: bytes, pointer: str, offset: int
) -> None:
    place = locate(raw, pointer)
    assert place is not None
    assert place.value.offset == offset


def places(value: object, at: str = "") -> Iterator[tuple[str, object]]:
    yield at, value
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, f"{at}/{escape_segment(name)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, f"{at}/{index}")


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).filter(
    lambda name: show_name(name) == name
)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(documents, st.sampled_from([None, 1]))
def test_every_place_of_any_document_reads_back_as_its_value(
    document: object, indent: int | None
) -> None:
    raw = json.dumps(document, indent=indent).encode()
    wanted = dict(places(document))
    found = locate_all(raw, wanted)
    read = {
        pointer: json.loads(raw[place.value.offset : place.value.offset + place.value.length])
        for pointer, place in found.items()
    }
    assert read == wanted


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [b"{", b"}", b"[", b"]", b",", b":", b'"a"', b'"', b"\\", b"1", b"\xff", b" "]
        )
    )
)
def test_no_bytes_make_the_walk_raise_or_point_outside(pieces: list[bytes]) -> None:
    raw = b"".join(pieces)
    for place in locate_all(raw, ["", "/a", "/a/0", "/0", "/0/a", "/1/1"]).values():
        assert place.value.offset + place.value.length <= len(raw)


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"[" * 200_000, id="deep"),
        pytest.param(b"[" + b"[]," * 60_000 + b"1]", id="wide"),
        pytest.param(b'["' + b"\\" * 200_001, id="an open string of backslashes"),
        pytest.param(b'{"a":' * 60_000, id="deep objects"),
    ],
)
def test_hostile_shapes_take_linear_time(raw: bytes) -> None:
    deep = "/0" * 50_000
    began = time.perf_counter()
    locate_all(raw, [deep, "/a" * 50_000, "/60000", "/5"])
    assert time.perf_counter() - began < 5


def test_a_span_outside_the_bytes_is_moved_to_their_end() -> None:
    span = span_at(b"a\nb", random.Random(1).randint(100, 200), 5)
    assert (span.offset, span.line, span.column, span.length) == (3, 2, 2, 0)
