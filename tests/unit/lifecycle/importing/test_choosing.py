"""What a draft selects for the agent is never free text, wherever the members are declared."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.lifecycle.importing.choosing import choose_agent_fields, list_free_texts

pytestmark = pytest.mark.requirement("LIF-6")

NOTE = {"type": "string", "maxLength": 9}
ITEM = {
    "type": "object",
    "properties": {"note": NOTE, "id": {"type": "integer"}, "state": {"enum": ["a"]}},
    "required": ["state"],
}


def of(properties: Any, **more: Any) -> Any:
    return {"type": "object", "properties": properties, **more}


CHOSEN: dict[str, tuple[Any, Any]] = {
    "members of the root": (ITEM, {"agent": ["/state", "/id"]}),
    "a root that is a reference": (
        {"$ref": "#/$defs/item", "$defs": {"item": ITEM}},
        {"agent": ["/state", "/id"]},
    ),
    "a root that is composed": (
        {"type": "object", "allOf": [{"$ref": "#/$defs/item"}], "$defs": {"item": ITEM}},
        {"agent": ["/state", "/id"]},
    ),
    "a shape that another branch gives": (
        of({"id": NOTE}, allOf=[{"properties": {"id": {"pattern": "^[a-z]{1,9}$"}}}]),
        {"agent": ["/id"]},
    ),
    "null or a text of any content": (
        of({"note": {"anyOf": [NOTE, {"type": "null"}]}, "id": {"type": "integer"}}),
        {"agent": ["/id"]},
    ),
    "a member further down": (of({"item": ITEM}), {"agent": ["/item/state", "/item/id"]}),
    "a member of every item": (
        of({"items": {"type": "array", "items": ITEM}}),
        {"agent": ["/items/*/state", "/items/*/id"]},
    ),
    "two members of one definition": (
        of({"a": {"$ref": "#/$defs/i"}, "b": {"$ref": "#/$defs/i"}}, **{"$defs": {"i": ITEM}}),
        {"agent": ["/a/state", "/a/id", "/b/state", "/b/id"]},
    ),
    "prose, whatever its shape, and secrets": (
        of(
            {
                "message": {"type": "string", "pattern": "^a{1,9}$"},
                "api_key": {"type": "string", "pattern": "^a{1,9}$"},
                "ok": {"type": "boolean"},
            }
        ),
        {"agent": ["/ok"]},
    ),
    "nothing but text": (of({"note": NOTE}), {"untrusted_text": {"text": "/note"}}),
    "nothing but text behind a reference": (
        {"$ref": "#/$defs/a", "$defs": {"a": of({"note": NOTE})}},
        {"untrusted_text": {"text": "/note"}},
    ),
    "nothing but a list of texts": (
        of({"tags": {"type": "array", "items": NOTE}}),
        {"agent": ["/tags"]},
    ),
}


@pytest.mark.parametrize(("schema", "wanted"), CHOSEN.values(), ids=CHOSEN.keys())
def test_what_is_chosen_holds_no_free_text_where_there_is_anything_else(
    schema: Any, wanted: Any
) -> None:
    assert choose_agent_fields(schema) == wanted


def test_free_texts_are_named_behind_a_reference_too() -> None:
    assert list_free_texts({"$ref": "#/$defs/item", "$defs": {"item": ITEM}}) == ["note"]
