"""Digests of bytes and of JSON values, and the canonical text under the latter."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.values.digests import digest_of_bytes, digest_of_json
from sluicegate.values.json import canonical_text, json_type

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def test_a_digest_of_bytes_is_sha_256_with_its_name() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest_of_bytes(b"") == f"sha256:{empty}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"é": "\u2028"}, '{"é":"\u2028"}'),
        ({"\U00010000": 1, "\uffff": 2}, '{"\uffff":2,"\U00010000":1}'),
        ('"\\\n', '"\\"\\\\\\n"'),
        (2**64, "18446744073709551616"),
        (1.0, "1.0"),
        (1e300, "1e+300"),
        ((1, 2), "[1,2]"),
    ],
)
def test_canonical_text_is_exact_and_sorted_by_code_point(value: object, text: str) -> None:
    assert canonical_text(value) == text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {"a": [math.inf]}])
def test_canonical_text_refuses_numbers_that_json_lacks(value: object) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_text(value)


@pytest.mark.parametrize("value", [{1}, object(), b"bytes"])
def test_canonical_text_refuses_what_is_not_json(value: object) -> None:
    with pytest.raises(TypeError):
        canonical_text(value)


@given(JSON_VALUES)
def test_canonical_text_reads_back_as_the_same_value(value: object) -> None:
    text = canonical_text(value)
    assert json.loads(text) == value
    assert canonical_text(json.loads(text)) == text


@given(st.dictionaries(st.text(max_size=5), st.integers(), min_size=2))
def test_a_digest_does_not_depend_on_the_order_of_members(members: dict[str, int]) -> None:
    assert digest_of_json(dict(reversed(members.items()))) == digest_of_json(members)


@pytest.mark.parametrize(
    ("left", "right"), [(1, 1.0), (1, True), ("1", 1), (None, "null"), ([], {})]
)
def test_values_of_other_types_have_other_digests(left: object, right: object) -> None:
    assert digest_of_json(left) != digest_of_json(right)


def test_a_lone_surrogate_has_a_digest_too() -> None:
    assert digest_of_json("\ud800").startswith("sha256:")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "number"),
        ("", "string"),
        ({}, "object"),
        ([], "array"),
    ],
)
def test_names_types_as_json_schema_does(value: object, name: str) -> None:
    assert json_type(value) == name
