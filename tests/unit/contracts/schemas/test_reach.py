"""What a schema promises at a pointer."""

from __future__ import annotations

import pytest

from sluicegate.contracts.schemas.reach import asserts_format
from sluicegate.values.json import JsonObject
from sluicegate.values.pointers import Pointer

TIME: JsonObject = {"type": "string", "format": "date-time"}
AT = Pointer(("at",))


@pytest.mark.requirement("RES-5")
@pytest.mark.parametrize(
    ("schema", "at", "asserted"),
    [
        ({"properties": {"at": TIME}}, AT, True),
        ({"properties": {"at": {"$ref": "#/$defs/t"}}, "$defs": {"t": TIME}}, AT, True),
        ({"allOf": [{"properties": {"at": TIME}}], "properties": {"at": {}}}, AT, True),
        ({"properties": {"at": {"anyOf": [TIME, {"type": "string"}]}}}, AT, False),
        ({"properties": {"at": {"type": "string"}}}, AT, False),
        ({"properties": {"at": {"type": "string", "format": "date"}}}, AT, False),
        ({"properties": {"other": TIME}}, AT, False),
        ({"items": {"properties": {"at": TIME}}}, Pointer(("*", "at")), True),
    ],
    ids=["own", "referred", "beside", "one branch", "none", "another", "elsewhere", "items"],
)
def test_a_format_is_asserted_where_every_valid_value_has_it(
    schema: JsonObject, at: Pointer, asserted: bool
) -> None:
    assert asserts_format(schema, at, "date-time") is asserted
