"""Objects are closed in effect, judged after composition; the ways out are named (CON-2, RES-4)."""

from __future__ import annotations

from typing import Any

import pytest

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import register

pytestmark = pytest.mark.requirement("CON-2", "RES-4")

TEXT: dict[str, Any] = {"type": "string", "maxLength": 9}
CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}
NAMES: dict[str, Any] = {"pattern": "^[a-z]+$"}
EXTENSION: dict[str, Any] = {"type": "object", "x-extension": {"name": "acme", "version": "1"}}


def has(**properties: Any) -> dict[str, Any]:
    return {"properties": properties}


def closed(**properties: Any) -> dict[str, Any]:
    return {**CLOSED, "properties": properties}


def open_places(schema: object) -> list[str]:
    outcome = register(schema, side="result", strict=True)
    if isinstance(outcome, CompiledSchema):
        return []
    assert {fault.code.value for fault in outcome} == {"SCHEMA_OPEN_OBJECT"}, outcome
    return [fault.pointer for fault in outcome]


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(CLOSED, id="additionalProperties: false"),
        pytest.param({"type": "object", "unevaluatedProperties": False}, id="unevaluated: false"),
        pytest.param(
            {"type": "object", "additionalProperties": {"not": {}}}, id="false, spelt out"
        ),
        pytest.param({"const": {"a": {}}}, id="a constant object"),
        pytest.param({"enum": [{"a": [{}]}, None]}, id="objects listed one by one"),
        pytest.param({"type": ["string", "null"]}, id="no object at all"),
        pytest.param({"type": "array", "items": False}, id="arrays without items"),
        pytest.param(
            {"type": "array", "prefixItems": [TEXT], "maxItems": 1}, id="no item beyond the first"
        ),
        pytest.param(
            {"type": "array", "prefixItems": [CLOSED], "items": TEXT}, id="tuple with a rest"
        ),
        pytest.param(
            {"type": "array", "allOf": [{"items": TEXT}], "unevaluatedItems": False},
            id="items judged by a layer",
        ),
        pytest.param(
            {"type": "object", "allOf": [has(a=TEXT), has(b=TEXT)], "unevaluatedProperties": False},
            id="closed around its layers",
        ),
        pytest.param(
            {"allOf": [{"type": "object", **has(a=TEXT)}, {"unevaluatedProperties": False}]}
            | {"$comment": "satisfied by no member, and closed all the same"},
            id="closed by a sibling layer",
        ),
        pytest.param(
            {"oneOf": [closed(a=TEXT), closed(b=TEXT), {"type": "null"}]}, id="each branch closed"
        ),
        pytest.param(
            {
                "type": "object",
                "oneOf": [has(a=TEXT), has(b=TEXT)],
                "unevaluatedProperties": False,
            },
            id="closed around its branches",
        ),
        pytest.param(
            {
                "type": "object",
                **has(kind=TEXT),
                "if": has(kind={"const": "a"}),
                "then": has(a=TEXT),
                "else": has(b=TEXT),
                "unevaluatedProperties": False,
            },
            id="closed around if, then and else",
        ),
        pytest.param(
            {
                "if": {"type": "object", **has(kind={"const": "a"}), "required": ["kind"]},
                "then": closed(kind=TEXT),
                "else": closed(b=TEXT),
            },
            id="then and else closed",
        ),
        pytest.param(
            {
                "type": "object",
                **has(a=TEXT),
                "dependentSchemas": {"a": has(b=TEXT)},
                "unevaluatedProperties": False,
            },
            id="closed around a dependent layer",
        ),
        pytest.param(
            {"$ref": "#/$defs/a", "$defs": {"a": closed(a=TEXT)}}, id="closed behind a reference"
        ),
        pytest.param(
            {
                "$ref": "#/$defs/a",
                "unevaluatedProperties": False,
                "$defs": {"a": {"type": "object", **has(a=TEXT)}},
            },
            id="closed around a reference",
        ),
        pytest.param(
            {"$ref": "#/$defs/n", "$defs": {"n": closed(next={"$ref": "#/$defs/n"})}},
            id="recursive",
        ),
        pytest.param(
            {"allOf": [{"type": "object", **has(a={})}, closed(a=TEXT)]},
            id="a member without a type, narrowed by another layer",
        ),
        pytest.param(
            {"allOf": [{"additionalProperties": True}, closed(a=TEXT)]},
            id="opened by one layer, closed by another",
        ),
        pytest.param(
            {"type": "object", "not": {"required": ["x"]}, "additionalProperties": False},
            id="what is under not admits nothing",
        ),
    ],
)
def test_a_closed_schema_registers(schema: object) -> None:
    assert open_places(schema) == []


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        pytest.param({"type": "object"}, [""], id="by omission"),
        pytest.param({"type": "object", "additionalProperties": True}, [""], id="said so"),
        pytest.param({}, [""], id="the empty schema"),
        pytest.param({"type": ["object", "null"]}, [""], id="object or null"),
        pytest.param(closed(a={"type": "object"}), ["/properties/a"], id="a member"),
        pytest.param(closed(a=True), [""], id="a member that may be anything"),
        pytest.param(closed(a={"description": "x"}), ["/properties/a"], id="a member without type"),
        pytest.param({"type": "array", "items": {"type": "object"}}, ["/items"], id="the items"),
        pytest.param({"type": "array"}, [""], id="items by omission"),
        pytest.param({"type": "array", "prefixItems": [TEXT]}, [""], id="items beyond the first"),
        pytest.param(
            {"type": "array", "contains": CLOSED}, [""], id="contains says nothing of the others"
        ),
        pytest.param({"oneOf": [CLOSED, {"type": "object"}]}, ["/oneOf/1"], id="one branch of two"),
        pytest.param({"anyOf": [CLOSED, True]}, [""], id="a branch that admits all"),
        pytest.param(
            {"type": "object", "allOf": [has(a=TEXT), has(b=TEXT)]}, [""], id="layers, none closed"
        ),
        pytest.param({"if": {"type": "object"}, "then": CLOSED}, [""], id="else by omission"),
        pytest.param(
            {"type": "object", "dependentSchemas": {"a": CLOSED}}, [""], id="closed only sometimes"
        ),
        pytest.param({"type": "object", "propertyNames": {"enum": ["a"]}}, [""], id="names only"),
        pytest.param(
            {
                "type": "object",
                "allOf": [{"additionalProperties": True}],
                "unevaluatedProperties": False,
            },
            [""],
            id="unevaluated that finds everything evaluated",
        ),
        pytest.param(
            {"type": "object", "not": {"additionalProperties": False}}, [""], id="closed under not"
        ),
        pytest.param({"$ref": "#"}, [""], id="a reference to itself"),
        pytest.param(
            {"$dynamicRef": "#a", "$defs": {"a": {"$dynamicAnchor": "a", **CLOSED}}},
            [""],
            id="a dynamic reference proves nothing",
        ),
        pytest.param(
            {"properties": {"a": TEXT}, "additionalProperties": False},
            [""],
            id="closed without a type: an array of objects passes",
        ),
        pytest.param(
            {"type": "string", "enum": ["a"], "$defs": {"unused": {"type": "object"}}},
            [],
            id="what is never reached is not judged",
        ),
    ],
)
def test_an_open_place_is_named(schema: object, places: list[str]) -> None:
    assert open_places(schema) == places


