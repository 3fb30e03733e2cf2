"""Rules about sets, where branches stand beside ``unevaluatedProperties``."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.lifecycle.lint.deciding import lint_here

pytestmark = pytest.mark.requirement("LIF-1")


def composed(keyword: str, *branches: Any) -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        keyword: list(branches),
        "unevaluatedProperties": False,
    }


def member(name: str, **schema: Any) -> dict[str, Any]:
    return {"properties": {name: schema}, "required": [name]}


CASES = {
    "branches that overlap": (
        composed("oneOf", member("a", const="a"), member("a", enum=["a", "b"])),
        {"E01"},
    ),
    "branches of other names": (
        composed("anyOf", member("a", const="a"), member("b", const="b")),
        set(),
    ),
    "a branch that requires more": (
        composed(
            "anyOf",
            member("bar", const="bar"),
            {**member("baz", const="baz"), "required": ["baz", "bar"]},
        ),
        {"U02"},
    ),
    "a branch within another": (
        composed("anyOf", member("a", enum=["a", "b"]), member("a", const="a")),
        {"U03"},
    ),
}


@pytest.mark.parametrize(("schema", "rules"), CASES.values(), ids=CASES.keys())
def test_a_closed_object_sees_what_its_branches_declare(
    schema: dict[str, Any], rules: set[str]
) -> None:
    found = {each.rule for each in lint_here(schema)}
    assert found & {"E01", "U02", "U03"} == rules
