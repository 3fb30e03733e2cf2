"""What lint says of a whole schema: profiles, suppressions, composition, shapes of the gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.lifecycle.lint.deciding import lint_here

from sluicegate.contracts.schemas.envelope import envelope_schema
from sluicegate.contracts.schemas.keywords import DIALECT
from sluicegate.lifecycle.lint import matching
from sluicegate.lifecycle.lint.findings import WORD, closed
from sluicegate.lifecycle.lint.linting import APPLIED
from sluicegate.lifecycle.lint.subject import Surroundings
from sluicegate.values.pointers import Pointer

pytestmark = pytest.mark.requirement("LIF-1")

ROOT = Path(__file__).resolve().parents[4]
OPEN: dict[str, Any] = {
    "$schema": DIALECT,
    "type": "object",
    "properties": {"a": {"type": "string"}},
}


def rules(*given: Any, severity: str | None = None, **more: Any) -> list[str]:
    return [
        finding.rule
        for finding in lint_here(*given, **more)
        if severity in (None, finding.severity)
    ]


def test_the_strict_envelope_has_no_error() -> None:
    envelope = json.loads((ROOT / "benchmarks/documents/schema_small.json").read_text("utf-8"))
    assert rules(envelope, severity="error") == []


def test_the_envelope_that_the_gate_prints_has_no_error() -> None:
    data = closed({"a": {"type": "string", "pattern": "^[a-z]{1,9}$"}})
    printed = envelope_schema("job_status", data, {"NOT_FOUND": False})
    assert rules(printed, severity="error") == []


def test_what_only_resembles_the_refusals_of_the_gate_is_judged() -> None:
    printed: Any = json.loads(json.dumps(envelope_schema("t", closed({"a": {"const": 1}}), {})))
    error = printed["oneOf"][2]["properties"]["error"]
    error["oneOf"][0]["properties"]["findings"]["maxItems"] = 21
    assert {"B01", "E05"} <= set(rules(printed, severity="error"))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param(
            {"allOf": [{"type": "string"}, {"maxLength": 9}]}, [], id="a bound in another branch"
        ),
        pytest.param({"$ref": "#/$defs/word"}, [], id="a bound behind a reference"),
        pytest.param({"anyOf": [WORD, {"type": "null"}]}, [], id="null needs no length"),
        pytest.param({"anyOf": [WORD, {"type": "string"}]}, ["B01"], id="one branch without end"),
        pytest.param({"type": "string", "format": "uuid"}, [], id="a format of fixed length"),
        pytest.param({"type": "string", "pattern": "^[a-z]{3}$"}, [], id="a pattern that ends"),
        pytest.param({"type": "string", "pattern": "^[a-z]+$"}, ["B01"], id="one that does not"),
    ],
)
def test_a_bound_counts_wherever_it_stands(schema: Any, expected: list[str]) -> None:
    found = rules(closed({"a": schema}, **{"$defs": {"word": WORD}}))
    assert [rule for rule in found if rule == "B01"] == expected


def test_one_definition_used_twice_is_told_once() -> None:
    place = closed({"a": {"$ref": "#/$defs/p"}, "b": {"$ref": "#/$defs/p"}})
    inner = {"type": "object", "properties": {"s": {"type": "string"}}, "required": ["s"]}
    whole = {**place, "$defs": {"p": {**inner, "additionalProperties": False}}}
    assert rules(whole).count("B01") == 1


def test_a_definition_used_twice_counts_twice_for_the_size() -> None:
    page = {"type": "array", "items": {"type": "integer"}, "maxItems": 60}
    once = closed({"a": {"$ref": "#/$defs/p"}}, **{"$defs": {"p": page}})
    twice = closed(
        {"a": {"$ref": "#/$defs/p"}, "b": {"$ref": "#/$defs/p"}}, **{"$defs": {"p": page}}
    )
    limit = Surroundings(max_bytes=2_000)
    assert "B08" not in rules(once, around=limit)
    assert "B08" in rules(twice, around=limit)


def test_the_imported_profile_leaves_bounds_and_objects_to_the_gate() -> None:
    findings = lint_here(OPEN, "arguments", profile="imported")
    softened = {finding.rule: (finding.severity, finding.hint) for finding in findings}
    assert softened["C01"] == ("info", APPLIED)
    assert softened["B01"] == ("info", APPLIED)


def test_a_profile_sets_the_severities_of_its_side() -> None:
    found = {each.rule: each.severity for each in lint_here(OPEN, profile="strict-arguments")}
    assert found["B01"] == "warning"
    assert {each.rule: each.severity for each in lint_here(OPEN)}["B01"] == "error"


def suppressed(*entries: Any) -> list[str]:
    return rules(closed({"a": {"type": "string", "pattern": "^.{1,9}$", "x-lint": list(entries)}}))


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param({"rule": "X03", "reason": "r", "until": "2026-11-30"}, [], id="to its day"),
        pytest.param(
            {"rule": "pattern-admits-junk", "reason": "r", "until": "2027-01-01"}, [], id="by name"
        ),
        pytest.param(
            {"rule": "X03", "reason": "r", "until": "2026-11-29"}, ["X03", "L02"], id="expired"
        ),
        pytest.param({"rule": "X03", "until": "2027-01-01"}, ["X03", "L03"], id="no reason"),
        pytest.param({"rule": "X03", "reason": "r"}, ["X03", "L03"], id="no end"),
        pytest.param({"rule": "X03", "reason": "r", "until": "soon"}, ["X03", "L03"], id="no day"),
        pytest.param(
            {"rule": "B01", "reason": "r", "until": "2027-01-01"}, ["X03", "L01"], id="unused"
        ),
        *(
            pytest.param({"rule": "X03", "reason": "r", "until": day}, ["X03", "L03"], id=day)
            for day in (
                *("2027-W01-1", "20270101", "9999-12-31", "2032-12-31", "2027-02-30", "2027-1-1"),
                *("2027-01-01T00:00:00", " 2027-01-01", "２０２７-01-01"),
            )
        ),
        *(
            pytest.param(
                {"rule": rule, "reason": "r", "until": "2027-01-01"}, ["X03", "L03"], id=rule
            )
            for rule in ("C99", "x03", "patern-admits-junk", "*")
        ),
        pytest.param({"rule": "X03", "reason": "r", "until": "2031-11-29"}, [], id="five years"),
    ],
)
def test_a_suppression_silences_its_rule_at_its_node(entry: Any, expected: list[str]) -> None:
    assert [rule for rule in suppressed(entry) if rule[0] in "XL"] == expected


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("C99", "there is no rule `C99`; did you mean `C09`?"),
        ("x03", "did you mean `X03`?"),
        ("patern-admits-junk", "did you mean `pattern-admits-junk`?"),
        ("*", "there is no rule `*`."),
    ],
)
def test_a_suppression_of_no_rule_is_an_error_that_names_the_nearest(rule: str, says: str) -> None:
    entry = {"rule": rule, "reason": "r", "until": "2027-01-01"}
    (told,) = [
        each for each in lint_here(closed({"a": {**WORD, "x-lint": [entry]}})) if each.rule == "L03"
    ]
    assert says in told.message
    assert told.severity == "error"


QUIET: dict[str, Any] = {"x-lint": [{"rule": "C01", "reason": "r", "until": "2027-01-01"}]}
LOUD = {"type": "object", "properties": {"s": {"const": "a"}}, "required": ["s"]}


@pytest.mark.parametrize(
    "use",
    [
        {"$ref": "#/$defs/q"},
        {"$ref": "#/$defs/q", "description": "Which one."},
        {"allOf": [{"$ref": "#/$defs/q"}]},
        {"$ref": "#/$defs/p"},
    ],
    ids=["by reference", "with a description", "in allOf", "by two references"],
)
def test_what_is_said_of_a_definition_stands_there_and_is_silenced_there(use: Any) -> None:
    def found(**quiet: Any) -> list[tuple[str, str]]:
        more = {"p": {"$ref": "#/$defs/q"}, "q": {**LOUD, **quiet}}
        told = lint_here(closed({"a": use, "b": use}, **{"$defs": more}))
        return [(each.rule, each.pointer) for each in told if each.rule in ("C01", "L01")]

    assert found() == [("C01", "/$defs/q")]
    assert found(**QUIET) == []


def test_a_suppression_in_a_definition_does_not_speak_for_what_is_added_at_its_use() -> None:
    closes = {"type": "object", "properties": {"s": {"const": "a"}}, "required": ["s"]}
    use = {"$ref": "#/$defs/q", "properties": {"t": {"const": 1}}}
    schema = closed({"a": use}, **{"$defs": {"q": {**closes, **QUIET}}})
    assert "C01" in rules(schema)


@pytest.mark.parametrize("opener", ["additionalProperties", "unevaluatedProperties"])
@pytest.mark.parametrize("value", [True, {}], ids=["true", "an empty schema"])
def test_an_object_with_declared_members_is_told_to_be_closed(opener: str, value: Any) -> None:
    schema = closed({"a": {"const": 1}})
    del schema["additionalProperties"]
    found = lint_here({**schema, opener: value})
    (told,) = [each for each in found if each.rule in ("C01", "C04") and not each.pointer]
    assert (told.rule, told.severity) == ("C01", "error")
    assert f"{opener}: false" in told.hint
    assert "propertyNames" not in told.hint


def test_a_map_that_declares_nothing_is_told_to_be_bounded() -> None:
    wide = {"type": "object", "additionalProperties": WORD}
    (told,) = [each for each in lint_here(closed({"a": wide})) if each.rule == "C04"]
    assert "propertyNames" in told.hint


def test_a_map_behind_a_reference_is_a_map() -> None:
    wide = {"type": "object", "additionalProperties": WORD}
    found = rules(closed({"a": {"$ref": "#/$defs/q"}}, **{"$defs": {"q": wide}}))
    assert "C04" in found
    assert "C01" not in found


def test_a_suppression_above_silences_nothing_below() -> None:
    entry = {"rule": "B01", "reason": "r", "until": "2027-01-01"}
    found = rules(closed({"a": {"type": "string"}}, **{"x-lint": [entry]}))
    assert {"B01", "L01"} <= set(found)


def test_text_that_the_agent_never_sees_is_no_way_in() -> None:
    schema = closed({"id": {"const": "a"}, "note": WORD})
    told = Surroundings(of_contract=True, selected=frozenset({Pointer(("id",))}))
    assert "E05" in rules(schema)
    assert "E05" not in rules(schema, around=told)


def test_declared_free_text_is_no_finding() -> None:
    note = Pointer(("message",))
    told = Surroundings(of_contract=True, selected=frozenset({note}), untrusted=frozenset({note}))
    assert "E05" not in rules(closed({"message": WORD}), around=told)


@pytest.mark.parametrize(
    "schema",
    [None, 1, "x", [], {"type": 5}, {"properties": []}, {"$ref": 5}, {"enum": {}}, {"allOf": [5]}],
    ids=repr,
)
def test_what_is_no_schema_is_said_and_nothing_is_raised(schema: Any) -> None:
    assert "D00" in rules(schema)


def test_the_innermost_place_at_which_nothing_is_valid_is_told() -> None:
    schema = closed({"a": {"type": "integer", "minimum": 5, "maximum": 3}})
    found = [each.pointer for each in lint_here(schema) if each.rule == "U01"]
    assert found == ["/properties/a"]


def test_a_place_that_was_meant_to_be_empty_is_no_finding() -> None:
    assert "U01" not in rules(closed({"a": WORD}, properties={"a": WORD, "b": False}))


TOGETHER = closed(
    {"a": WORD, "b": WORD}, patternProperties={"^x_[a-z]{1,9}$": WORD, "^y_[a-z]{1,9}$": WORD}
)
APART: dict[str, Any] = {
    "$schema": DIALECT,
    "type": "object",
    "allOf": [
        {"properties": {"a": WORD, "b": WORD}},
        {"patternProperties": {"^x_[a-z]{1,9}$": WORD, "^y_[a-z]{1,9}$": WORD}},
    ],
    "required": ["a"],
    "unevaluatedProperties": False,
}


@pytest.mark.parametrize(
    "schema", [pytest.param(TOGETHER, id="one schema"), pytest.param(APART, id="composed")]
)
def test_names_and_patterns_that_multiply_beyond_the_bound_are_told_and_not_matched(
    schema: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "S01" not in rules(schema)
    monkeypatch.setattr(matching, "MAX_MATCHES", 3)
    matched: list[str] = []
    monkeypatch.setattr(matching, "matches", lambda pattern, name: matched.append(name))
    (told,) = [finding for finding in lint_here(schema) if finding.rule == "S01"]
    assert (told.severity, told.hint) == ("error", matching.FEWER_PATTERNS)
    assert len(matched) <= 3


def test_a_schema_as_wide_as_a_folder_admits_is_given_up_before_it_is_matched() -> None:
    wide = closed(
        {f"member_{number}": WORD for number in range(6_000)},
        patternProperties={f"^x_{number}_[a-z]{{1,9}}$": WORD for number in range(800)},
    )
    assert "S01" in rules(wide, severity="error")