def map_of(values: object, **more: Any) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": values, **more}


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        pytest.param(map_of(TEXT, propertyNames=NAMES, maxProperties=5), [], id="bounded map"),
        pytest.param(map_of(TEXT, maxProperties=5), [""], id="any name"),
        pytest.param(map_of(TEXT, propertyNames=NAMES), [""], id="any number"),
        pytest.param(map_of(TEXT, propertyNames={}, maxProperties=5), [""], id="names unbounded"),
        pytest.param(
            map_of(TEXT, propertyNames={"allOf": [True]}, maxProperties=5), [""], id="names in vain"
        ),
        pytest.param(
            map_of(TEXT, propertyNames={"pattern": ""}, maxProperties=5), [""], id="empty pattern"
        ),
        pytest.param(
            map_of(TEXT, propertyNames={"maxLength": 10**9}, maxProperties=5), [""], id="long names"
        ),
        pytest.param(
            map_of(TEXT, propertyNames=NAMES, maxProperties=10**15), [""], id="members without end"
        ),
        pytest.param(
            map_of({"type": "object"}, propertyNames=NAMES, maxProperties=5),
            ["/additionalProperties"],
            id="open values",
        ),
        pytest.param(map_of(True, propertyNames=NAMES, maxProperties=5), [""], id="any value"),
        pytest.param(
            {
                "type": "object",
                "patternProperties": {"^x": TEXT},
                "additionalProperties": False,
                "propertyNames": NAMES,
                "maxProperties": 5,
            },
            [],
            id="bounded map by pattern",
        ),
        pytest.param(
            {"type": "object", "patternProperties": {"": TEXT}, "additionalProperties": False},
            [""],
            id="a pattern is no list of names",
        ),
        pytest.param(
            {
                "type": "object",
                "patternProperties": {"^x": {}},
                "additionalProperties": False,
                "propertyNames": NAMES,
                "maxProperties": 5,
            },
            ["/patternProperties/^x"],
            id="open values by pattern",
        ),
        pytest.param(
            {"type": "object", "patternProperties": {"^x": TEXT}, "propertyNames": NAMES}
            | {"maxProperties": 5},
            [""],
            id="names beside the pattern have no schema",
        ),
        pytest.param(
            {"allOf": [map_of(TEXT), {"propertyNames": NAMES, "maxProperties": 5}]},
            [],
            id="bounded by another layer",
        ),
    ],
)
def test_a_map_is_bounded_in_values_names_and_number(schema: object, places: list[str]) -> None:
    assert open_places(schema) == places


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        pytest.param(closed(ext=EXTENSION), [], id="named and versioned"),
        pytest.param(closed(ext={**EXTENSION, **has(a={})}), [], id="open further in as well"),
        pytest.param(
            closed(ext={**EXTENSION, "x-extension": {"name": "acme"}}),
            ["/properties/ext"],
            id="without a version",
        ),
        pytest.param(
            closed(ext={**EXTENSION, "x-extension": {"name": "", "version": "1"}}),
            ["/properties/ext"],
            id="without a name",
        ),
        pytest.param(
            closed(ext={"type": "object", "x-extension": True}), ["/properties/ext"], id="just true"
        ),
        pytest.param(
            {"anyOf": [EXTENSION, {"type": "object"}]}, ["/anyOf/1"], id="in one branch only"
        ),
    ],
)
def test_an_extension_is_open_by_name_and_version(schema: object, places: list[str]) -> None:
    assert open_places(schema) == places


