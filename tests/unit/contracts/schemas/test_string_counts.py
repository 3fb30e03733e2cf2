"""What is counted from a schema stands in the text of every value that is valid under it."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluicegate.contracts.schemas.string_counts import compile_string_count, count_strings

pytestmark = pytest.mark.requirement("ARG-2", "RES-2")

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


def closed(properties: Mapping[str, Any], *optional: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
        **more,
    }


def count_in_text(value: object) -> int:
    """The quotation marks of a text without escapes, halved."""
    text = json.dumps(value, ensure_ascii=False)
    assert "\\" not in text
    return text.count('"') // 2


ROW = closed({"id": NUMBER, "name": TEXT, "tags": {"type": "array", "items": TEXT}}, "name")
COUNTED: list[Any] = [
    pytest.param({"type": "number"}, [1, 2.5], id="a number"),
    pytest.param({"type": "string"}, ["", "a"], id="a string"),
    pytest.param({"enum": ["a", "b"]}, ["a"], id="an enum of strings"),
    pytest.param({"enum": ["a", 1, None]}, ["a", 1, None], id="an enum of several types"),
    pytest.param({"const": True}, [True], id="a constant"),
    pytest.param({"type": ["string", "null"]}, ["a", None], id="a string or null"),
    pytest.param(closed({}), [{}], id="an object without members"),
    pytest.param(closed({"a": TEXT, "b": NUMBER}), [{"a": "x", "b": 1}], id="a closed object"),
    pytest.param(
        closed({"a": TEXT, "b": TEXT}, "b"),
        [{"a": "x"}, {"a": "x", "b": "y"}],
        id="an optional member",
    ),
    pytest.param(
        closed({"a": closed({"b": closed({"c": TEXT}, "c")}, "b")}),
        [{"a": {}}, {"a": {"b": {}}}, {"a": {"b": {"c": "x"}}}],
        id="optional members below one another",
    ),
    pytest.param(
        {"type": "array", "items": closed({"a": TEXT})},
        [[], [{"a": "x"}], [{"a": "x"}, {"a": "y"}]],
        id="items of one shape",
    ),
    pytest.param(
        {"type": "array", "items": ROW},
        [[], [{"id": 1, "tags": []}], [{"id": 1, "name": "n", "tags": ["a", "b"]}] * 3],
        id="items that vary",
    ),
    pytest.param(
        closed({"rows": {"type": "array", "items": {"type": "array", "items": ROW}}}),
        [{"rows": []}, {"rows": [[], [{"id": 1, "tags": ["a"]}], [{"id": 2, "tags": []}] * 2]}],
        id="arrays in arrays",
    ),
    pytest.param(
        closed({"a": {**closed({"b": TEXT}), "type": ["object", "array", "string", "null"]}}, "a"),
        [{}, {"a": None}, {"a": "x"}, {"a": {"b": "x"}}, {"a": ["x", {"y": "z"}, 1]}],
        id="an object, array, string or null",
    ),
    pytest.param(
        closed({"a": TEXT, "open": {"type": "object"}}, "open"),
        [{"a": "x"}, {"a": "x", "open": {"b": ["c", {"d": 1}], "e": "f"}}],
        id="an open object that may be absent",
    ),
    pytest.param(
        {**closed({"a": {"$ref": "#/$defs/t"}}), "$defs": {"t": closed({"b": TEXT})}},
        [{"a": {"b": "x"}}],
        id="a reference",
    ),
    pytest.param(
        closed({"a": TEXT, "below": {"$ref": "#"}}, "below"),
        [{"a": "x"}, {"a": "x", "below": {"a": "y", "below": {"a": "z"}}}],
        id="a schema that leads back to itself",
    ),
    pytest.param(
        closed({"a": {"oneOf": [TEXT, closed({"b": TEXT})]}}, "a"),
        [{}, {"a": "x"}, {"a": {"b": "x"}}],
        id="a choice of schemas that may be absent",
    ),
]


@pytest.mark.parametrize(("schema", "values"), COUNTED)
def test_the_count_of_a_valid_value_is_that_of_its_text(schema: Any, values: list[object]) -> None:
    count = compile_string_count(schema)
    assert count is not None
    assert [count(value) for value in values] == [count_in_text(value) for value in values]


def test_a_value_inside_an_object_is_counted_with_what_stands_beside_it() -> None:
    count = compile_string_count(closed({"a": TEXT}), inside="data", beside=3)
    assert count is not None
    document = {"tool": "t", "data": {"a": "x"}}
    assert count(document) == count_in_text(document) == 5


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param({}, id="anything"),
        pytest.param({"type": "object"}, id="an open object"),
        pytest.param({"type": "array"}, id="any items"),
        pytest.param({"type": "array", "items": TEXT, "prefixItems": [NUMBER]}, id="prefix items"),
        pytest.param(closed({"a": {"anyOf": [TEXT, NUMBER]}}), id="a choice of schemas"),
        pytest.param(closed({"a": TEXT}, patternProperties={"^b": TEXT}), id="pattern properties"),
        pytest.param(closed({"a": TEXT, "b": {"$ref": "#"}}), id="a recursion without end"),
        pytest.param({"$ref": "#"}, id="a reference to itself"),
        pytest.param(closed({f"m{i}": TEXT for i in range(301)}), id="very many members"),
    ],
)
def test_a_schema_that_does_not_tell_is_not_counted(schema: Any) -> None:
    assert compile_string_count(schema) is None


@pytest.mark.parametrize("value", [None, 1, "text", [], {}, {"a": 1}, {"a": {}}])
def test_a_value_of_another_shape_never_raises(value: object) -> None:
    count = compile_string_count(closed({"a": closed({"b": {"type": "array", "items": ROW}})}))
    assert count is not None
    assert count(value) == -1


PLAIN = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E, exclude_characters='"\\'))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | PLAIN,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PLAIN, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_a_walk_finds_each_string(value: object) -> None:
    assert count_strings(value) == count_in_text(value)


SCALARS = st.sampled_from(
    [
        (TEXT, PLAIN),
        (NUMBER, st.integers(-9, 9)),
        ({"type": ["string", "null"]}, st.none() | PLAIN),
        ({"enum": ["a", 1]}, st.sampled_from(["a", 1])),
    ]
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    members = draw(st.dictionaries(st.sampled_from("abcde"), inner, max_size=4))
    required = [name for name in members if draw(st.booleans())]
    schema = {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in members.items()},
        "required": required,
        "additionalProperties": False,
    }
    values = {name: value for name, (_, value) in members.items()}
    always = {name: values.pop(name) for name in required}
    return schema, st.fixed_dictionaries(always, optional=values)


def arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return inner.map(lambda one: ({"type": "array", "items": one[0]}, st.lists(one[1], max_size=3)))


SHAPES = st.recursive(SCALARS, lambda inner: objects(inner) | arrays(inner), max_leaves=8)


@given(SHAPES, st.data())
def test_every_closed_schema_counts_every_value_that_is_valid(shape: Any, data: Any) -> None:
    schema, values = shape
    value = data.draw(values)
    count = compile_string_count(schema)
    assert count is not None
    assert count(value) == count_strings(value)
