"""Every member that a schema declares by name, wherever in it the name stands."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.contracts.schemas import members
from sluicegate.contracts.schemas.members import TooManyMembersError, list_members

pytestmark = pytest.mark.requirement("LIF-3")

TEXT = {"type": "string"}


def having(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


CASES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no object": (TEXT, []),
    "members": (having(a=TEXT, b=TEXT), ["/a", "/b"]),
    "below a member": (having(a=having(b=TEXT)), ["/a", "/a/b"]),
    "every item": (having(a={"items": having(b=TEXT)}), ["/a", "/a/*/b"]),
    "first items": (having(a={"prefixItems": [having(b=TEXT)]}), ["/a", "/a/*/b"]),
    "items of items": ({"items": {"items": having(b=TEXT)}}, ["/*/*/b"]),
    "a name to be escaped": (having(**{"a/b~": TEXT}), ["/a~1b~0"]),
    "a member that nothing may be": (having(a=False, b=True), ["/b"]),
    "allOf": ({"allOf": [having(a=TEXT), having(b=TEXT)]}, ["/a", "/b"]),
    "branches": ({"oneOf": [having(a=TEXT)], "anyOf": [having(b=TEXT)]}, ["/a", "/b"]),
    "condition": (
        {"if": having(a=TEXT), "then": having(b=TEXT), "else": having(c=TEXT)},
        ["/a", "/b", "/c"],
    ),
    "not": ({"not": having(a=TEXT)}, []),
    "a map": ({"type": "object", "additionalProperties": having(a=TEXT)}, []),
    "a reference": (
        {**having(a={"$ref": "#/$defs/d"}), "$defs": {"d": having(b=TEXT), "e": having(c=TEXT)}},
        ["/a", "/a/b"],
    ),
    "a schema that holds itself": (having(a={"$ref": "#"}, b=TEXT), ["/a", "/b"]),
    "a definition that holds itself": (
        {
            **having(a={"$ref": "#/$defs/d"}),
            "$defs": {"d": having(b={"items": {"$ref": "#/$defs/d"}}, c=TEXT)},
        },
        ["/a", "/a/b", "/a/c"],
    ),
    "one definition in two places": (
        {
            **having(a={"$ref": "#/$defs/d"}, b={"$ref": "#/$defs/d"}),
            "$defs": {"d": having(c=TEXT)},
        },
        ["/a", "/a/c", "/b", "/b/c"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_members_are_listed_where_a_value_has_them(case: str) -> None:
    schema, wanted = CASES[case]
    assert sorted(pointer.text for pointer in list_members(schema)) == wanted


def test_places_that_multiply_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MAX_MEMBERS", 1000)
    levels = {
        f"d{n}": having(a={"$ref": f"#/$defs/d{n + 1}"}, b={"$ref": f"#/$defs/d{n + 1}"})
        for n in range(30)
    }
    with pytest.raises(TooManyMembersError, match="more than 1000"):
        list_members({"$ref": "#/$defs/d0", "$defs": {**levels, "d30": TEXT}})
