"""A schema keeps the definitions that something in it refers to, and no others."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.importing.trimming import keep_reached

pytestmark = pytest.mark.requirement("LIF-6")

DEFS: dict[str, Any] = {
    "a": {"properties": {"b": {"$ref": "#/$defs/b"}}},
    "b": {"$ref": "#/$defs/b"},
    "c": {"$ref": "#/$defs/a"},
    "x/y z": {"type": "string"},
    "anchored": {"$anchor": "here"},
}


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({}, []),
        ({"$ref": "#/$defs/a"}, ["a", "b"]),
        ({"properties": {"$ref": {"$ref": "#/$defs/b/properties/x"}}}, ["b"]),
        ({"not": {"$ref": "#/$defs/c"}}, ["a", "b", "c"]),
        ({"const": {"$ref": "#/$defs/a"}}, []),
        ({"$ref": "#/$defs/x~1y%20z"}, ["x/y z"]),
        ({"$ref": "#here"}, ["anchored"]),
        ({"$ref": "#/$defs/nowhere"}, []),
        ({"$ref": "#"}, []),
    ],
    ids=str,
)
def test_a_definition_is_kept_where_a_reference_may_lead_to_it(
    schema: dict[str, Any], kept: list[str]
) -> None:
    found: Any = keep_reached({**schema, "$defs": DEFS})
    assert sorted(found.get("$defs", {})) == kept
    assert {name: each for name, each in found.items() if name != "$defs"} == schema


def test_a_schema_without_definitions_stays_as_it_is() -> None:
    assert keep_reached({"type": "object"}) == {"type": "object"}
