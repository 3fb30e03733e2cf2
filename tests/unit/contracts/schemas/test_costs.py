"""What a hostile schema may not cost."""

from __future__ import annotations

import pytest

from sluicegate.contracts.schemas.registration import register
from sluicegate.values.codes import Code


@pytest.mark.requirement("CON-2")
def test_a_pattern_that_compiles_to_megabytes_is_refused() -> None:
    schema = {"type": "string", "pattern": r"(.{0,900}){0,1}[^a]{900}\p{L}{0,200}b"}
    faults = register(schema, side="result", strict=False)
    assert isinstance(faults, tuple)
    assert [fault.code for fault in faults] == [Code.SCHEMA_PATTERN]


@pytest.mark.requirement("CON-2")
def test_only_the_first_hundred_unknown_keywords_are_told() -> None:
    schema = {f"kw{number:05d}": 1 for number in range(5_000)}
    faults = register(schema, side="result", strict=False)
    assert isinstance(faults, tuple)
    assert len(faults) == 100


@pytest.mark.requirement("CON-2")
@pytest.mark.parametrize(("most", "refused"), [(None, True), (10_000, False)])
def test_dear_items_need_a_bound_on_their_number(most: int | None, refused: bool) -> None:
    schema: dict[str, object] = {
        "type": "array",
        "items": {"oneOf": [{"const": number} for number in range(900)]},
    }
    if most is not None:
        schema["maxItems"] = most
    registered = register(schema, side="result", strict=False)
    codes = [fault.code for fault in registered] if isinstance(registered, tuple) else []
    assert codes == ([Code.SCHEMA_TOO_COMPLEX] if refused else [])
