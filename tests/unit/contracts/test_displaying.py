"""What is shown to people is bounded, however its schema is composed."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.contracts.folders import contract, problems

from sluicegate.values.pointers import Pointer

LONG: dict[str, Any] = {"type": "string"}
SHORT: dict[str, Any] = {"type": "string", "maxLength": 9}

BOUNDED = {
    "maxLength": SHORT,
    "enum": {"enum": ["a", "b"]},
    "const": {"const": "a"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "bound beside": {"allOf": [LONG, {"maxLength": 9}]},
    "each branch": {"anyOf": [SHORT, {"const": "a long constant"}]},
    "branch that is no text": {"oneOf": [SHORT, {"type": "null"}]},
    "reference": {"$ref": "#/properties/project_id"},
}
OPEN = {
    "text": LONG,
    "pattern": {**LONG, "pattern": "^a*$"},
    "text or null": {"type": ["string", "null"]},
    "one branch": {"anyOf": [SHORT, LONG]},
    "two layers": {"allOf": [LONG, {"minLength": 1}]},
}


def shown(schema: object, pointer: str = "/extra") -> dict[str, object]:
    return {"result.schema.properties.extra": schema, "result.display": [pointer]}


@pytest.mark.requirement("RES-7")
@pytest.mark.parametrize("case", BOUNDED)
def test_a_bounded_field_is_displayed(case: str) -> None:
    found = contract(shown(BOUNDED[case]))
    assert found.result.display == (Pointer.parse("/extra"),)


@pytest.mark.requirement("RES-7")
@pytest.mark.parametrize("case", OPEN)
def test_text_without_a_bound_is_not_displayed(case: str) -> None:
    (problem,) = problems(shown(OPEN[case]))
    assert (problem.pointer, problem.line is not None) == ("/result/display/0", True)
    assert "without a bound" in problem.message
    assert "maxLength" in problem.mend


@pytest.mark.requirement("RES-7")
def test_every_item_is_bounded_or_none_is_displayed() -> None:
    array = {"type": "array", "maxItems": 3, "items": LONG}
    (problem,) = problems(shown(array, "/extra/*"))
    assert problem.pointer == "/result/display/0"
    assert contract(shown({**array, "items": SHORT}, "/extra/*")).result.display
