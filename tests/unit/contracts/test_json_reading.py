"""JSON documents: what is refused, where each part stands, and at what cost."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sluicegate.contracts.json_reading import MAX_BYTES, MAX_DEPTH, read_json, read_value
from sluicegate.contracts.marks import Document
from sluicegate.contracts.problems import Problem

pytestmark = pytest.mark.requirement("CON-1")

TEXT = """\
{"a": [1,
       {"b/c": true, "0": [ ]},
       ""],
 "é~": null}
"""
VALUES = {
    "": (1, 1),
    "/a": (1, 7),
    "/a/0": (1, 8),
    "/a/1": (2, 8),
    "/a/1/b~1c": (2, 16),
    "/a/1/0": (2, 27),
    "/a/2": (3, 8),
    "/é~0": (4, 8),
    "/a/3": (1, 7),
    "/a/1/b": (2, 8),
    "/é~0/x/y": (4, 8),
    "/none": (1, 1),
}
KEYS = {"/a": (1, 2), "/a/1/b~1c": (2, 9), "/a/1/0": (2, 22), "/é~0": (4, 2), "/a/0": (1, 8)}


def test_each_place_or_the_nearest_around_it_has_its_mark() -> None:
    read = read_json("a.json", TEXT.encode())
    assert isinstance(read, Document)
    assert {pointer: read.marks.of_value(pointer) for pointer in VALUES} == VALUES
    assert {pointer: read.marks.of_key(pointer) for pointer in KEYS} == KEYS


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)


def nested(levels: int, inside: str = "") -> bytes:
    return f"{'[' * levels}{inside}{']' * levels}".encode()


@pytest.mark.requirement("ARG-2")
@given(JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=8))
@example(nested(MAX_DEPTH))
@example(nested(MAX_DEPTH, "1"))
@example(nested(MAX_DEPTH + 1))
@example(b'{"a":' + nested(MAX_DEPTH) + b"}")
@example(nested(100_000))
@example(b"[1e308, -1e308, 1e400]")
@example(b"[" + b"9" * 308 + b", " + b"9" * 309 + b"]")
@example(b'{"a": 1, "\\u0061": 2}')
@example(b'"\\ud800"')
@example(b"\xef\xbb\xbf1")
def test_a_value_is_read_and_refused_alike_with_marks_and_without(raw: bytes) -> None:
    marked, plain = read_json("a", raw), read_value("a", raw)
    if isinstance(marked, Document):
        assert plain == marked.value
    else:
        assert isinstance(plain, Problem)
        assert (plain.code, plain.message) == (marked[0].code, marked[0].message)


READERS = {"with marks": read_json, "without": read_value}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize(
    ("head", "blank", "tail"),
    [(b"{}", b" ", b""), (b"{}", b"\n", b""), (b"[", b"\t", b"]"), (b"[1", b"\r", b",2]")],
    ids=["behind it", "lines behind it", "inside", "between items"],
)
def test_a_run_of_blanks_is_passed_over_once(
    read: Callable[[str, bytes], object], head: bytes, blank: bytes, tail: bytes
) -> None:
    raw = head + blank * (MAX_BYTES - len(head) - len(tail)) + tail
    assert not isinstance(read("a", raw), Problem | tuple)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_long_name_around_many_items_is_held_once(read: Callable[[str, bytes], object]) -> None:
    raw = b'{"' + b"K" * 32_000 + b'":[' + b"1," * 16_000 + b"1]}"
    tracemalloc.start()
    try:
        assert not isinstance(read("a", raw), Problem | tuple)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 16 * 1024 * 1024
