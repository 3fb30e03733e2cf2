"""A value fits the registered schema, or every finding says in our words what does not."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from sluicegate.checks.conformance import Explained, conform
from sluicegate.checks.conformance_findings import explain_violations
from sluicegate.checks.conformance_names import find_near
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import register
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.rejections import Rejected

JsonDict = dict[str, Any]


def compiled(schema: object) -> CompiledSchema:
    registered = register(schema, side="result", strict=False)
    assert isinstance(registered, CompiledSchema), registered
    return registered


def closed(properties: JsonDict, *required: str, **more: object) -> JsonDict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
        **more,
    }


def told(schema: object, value: object) -> list[tuple[str, str]]:
    return [(str(found.code), found.pointer) for found in findings(schema, value)]


def findings(schema: object, value: object) -> tuple[Finding, ...]:
    return explain_violations(value, compiled(schema), False)[0]


def only(schema: object, value: object) -> Finding:
    (found,) = findings(schema, value)
    return found


EXPLAINED: tuple[Explained | None, ...] = (None, "arguments", "result")
TICKET = closed(
    {"ticket_id": {"type": "string"}, "limit": {"type": "integer"}, "note": {"type": "string"}},
    "ticket_id",
)
NUMBER = closed({"n": {"type": "integer", "minimum": 1, "maximum": 20}})


@pytest.mark.requirement("ARG-3", "RES-4")
def test_what_fits_passes_as_it_is() -> None:
    value: Any = {"ticket_id": "T-1"}
    schema = compiled(TICKET)
    for explain in EXPLAINED:
        assert conform(value, schema, explain) is value
    assert explain_violations(value, schema, False) == ((), None)
    assert value == {"ticket_id": "T-1"}


@pytest.mark.requirement("ARG-3", "RES-4")
def test_findings_are_looked_for_only_where_they_are_read() -> None:
    value: Any = {"ticket_id": 1}
    schema = compiled(TICKET)
    short = conform(value, schema, None)
    long = conform(value, schema, "arguments")
    assert isinstance(short, Rejected)
    assert isinstance(long, Rejected)
    assert (str(short.stage), short.findings) == ("conform", ())
    assert (str(long.stage), str(long.code), len(long.findings)) == ("conform", "TYPE", 1)


@pytest.mark.requirement("RES-9", "RES-8")
def test_an_engine_that_raises_closes_the_ladder_and_its_text_is_kept_apart() -> None:
    def broken(value: object) -> bool:
        raise RuntimeError("secret " * 1000)

    value: Any = {}
    outcome = conform(value, replace(compiled(TICKET), is_valid=broken), "result")
    assert isinstance(outcome, Rejected)
    assert (str(outcome.stage), str(outcome.code)) == ("internal", "INTERNAL")
    assert "secret" not in repr(outcome.findings)
    assert outcome.engine_message == ("secret " * 1000)[:2000]


@pytest.mark.requirement("RES-9")
def test_a_refusal_without_a_violation_is_never_a_pass() -> None:
    value: Any = {"ticket_id": "T-1"}
    outcome = conform(value, replace(compiled(TICKET), is_valid=lambda value: False), "result")
    assert isinstance(outcome, Rejected)
    assert str(outcome.code) == "INTERNAL"


@pytest.fixture
def fewer_digits() -> Iterator[None]:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    yield
    sys.set_int_max_str_digits(before)


@pytest.mark.requirement("RES-9")
@pytest.mark.usefixtures("fewer_digits")
def test_an_interpreter_that_hides_digits_from_the_engine_closes_the_ladder() -> None:
    value: Any = {"n": 10**700}
    outcome = conform(value, compiled(NUMBER), None)
    assert isinstance(outcome, Rejected)
    assert str(outcome.code) == "INTERNAL"


SHAPES = {
    "oneOf": [
        closed({"kind": {"const": "circle"}, "radius": {"type": "number"}}, "kind", "radius"),
        closed({"kind": {"const": "square"}, "side": {"$ref": "#/$defs/side"}}, "kind", "side"),
        closed({"kind": {"enum": ["dot", "point"]}}, "kind"),
    ],
    "$defs": {"side": {"type": "number", "exclusiveMinimum": 0}},
}

CODES: list[Any] = [
    ("TYPE", {"type": "object"}, [], "", "type"),
    ("NULL", {"type": "object"}, None, "", "type"),
    ("STRINGIFIED", {"type": "object"}, '{"a":1}', "", "type"),
    ("TYPE", {"type": ["object", "array"]}, "x", "", "type"),
    ("TYPE", closed({"o": {"type": "object"}}), {"o": []}, "/o", "type"),
    ("TYPE", NUMBER, {"n": "fifty"}, "/n", "type"),
    ("TYPE", NUMBER, {"n": 2.5}, "/n", "type"),
    ("STRINGIFIED", NUMBER, {"n": "10"}, "/n", "type"),
    ("NULL", NUMBER, {"n": None}, "/n", "type"),
    ("NULL", closed({"e": {"enum": ["a"]}}), {"e": None}, "/e", "enum"),
    ("NULL", closed({"c": {"const": 1}}), {"c": None}, "/c", "const"),
    ("ENUM", closed({"e": {"enum": ["a", "b"]}}), {"e": "c"}, "/e", "enum"),
    ("CONST", closed({"c": {"const": "a"}}), {"c": "b"}, "/c", "const"),
    ("TYPE", closed({"e": {"enum": ["a", "b"]}}), {"e": {"a": 1}}, "/e", "enum"),
    ("RANGE", NUMBER, {"n": 0}, "/n", "minimum"),
    ("RANGE", NUMBER, {"n": 21}, "/n", "maximum"),
    ("RANGE", {"exclusiveMinimum": 1}, 1, "", "exclusiveMinimum"),
    ("RANGE", {"exclusiveMaximum": 1}, 1, "", "exclusiveMaximum"),
    ("MULTIPLE_OF", {"multipleOf": 5}, 3, "", "multipleOf"),
    ("LENGTH", {"minLength": 1}, "", "", "minLength"),
    ("LENGTH", {"maxLength": 2}, "abc", "", "maxLength"),
    ("PATTERN", {"pattern": "^a$"}, "b", "", "pattern"),
    ("FORMAT", {"format": "date-time"}, "yesterday", "", "format"),
    ("ITEMS", {"minItems": 1}, [], "", "minItems"),
    ("ITEMS", {"maxItems": 1}, [1, 2], "", "maxItems"),
    ("ITEMS", {"contains": {"type": "string"}}, [1], "", "contains"),
    ("ITEMS", {"contains": True, "maxContains": 1}, [1, 2], "", "maxContains"),
    ("ITEMS", {"prefixItems": [True], "items": False}, [1, 2], "/1", "items"),
    (
        "ITEMS",
        {"prefixItems": [True], "unevaluatedItems": False},
        [1, 2],
        "",
        "unevaluatedItems",
    ),
    ("UNIQUE", {"uniqueItems": True}, [1, 1], "", "uniqueItems"),
    ("PROPERTIES", {"minProperties": 1}, {}, "", "minProperties"),
    ("PROPERTIES", {"maxProperties": 1}, {"a": 1, "b": 2}, "", "maxProperties"),
    ("PROPERTIES", {"propertyNames": {"pattern": "^x"}}, {"y": 1}, "/y", "pattern"),
    ("DEPENDENT", {"dependentRequired": {"a": ["b"]}}, {"a": 1}, "/b", "dependentRequired"),
    ("DEPENDENT", {"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, "/b", "required"),
    ("MISSING", TICKET, {}, "/ticket_id", "required"),
    ("UNEXPECTED", TICKET, {"ticket_id": "1", "shell": "x"}, "/shell", "additionalProperties"),
    ("UNEXPECTED", {"additionalProperties": False}, {"x": 1}, "/x", "additionalProperties"),
    (
        "UNEXPECTED",
        {"properties": {"a": True}, "additionalProperties": {"not": {}}},
        {"xyz": 1},
        "/xyz",
        "additionalProperties",
    ),
    (
        "UNEXPECTED",
        {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        {"xyz": 1},
        "/xyz",
        "unevaluatedProperties",
    ),
    ("MISNAMED", TICKET, {"ticketId": "T-1"}, "/ticketId", "additionalProperties"),
    ("FORBIDDEN", {"not": {"type": "string"}}, "x", "", "not"),
    ("FORBIDDEN", {"properties": {"a": False}}, {"a": 1}, "/a", "a"),
    ("FORBIDDEN", False, 1, "", "not"),
    ("BRANCH", {"oneOf": [{"minimum": 1}, {"maximum": 9}]}, 5, "", "oneOf"),
    ("BRANCH", {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, "", "anyOf"),
]


@pytest.mark.requirement("ARG-3", "RES-4", "CODES")
@pytest.mark.parametrize(("code", "schema", "value", "pointer", "keyword"), CODES)
def test_each_violation_has_its_code_pointer_and_keyword(
    code: str, schema: object, value: object, pointer: str, keyword: str
) -> None:
    found = only(schema, value)
    assert (str(found.code), found.pointer, found.keyword) == (code, pointer, keyword)


@pytest.mark.requirement("ARG-3", "CODES")
@pytest.mark.parametrize(
    "schema", [{"type": "object"}, TICKET, SHAPES], ids=["bare", "one", "union"]
)
@pytest.mark.parametrize("value", [[], None, '{"ticket_id":"T-1"}', 1], ids=str)
def test_arguments_that_are_no_object_are_told_so_at_the_root_alone(
    schema: object, value: Any
) -> None:
    outcome = conform(value, compiled(schema), "arguments")
    assert isinstance(outcome, Rejected)
    assert [(str(found.code), found.pointer) for found in outcome.findings] == [
        ("NOT_AN_OBJECT", "")
    ]
    nested: Any = {"o": value}
    outcome = conform(nested, compiled(closed({"o": {"type": "object"}})), "arguments")
    assert isinstance(outcome, Rejected)
    assert str(outcome.code) in {"TYPE", "NULL", "STRINGIFIED"}


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    ("wanted", "text", "code"),
    [
        ("integer", "10", "STRINGIFIED"),
        ("integer", "-0", "STRINGIFIED"),
        ("integer", "1e3", "STRINGIFIED"),
        ("integer", "10.0", "STRINGIFIED"),
        ("integer", "1.5", "TYPE"),
        ("integer", " 10 ", "TYPE"),
        ("integer", "+10", "TYPE"),
        ("integer", "010", "TYPE"),
        ("integer", "0x10", "TYPE"),
        ("integer", "\u0661\u0662", "TYPE"),
        ("integer", " fifty ", "TYPE"),
        ("integer", "10\n", "TYPE"),
        ("integer", "9" * 65, "TYPE"),
        ("integer", "1e999", "TYPE"),
        ("number", "17.5", "STRINGIFIED"),
        ("number", "1e999", "TYPE"),
        ("number", "NaN", "TYPE"),
        ("boolean", "true", "STRINGIFIED"),
        ("boolean", "True", "TYPE"),
        ("boolean", "yes", "TYPE"),
        ("array", '["a"]', "STRINGIFIED"),
        ("array", "[]", "STRINGIFIED"),
        ("array", "a,b", "TYPE"),
        ("array", "1,2", "TYPE"),
        ("array", "[1", "TYPE"),
        ("array", '{"a":1}', "TYPE"),
        ("object", '{"a":1}', "STRINGIFIED"),
        ("object", '{"a":1,"a":2}', "TYPE"),
        ("object", "{a}", "TYPE"),
        ("object", "", "TYPE"),
        ("object", "{" * 1000 + "}", "TYPE"),
        ("null", "null", "TYPE"),
    ],
)
def test_only_a_string_that_spells_the_wanted_value_exactly_is_stringified(
    wanted: str, text: str, code: str
) -> None:
    found = only(closed({"x": {"type": wanted}}), {"x": text})
    assert (str(found.code), found.pointer) == (code, "/x")


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    ("value", "code"), [("5", "STRINGIFIED"), ("7", "TYPE"), ("true", "TYPE"), (7, "ENUM")]
)
def test_a_string_that_spells_an_option_is_stringified(value: object, code: str) -> None:
    assert told(closed({"x": {"enum": [5, 6]}}), {"x": value}) == [(code, "/x")]


@pytest.mark.requirement("ARG-3", "RES-8")
def test_a_finding_says_what_where_and_how_to_mend_it() -> None:
    assert only(NUMBER, {"n": 21}) == Finding(
        code=Code.RANGE,
        pointer="/n",
        schema_pointer="/properties/n/maximum",
        keyword="maximum",
        expected="at most 20",
        received="integer",
        limit="20",
    )
    found = only(closed({"s": {"type": "string", "maxLength": 1}}), {"s": "abc"})
    assert (found.expected, found.received, found.received_size, found.limit) == (
        "at most 1 character",
        "string",
        3,
        "1",
    )


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    ("schema", "value", "expected", "hint"),
    [
        (NUMBER, {"n": "10"}, "integer", "send an integer, not a string"),
        (NUMBER, {"n": 2.5}, "integer", "send a whole number"),
        (NUMBER, {"n": {"n": 1}}, "integer", "wrapped one level too deep"),
        (TICKET, {"ticketId": "1"}, "ticket_id", "did you mean ticket_id"),
        (TICKET, {}, "string", "this member is required: add it"),
        (
            closed({"e": {"enum": ["staging", "production"]}}),
            {"e": "Staging"},
            "one of: staging, production",
            "did you mean staging",
        ),
        ({"format": "date-time"}, "x", "date-time", "for instance 2026-11-30T12:00:00Z"),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            "any value",
            "needed because a is there",
        ),
        ({"type": ["null", "string"]}, 1, "string or null", "send a string or null"),
        ({"enum": ["true", "1", "", None]}, "x", 'one of: "true", "1", "", null', ""),
    ],
)
def test_texts_come_from_the_contract(
    schema: object, value: object, expected: str, hint: str
) -> None:
    found = only(schema, value)
    assert found.expected == expected
    assert hint in (found.hint or "")


@pytest.mark.requirement("ARG-3")
def test_long_lists_of_options_are_cut_at_a_whole_option() -> None:
    expected = only({"enum": [f"option-{n}" for n in range(500)]}, "x").expected
    assert expected is not None
    assert len(expected) <= 200
    assert expected.startswith("one of: option-0, option-1, ")
    assert expected.endswith("\u2026 (500 in all)")


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("ticketId", "ticket_id"),
        ("TICKET_ID", "ticket_id"),
        ("ticket-id", "ticket_id"),
        ("ticket id", "ticket_id"),
        ("tikcet_id", "ticket_id"),
        ("ticket_ids", "ticket_id"),
        ("xicket_idy", "ticket_id"),
        ("Limit", "limit"),
        ("limits", "limit"),
        ("lmiit", "limit"),
        ("limbo", None),
        ("shell", None),
        ("id", None),
        ("ticket", None),
        ("t" * 100, None),
        ("", None),
    ],
)
def test_names_are_near_by_case_style_or_by_a_slip_of_the_keyboard(
    name: str, meant: str | None
) -> None:
    assert find_near(name, ["ticket_id", "limit", "no"]) == meant


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"ticketId": "1"}, [("MISNAMED", "/ticketId")], id="replaces missing and unexpected"
        ),
        pytest.param(
            {"ticket_id": "1", "Limit": 5}, [("MISNAMED", "/Limit")], id="near a declared one"
        ),
        pytest.param(
            {"ticket_id": "1", "ticketId": "1"},
            [("UNEXPECTED", "/ticketId")],
            id="the meant one is there",
        ),
        pytest.param(
            {"ticketId": "1", "ticket-id": "2"},
            [("MISNAMED", "/ticketId"), ("UNEXPECTED", "/ticket-id")],
            id="a name is meant once",
        ),
        pytest.param(
            {"shell": "x"},
            [("MISSING", "/ticket_id"), ("UNEXPECTED", "/shell")],
            id="missing before unexpected",
        ),
    ],
)
def test_misnamed_members(value: object, expected: list[tuple[str, str]]) -> None:
    assert told(TICKET, value) == expected


@pytest.mark.requirement("ARG-3")
def test_findings_stand_in_order() -> None:
    schema = closed(
        {
            "z": {"type": "integer"},
            "deep": closed({"x": {"type": "string"}}, "x"),
            "a": {"type": "integer"},
        },
        "must",
        minProperties=9,
    )
    value = {"surplus": 1, "z": "q", "deep": {"other_thing": 1}, "a": "q"}
    assert told(schema, value) == [
        ("PROPERTIES", ""),
        ("MISSING", "/deep/x"),
        ("MISSING", "/must"),
        ("UNEXPECTED", "/surplus"),
        ("UNEXPECTED", "/deep/other_thing"),
        ("TYPE", "/z"),
        ("TYPE", "/a"),
    ]


@pytest.mark.requirement("ARG-3")
def test_at_most_twenty_findings() -> None:
    value = {f"unknown_{number}": 1 for number in range(300)}
    assert [found.pointer for found in findings(closed({}), value)] == [
        f"/unknown_{number}" for number in range(20)
    ]


@pytest.mark.requirement("ARG-3", "AUD-5")
def test_values_are_never_echoed_and_names_are_cut_and_escaped() -> None:
    marker = "MARKER-7f3a"
    schema = closed(
        {"a": {"type": "integer"}, "b": {"enum": ["x"]}, "c": {"type": "string", "pattern": "^x$"}}
    )
    value = {"a": marker, "b": marker, "c": marker, "\u202e" + "n" * 100: marker}
    found = findings(schema, value)
    assert [finding.pointer for finding in found] == [
        "/\\u202e" + "n" * 63 + "\u2026",
        "/a",
        "/b",
        "/c",
    ]
    assert marker not in repr(found)


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"kind": "circle"}, [("MISSING", "/radius", "/oneOf/0/required")], id="by const"
        ),
        pytest.param(
            {"kind": "square", "side": 0},
            [("RANGE", "/side", "/$defs/side/exclusiveMinimum")],
            id="through a reference",
        ),
        pytest.param(
            {"kind": "dot", "side": 1},
            [("UNEXPECTED", "/side", "/oneOf/2/additionalProperties")],
            id="by enum",
        ),
        pytest.param({"kind": "Square"}, [("ENUM", "/kind", "/oneOf")], id="by no branch"),
        pytest.param({"kind": None}, [("NULL", "/kind", "/oneOf")], id="null"),
        pytest.param(
            {"radius": 1}, [("MISSING", "/kind", "/oneOf/0/required")], id="no discriminator"
        ),
        pytest.param([], [("TYPE", "", "/oneOf")], id="no object"),
    ],
)
def test_the_branch_is_chosen_by_its_discriminator(
    value: object, expected: list[tuple[str, str, str]]
) -> None:
    found = findings(SHAPES, value)
    named = [(str(one.code), one.pointer, one.schema_pointer) for one in found]
    assert [one for one in named if one in expected] == expected
    assert {code for code, _, _ in named} <= {*(code for code, _, _ in expected), "UNEXPECTED"}


@pytest.mark.requirement("ARG-3")
def test_an_absent_discriminator_is_told_with_all_its_values() -> None:
    found = findings(SHAPES, {})[0]
    assert (str(found.code), found.pointer) == ("MISSING", "/kind")
    assert found.expected == "circle or square or one of: dot, point"


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        pytest.param(
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            1,
            [("TYPE", "")],
            id="types of all branches",
        ),
        pytest.param(
            closed({"x": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}}),
            {"x": "5"},
            [("STRINGIFIED", "/x")],
            id="spells one of them",
        ),
        pytest.param(
            closed({"x": {"anyOf": [{"type": "integer"}, {"const": "all"}]}}),
            {"x": None},
            [("NULL", "/x")],
            id="null in no branch",
        ),
        pytest.param(
            {"oneOf": [{"const": "a"}, {"const": "b", "title": "B"}]},
            "c",
            [("ENUM", "")],
            id="constants with titles",
        ),
        pytest.param(
            {"anyOf": [closed({"a": {"type": "string"}}, "a"), {"type": "null"}]},
            {"a": 1},
            [("TYPE", "/a")],
            id="the only branch of that type",
        ),
        pytest.param(
            {
                "anyOf": [
                    closed({"a": closed({"b": {"type": "integer"}}, "b")}, "a"),
                    closed({"c": {"type": "string"}}, "c"),
                ]
            },
            {"a": {"b": "x"}},
            [("TYPE", "/a/b")],
            id="the deepest",
        ),
        pytest.param(
            {"anyOf": [{"format": "date", "type": "string"}, {"format": "uuid", "type": "string"}]},
            "x",
            [("FORMAT", "")],
            id="what tied branches share",
        ),
        pytest.param(
            {
                "anyOf": [
                    {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
                    {"type": "null"},
                ]
            },
            [],
            [("TYPE", "")],
            id="nested unions",
        ),
    ],
)
def test_without_a_discriminator_types_then_depth_choose(
    schema: object, value: object, expected: list[tuple[str, str]]
) -> None:
    assert told(schema, value) == expected


@pytest.mark.requirement("ARG-3")
def test_tied_branches_that_share_nothing_are_told_with_a_way_into_each() -> None:
    found = only({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {})
    assert (str(found.code), found.expected) == ("BRANCH", "one of 2 alternatives")
    assert found.hint == "mend one of these: MISSING at /a, or MISSING at /b"


COMPOSED = {
    "type": "object",
    "allOf": [
        {"properties": {"subject": {"type": "string"}}, "required": ["subject"]},
        {"properties": {"source": {"enum": ["directory"]}}},
    ],
    "unevaluatedProperties": False,
}


@pytest.mark.requirement("ARG-3", "RES-4")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"subject": "u", "source": "x"}, [("ENUM", "/source")]),
        ({"subject": 1, "role": "x"}, [("UNEXPECTED", "/role"), ("TYPE", "/subject")]),
        ({"source": "directory"}, [("MISSING", "/subject")]),
        ({"subject": "u", "role": "x"}, [("UNEXPECTED", "/role")]),
    ],
)
def test_a_failed_sibling_does_not_make_declared_members_unexpected(
    value: object, expected: list[tuple[str, str]]
) -> None:
    assert told(COMPOSED, value) == expected


@pytest.mark.requirement("ARG-3")
def test_a_declared_member_of_a_branch_not_taken_is_unexpected() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string"}},
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"properties": {"extra": True}},
        "unevaluatedProperties": False,
    }
    assert told(schema, {"kind": "b", "extra": 1}) == [("UNEXPECTED", "/extra")]


@pytest.mark.requirement("ARG-3")
def test_the_schema_pointer_leads_through_references_and_embedded_schemas() -> None:
    schema = {
        "$id": "https://acme.example/job",
        **closed({"owner": {"$ref": "person"}, "tags": {"$ref": "#/$defs/tags"}}),
        "$defs": {
            "tags": {"type": "array", "maxItems": 1},
            "person": {"$id": "person", **closed({"name": {"$ref": "#/$defs/name"}}),
                       "$defs": {"name": {"type": "string", "minLength": 1}}},
        },
    }  # fmt: skip
    found = findings(schema, {"owner": {"name": ""}, "tags": [1, 2]})
    document: Any = compiled(schema).document
    for one in found:
        place: Any = document
        assert one.schema_pointer is not None
        for segment in one.schema_pointer.split("/")[1:]:
            place = place[segment]
        assert str(place) == one.limit
    assert [one.pointer for one in found] == ["/owner/name", "/tags"]


@pytest.mark.requirement("ARG-3")
@pytest.mark.parametrize(
    "schema",
    [
        pytest.param(closed({"rows": {"type": "array", "items": {"type": "integer"}}}), id="plain"),
        pytest.param(
            {
                "oneOf": [
                    closed(
                        {
                            "outcome": {"const": "success"},
                            "rows": {"type": "array", "items": {"type": "integer"}},
                        }
                    ),
                    closed({"outcome": {"const": "failure"}}),
                ]
            },
            id="in a branch",
        ),
    ],
)
def test_of_a_large_value_the_first_violation_is_told(schema: JsonDict) -> None:
    value: JsonDict = {"rows": [str(number) for number in range(50_000)]}
    if "oneOf" in schema:
        value["outcome"] = "success"
    assert told(schema, value) == [("STRINGIFIED", "/rows/0")]


@pytest.mark.requirement("ARG-3")
def test_judging_changes_neither_value_nor_schema() -> None:
    schema = compiled(SHAPES)
    value: Any = {"kind": "circle", "radius": "1", "x": [1, {"y": None}]}
    before = json.dumps([value, schema.document])
    assert explain_violations(value, schema, False)[0] != ()
    assert json.dumps([value, schema.document]) == before


class PanicError(BaseException):
    """What native code raises when it panics: no Exception."""


@pytest.mark.requirement("RES-9")
def test_a_panic_of_the_engine_is_a_refusal_and_an_interruption_is_obeyed() -> None:
    def panic(value: object) -> bool:
        raise PanicError("at the disco")

    def interrupt(value: object) -> bool:
        raise KeyboardInterrupt

    schema = compiled(TICKET)
    value: Any = {"ticket_id": "T-1"}
    outcome = conform(value, replace(schema, is_valid=panic), "result")
    assert isinstance(outcome, Rejected)
    assert (outcome.stage, outcome.code) == (Stage.INTERNAL, Code.INTERNAL)
    with pytest.raises(KeyboardInterrupt):
        conform(value, replace(schema, is_valid=interrupt), "result")
