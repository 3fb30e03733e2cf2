"""Texts to compare schemas by: names of definitions say nothing, what they hold says all."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.lifecycle.diff.comparing import compare

from sluicegate.lifecycle.diff.spelling import Speller, is_spelled_alike

pytestmark = pytest.mark.requirement("LIF-3")


def tree(name: str, **node: Any) -> dict[str, Any]:
    """A recursive schema, which has no canonical form to prove anything by."""
    inner = {
        "type": "object",
        "properties": {"c": {"$ref": f"#/$defs/{name}"}},
        "additionalProperties": False,
        **node,
    }
    return {"$ref": f"#/$defs/{name}", "$defs": {name: inner}}


def pair(first: str, second: str, *, swapped: bool = False) -> dict[str, Any]:
    """Two recursive definitions that lead to one another; ``swapped``: written the other way."""
    defs = {
        first: {"properties": {"x": {"$ref": f"#/$defs/{second}"}}, "minProperties": 1},
        second: {"properties": {"y": {"$ref": f"#/$defs/{first}"}}, "minProperties": 2},
    }
    members = {"a": {"$ref": f"#/$defs/{first}"}, "b": {"$ref": f"#/$defs/{second}"}}
    if swapped:
        defs, members = (dict(reversed(each.items())) for each in (defs, members))
    return {"properties": members, "$defs": defs}


@pytest.mark.parametrize(
    ("old", "new", "alike"),
    [
        pytest.param(tree("n"), tree("m"), True, id="a definition is renamed"),
        pytest.param(tree("n"), tree("m", maxProperties=1), False, id="renamed and changed"),
        pytest.param(pair("n", "m"), pair("m", "n"), True, id="two names are exchanged"),
        pytest.param(pair("n", "m"), pair("b", "a", swapped=True), True, id="another order"),
        pytest.param(
            tree("n"),
            {**tree("n"), "$defs": {**tree("n")["$defs"], "unused": {"type": "null"}}},
            True,
            id="a definition that nothing leads to",
        ),
        pytest.param(
            {"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": {"type": "null"}}},
            {"$ref": "#/$defs/c", "$defs": {"c": {"type": "null"}}},
            True,
            id="a name with escapes",
        ),
        pytest.param(
            {"$ref": "#/$defs/a", "$defs": {"a": True, "b": False}},
            {"$ref": "#/$defs/b", "$defs": {"a": True, "b": False}},
            False,
            id="a reference leads elsewhere",
        ),
        pytest.param(
            {"$ref": "#n", "$defs": {"n": {"$anchor": "n", "minProperties": 1}}},
            {"$ref": "#n", "$defs": {"n": {"$anchor": "n", "minProperties": 2}}},
            False,
            id="an anchor",
        ),
        pytest.param(
            {"$ref": "#/$defs/*", "$defs": {"*": {"minProperties": 1}}},
            {"$ref": "#/$defs/*", "$defs": {"*": {"minProperties": 2}}},
            False,
            id="a name that no pointer leads to",
        ),
        pytest.param(
            {"$ref": "#/$defs/n", "$defs": {"n": {"$id": "https://a.test/", "minProperties": 1}}},
            {"$ref": "#/$defs/m", "$defs": {"m": {"$id": "https://b.test/", "minProperties": 1}}},
            False,
            id="a resource of its own",
        ),
        pytest.param(
            {"enum": [{"$ref": "#/$defs/n"}], "$defs": {"n": {}}},
            {"enum": [{"$ref": "#/$defs/m"}], "$defs": {"m": {}}},
            False,
            id="a value that looks like a reference",
        ),
    ],
)
def test_schemas_are_spelled_alike_whatever_their_definitions_are_called(
    old: Any, new: Any, alike: bool
) -> None:
    assert is_spelled_alike(old, new) is alike


@pytest.mark.parametrize("side", ["arguments", "result"])
def test_a_renamed_definition_of_a_recursive_schema_is_only_written_otherwise(side: Any) -> None:
    found = compare(tree("n", maxProperties=1), tree("m", maxProperties=1), side)
    assert [(one.kind, str(one.bump)) for one in found.changes] == [("rewritten", "patch")]
    assert found.outcome == "compatible"


def test_the_text_of_a_subschema_holds_what_its_references_lead_to_until_the_allowance_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def text(longest: int) -> str:
        root = {"$defs": {"n": {"not": {"maxLength": longest}}}}
        return Speller(root).spell({"not": {"$ref": "#/$defs/n"}})

    assert text(1) != text(2)
    monkeypatch.setattr("sluicegate.lifecycle.diff.spelling._MAX_WRITTEN", 1)
    assert text(1) == text(2)