def test_every_open_place_is_told_up_to_twenty() -> None:
    schema = closed(**{f"m{index:02}": {"type": "object"} for index in range(30)})
    assert open_places(schema) == [f"/properties/m{index:02}" for index in range(20)]


def test_a_bare_schema_may_be_open() -> None:
    outcome = register({"type": "object"}, side="arguments", strict=False)
    assert isinstance(outcome, CompiledSchema)


def test_a_place_without_type_is_told_to_take_one() -> None:
    outcome = register(closed(a={}), side="result", strict=True)
    assert isinstance(outcome, tuple)
    assert "Give it a `type`" in outcome[0].mend


DECLARED = {"type": "object", "properties": {"a": TEXT}}
CLOSE_IT = "Close it by `additionalProperties: false`; if more members are meant: Add"
BOUND_IT = "Add `propertyNames` with a pattern or enum, and `maxProperties`."
OWN = "Write `additionalProperties: false` in place of `additionalProperties: true`"
COMPOSED = "Write `unevaluatedProperties: false` in place of"


@pytest.mark.parametrize(
    ("schema", "mend"),
    [
        ({**DECLARED, "additionalProperties": True}, f"{OWN}."),
        ({**DECLARED, "additionalProperties": {}}, f"{OWN}."),
        ({**DECLARED, "unevaluatedProperties": True}, f"{COMPOSED} `unevaluatedProperties: true`."),
        (
            {"allOf": [DECLARED], "type": "object", "additionalProperties": True},
            f"{COMPOSED} `additionalProperties: true`.",
        ),
        (map_of(True), f"{OWN}; a map needs a schema of its values,"),
        ({**DECLARED, "additionalProperties": TEXT}, CLOSE_IT),
        ({**DECLARED, "patternProperties": {"^x": TEXT}, "additionalProperties": False}, BOUND_IT),
        (map_of(TEXT), BOUND_IT),
    ],
    ids=str,
)
def test_what_opens_an_object_is_to_be_closed_and_a_map_to_be_bounded(
    schema: dict[str, Any], mend: str
) -> None:
    judged = register(schema, side="result", strict=True)
    assert isinstance(judged, tuple)
    (fault,) = [each for each in judged if each.pointer == ""]
    assert fault.mend.startswith(mend), fault
    assert ("map" in fault.message) == (mend in (CLOSE_IT, BOUND_IT))
