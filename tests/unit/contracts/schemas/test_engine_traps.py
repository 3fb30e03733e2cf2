"""Each fault of the engines that a schema can set free is closed at registration (CON-2, RES-4)."""

from __future__ import annotations

import sys
from typing import Any

import jiter
import pytest

from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.proofs import Prover
from sluicegate.contracts.schemas.registration import register

pytestmark = pytest.mark.requirement("CON-2", "RES-4")


def registered(schema: object, *, strict: bool = False) -> CompiledSchema:
    outcome = register(schema, side="result", strict=strict)
    assert isinstance(outcome, CompiledSchema), outcome
    return outcome


def is_finite(schema: CompiledSchema) -> bool:
    return Prover(schema.document).prove(schema.document).finite


def code_of(schema: object, *, strict: bool = False) -> str | None:
    outcome = register(schema, side="result", strict=strict)
    return None if isinstance(outcome, CompiledSchema) else outcome[0].code.value


def parse(raw: bytes) -> Any:
    return jiter.from_json(raw, allow_inf_nan=False, catch_duplicate_keys=True)


def test_1_integers_of_the_parser_s_greatest_length_are_compared_exactly() -> None:
    assert sys.get_int_max_str_digits() >= 4_300
    assert not registered({"type": "integer", "maximum": 5}).is_valid(parse(b"9" * 4_300))


def test_2_infinity_passes_bounds_without_a_type_and_the_proof_says_so() -> None:
    loose, typed = registered({"maximum": 5}), registered({"type": "number", "maximum": 5})
    assert (loose.is_valid(parse(b"-1e400")), is_finite(loose)) == (True, False)
    assert (typed.is_valid(parse(b"-1e400")), is_finite(typed)) == (False, True)


def test_4_references_into_network_and_files_are_never_opened() -> None:
    assert code_of({"$ref": "file:///etc/hostname"}) == "SCHEMA_REMOTE_REF"
    assert code_of({"$defs": {"unused": {"$ref": "http://localhost:9/"}}}) == "SCHEMA_REMOTE_REF"


def test_5_nested_unevaluated_keywords_are_refused_before_they_are_compiled() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(20):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    assert code_of(schema) == "SCHEMA_TOO_COMPLEX"


def test_6_an_object_closed_without_a_type_admits_a_string_and_is_open_in_a_contract() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "additionalProperties": False}
    assert registered(schema).is_valid("str")
    assert code_of(schema, strict=True) == "SCHEMA_OPEN_OBJECT"


def test_7_a_closed_layer_refuses_the_members_of_its_siblings() -> None:
    layers = [
        {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
        {"properties": {"b": {"type": "string"}}},
    ]
    assert not registered({"allOf": layers}, strict=True).is_valid({"a": "x", "b": "y"})
    layers[0] = {"type": "object", "properties": {"a": {"type": "string"}}}
    outer = {"allOf": layers, "unevaluatedProperties": False}
    assert registered(outer, strict=True).is_valid({"a": "x", "b": "y"})


def test_8_a_float_without_fraction_is_an_integer_and_true_is_none() -> None:
    schema = registered({"type": "integer"})
    assert [schema.is_valid(parse(raw)) for raw in (b"1", b"1.0", b"true", b"1.5")] == [
        *(True, True, False, False)
    ]


def test_9_multiples_are_judged_in_decimal() -> None:
    schema = registered({"type": "number", "multipleOf": 0.01})
    assert schema.is_valid(parse(b"19.99"))
    assert not schema.is_valid(parse(b"19.999"))


def test_10_the_engine_s_date_time_is_wider_than_fresh_admits() -> None:
    """Why freshness has a parser of its own: these pass here, and BAD_TIME ends some of them."""
    schema = registered({"type": "string", "format": "date-time"})
    wide = ["2016-12-31t23:59:60z", "0000-01-01T00:00:00Z", "2026-11-30T12:00:00-00:00"]
    assert [schema.is_valid(text) for text in wide] == [True, True, True]
    assert not schema.is_valid("2026-11-30 12:00:00Z")


def test_11_length_counts_characters() -> None:
    schema = registered({"type": "string", "maxLength": 1})
    assert schema.is_valid("\N{GRINNING FACE}")
    assert not schema.is_valid("e\N{COMBINING ACUTE ACCENT}")


@pytest.mark.parametrize("legacy", [{"definitions": {}}, {"dependencies": {"a": ["b"]}}])
def test_13_keywords_of_older_drafts_that_the_engine_enforces_are_refused(legacy: object) -> None:
    assert code_of(legacy) == "SCHEMA_UNKNOWN_KEYWORD"


def test_patterns_are_those_of_ecma_not_of_python() -> None:
    schema = registered({"type": "string", "pattern": r"^\d$"})
    assert schema.is_valid("1")
    assert not schema.is_valid("1\n")
    assert not schema.is_valid("\N{ARABIC-INDIC DIGIT ONE}")


def test_an_exponential_pattern_is_linear_here() -> None:
    schema = registered({"type": "string", "pattern": "^(a+)+$"})
    assert not schema.is_valid("a" * 100_000 + "!")


def test_a_duplicate_in_a_schema_is_a_matter_of_its_reader() -> None:
    """Parsed schemas have no duplicates left to see; the reader refuses them before."""
    with pytest.raises(ValueError, match="duplicate key"):
        parse(b'{"type": "object", "type": "array"}')
