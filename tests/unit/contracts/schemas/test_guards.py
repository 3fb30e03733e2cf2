"""The guard refuses nesting beyond its limit, and infinite numbers, in one native pass."""

from __future__ import annotations

import jiter
import pytest

from sluicegate.contracts.schemas.guards import residual_guard, shape_guard
from sluicegate.values.json import JsonObject

pytestmark = pytest.mark.requirement("ARG-1", "ARG-2", "RES-1", "RES-2")


@pytest.mark.parametrize(
    ("depth", "raw", "expected"),
    [
        (0, b"1", True),
        (0, b"[]", False),
        (0, b"{}", False),
        (1, b"[]", True),
        (1, b'{"a": null}', True),
        (1, b"[[]]", False),
        (2, b'[{"a": "x"}, {}]', True),
        (2, b'[{"a": [1]}]', False),
        (2, b'{"a": [true, 1.5, "x", null]}', True),
        (200, b"[" * 200 + b"]" * 200, True),
        (199, b"[" * 200 + b"]" * 200, False),
        (5, b"1e400", False),
        (5, b"-1e400", False),
        (5, b'{"a": [{"b": 1e400}]}', False),
        (5, b"1e308", True),
        (5, b"1" * 4_000, True),
    ],
)
def test_judges_depth_and_finiteness(depth: int, raw: bytes, expected: bool) -> None:
    value = jiter.from_json(raw, allow_inf_nan=False)
    assert shape_guard(depth)(value) is expected


def test_one_guard_serves_all_contracts_of_one_depth() -> None:
    assert shape_guard(7) is shape_guard(7)


@pytest.mark.parametrize("depth", [-1, 201])
def test_a_depth_that_the_parser_cannot_reach_is_misuse(depth: int) -> None:
    with pytest.raises(ValueError, match="0 to 200"):
        shape_guard(depth)


TEXT: JsonObject = {"type": "string"}
TREE: JsonObject = {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}}
HALF: JsonObject = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": TEXT}, "tree": {}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("schema", "max_depth"),
    [
        (TEXT, 0),
        ({"type": "array", "items": {"type": ["number", "null"], "maximum": 5}}, 1),
        ({"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}, 1),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"const": [1]}}}, 1),
    ],
    ids=["a text", "numbers", "an object", "a constant"],
)
def test_what_the_schema_proves_needs_no_guard(schema: JsonObject, max_depth: int) -> None:
    assert residual_guard(schema, max_depth) is None
    assert residual_guard(schema, max_depth + 1, member="data") is None
    if max_depth:
        assert residual_guard(schema, max_depth - 1) is not None
        assert residual_guard(schema, max_depth, member="data") is not None


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b'{"rows": ["x"], "tree": {"a": {"b": {}}}}', True),
        (b'{"tree": {"a": {"b": {"c": {}}}}}', False),
        (b'{"tree": {"a": [[{}]]}}', False),
        (b'{"tree": {"a": 1e400}}', False),
        (b'{"tree": 1e400}', False),
    ],
    ids=["within", "too deep", "too deep by arrays", "infinite", "infinite itself"],
)
@pytest.mark.parametrize("member", [None, "data"])
def test_a_residual_guard_watches_what_is_not_proven(
    member: str | None, raw: bytes, expected: bool
) -> None:
    value = jiter.from_json(raw, allow_inf_nan=False)
    guard = residual_guard(HALF, 4 if member is None else 5, member=member)
    assert guard is not None
    assert guard(value if member is None else {member: value}) is expected


def test_a_residual_guard_leaves_what_the_schema_refuses_to_the_schema() -> None:
    guard = residual_guard(HALF, 4)
    assert guard is not None
    assert guard({"rows": [[[[[[1]]]]]]})
    assert guard({"other": [[[[[[1]]]]]]})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        True,
        {"type": "object"},
        {"type": "array", "prefixItems": [TEXT], "items": {}},
        {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
        {"type": "object", "properties": {"a": {}}, "additionalProperties": False},
        {"$ref": "#"},
        {"anyOf": [{"$ref": "#"}, TEXT]},
        {"maximum": 5},
        {"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a", **TEXT}}},
    ],
    ids=[
        *("anything", "true", "open", "a tuple with a rest", "patterns", "any member"),
        *("itself", "itself or text", "bounds alone", "a dynamic reference"),
    ],
)
def test_where_nothing_is_proven_the_residual_guard_refuses_as_the_whole_one_does(
    schema: JsonObject,
) -> None:
    guard = residual_guard(schema, 2)
    assert guard is not None
    assert not guard({"a": [[1]], "x": [[1]]}) or not guard([[[1]], [[1]]])
    assert guard({"a": [1], "x": [1]})


def test_many_places_are_guarded_as_a_whole() -> None:
    tree: JsonObject = {"$ref": "#/$defs/tree"}
    inner = {
        f"m{index}": {
            "type": "object",
            "properties": {"t": tree},
            "additionalProperties": False,
        }
        for index in range(1_500)
    }
    schema: JsonObject = {
        "type": "object",
        "properties": inner,
        "additionalProperties": False,
        "$defs": {"tree": TREE},
    }
    guard = residual_guard(schema, 4)
    assert guard is not None
    assert guard({"m1499": {"t": {"a": {}}}})
    assert not guard({"m1499": {"t": {"a": {"b": {}}}}})
    assert not guard({"m0": {"t": {"a": {"b": {}}}}})
