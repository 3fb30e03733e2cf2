"""One document describes every answer of a tool; any conforming validator takes it (CON-6)."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from jsonschema_rs import Draft202012Validator

from sluicegate.contracts.schemas.envelope import envelope_schema
from sluicegate.values.codes import FAILURE_CODES, REFUSED_CODES

pytestmark = pytest.mark.requirement("CON-6", "ENV-1")

AGENT = {
    "type": "object",
    "properties": {"state": {"enum": ["on", "off"]}},
    "required": ["state"],
    "additionalProperties": False,
}
ERRORS = {"NOT_FOUND": False, "BUSY": True}
SCHEMA = envelope_schema("job_status", AGENT, ERRORS)
HEAD = {"tool": "job_status", "request_id": "req.J7q94MkP"}
FINDING = {"code": "MISSING", "pointer": "/run_id"}


def success(**more: Any) -> dict[str, Any]:
    return {**HEAD, "outcome": "success", "data": {"state": "on"}, **more}


def failure(code: str = "INVALID_RESPONSE", **more: Any) -> dict[str, Any]:
    error = {"code": code, "retryable": False, **more}
    return {**HEAD, "outcome": "failure", "error": error}


def refused(code: str = "DENIED", **more: Any) -> dict[str, Any]:
    error = {"code": code, "retryable": False, **more}
    return {**HEAD, "outcome": "refused", "error": error}


ACCEPTED: list[Any] = [
    pytest.param(success(), id="success"),
    pytest.param(success(replayed=True), id="a replay"),
    *(pytest.param(failure(code), id=f"failure {code}") for code in sorted(FAILURE_CODES)),
    *(pytest.param(failure(code), id=f"failure {code}") for code in ERRORS),
    *(pytest.param(refused(code), id=f"refused {code}") for code in sorted(REFUSED_CODES)),
    pytest.param(refused("INVALID_ARGUMENTS", findings=[FINDING]), id="with a finding"),
    pytest.param(
        refused(
            "CHECK_FAILED",
            findings=[{**FINDING, "code": "CHECK_FAILED", "expected": "e", "received": "string"}],
        ),
        id="a check's finding",
    ),
    pytest.param(
        refused(
            "INVALID_ARGUMENTS",
            findings=[{**FINDING, "hint": "h", "schema_pointer": "/required", "keyword": "k"}],
        ),
        id="with every member",
    ),
    pytest.param(
        refused("EVIDENCE_REQUIRED", needs={"tool": "look_up", "arguments": {"id": 1}}),
        id="with what is needed",
    ),
]

REFUSED: list[Any] = [
    pytest.param({**success(), "tool": "other"}, id="another tool"),
    pytest.param({**success(), "request_id": "short"}, id="no request id"),
    pytest.param({**success(), "outcome": "failure"}, id="data in a failure"),
    pytest.param({**success(), "error": {"code": "DENIED", "retryable": False}}, id="two shapes"),
    pytest.param({**success(), "message": "x"}, id="a member more"),
    pytest.param(success(replayed=False), id="replayed: false"),
    pytest.param({**success(), "data": {"state": "x"}}, id="other data"),
    pytest.param({**success(), "data": {"state": "on", "x": 1}}, id="a member more in the data"),
    pytest.param({key: HEAD[key] for key in HEAD} | {"outcome": "success"}, id="no data"),
    pytest.param(failure("DENIED"), id="a refusal as failure"),
    pytest.param(failure("OTHER"), id="a code that is not declared"),
    pytest.param(failure(message="x"), id="text in a failure"),
    pytest.param(refused("INVALID_RESPONSE"), id="a failure as refusal"),
    pytest.param(refused("NOT_FOUND"), id="a contract's code as refusal"),
    pytest.param(refused("DENIED", findings=[FINDING]), id="findings with another code"),
    pytest.param(
        refused("INVALID_ARGUMENTS", findings=[{**FINDING, "value": 1}]), id="a value in a finding"
    ),
    pytest.param(
        refused("INVALID_ARGUMENTS", findings=[{**FINDING, "code": "STALE"}]),
        id="a finding of the result side",
    ),
    pytest.param(
        refused("INVALID_ARGUMENTS", findings=[FINDING] * 21), id="more than twenty findings"
    ),
    pytest.param(
        refused("INVALID_ARGUMENTS", needs={"tool": "t", "arguments": {}}), id="needs elsewhere"
    ),
    pytest.param(refused("EVIDENCE_REQUIRED", needs={"tool": "t"}), id="needs without arguments"),
    pytest.param([], id="no object"),
]

ENGINES = {
    "jsonschema-rs": lambda schema: Draft202012Validator(schema, offline=True).is_valid,
    "jsonschema": lambda schema: jsonschema.Draft202012Validator(schema).is_valid,
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("answer", ACCEPTED)
def test_admits_the_three_shapes(engine: str, answer: object) -> None:
    assert ENGINES[engine](SCHEMA)(answer)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("answer", REFUSED)
def test_admits_nothing_else(engine: str, answer: object) -> None:
    assert not ENGINES[engine](SCHEMA)(answer)


def test_a_line_feed_after_the_request_id_is_no_part_of_it() -> None:
    """By the rules of ECMA; Python's own `$` matches before it (facts: engines 5)."""
    assert not ENGINES["jsonschema-rs"](SCHEMA)({**success(), "request_id": "req.J7q94MkP\n"})


def test_is_a_schema_of_its_dialect_with_an_object_root() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["type"] == "object"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "agent",
    [
        pytest.param(
            {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/node"}},
                "additionalProperties": False,
                "$defs": {
                    "node": {
                        "type": "object",
                        "properties": {"next": {"$ref": "#/$defs/node"}},
                        "additionalProperties": False,
                    }
                },
            },
            id="definitions",
        ),
        pytest.param(
            {
                "type": "object",
                "properties": {"next": {"$ref": "#"}},
                "additionalProperties": False,
            },
            id="the root itself",
        ),
    ],
)
def test_references_of_the_data_lead_to_the_data(engine: str, agent: dict[str, Any]) -> None:
    admits = ENGINES[engine](envelope_schema("job_status", agent, {}))
    assert admits({**success(), "data": {"next": {"next": {}}}})
    assert not admits({**success(), "data": {"next": {"next": {"x": 1}}}})
    assert not admits({**success(), "data": {"next": success()}})


def test_a_value_that_looks_like_a_reference_stays_a_value() -> None:
    agent = {
        "type": "object",
        "properties": {"a": {"const": {"$ref": "#/x"}}, "b": {"$ref": "#/$defs/b"}},
        "additionalProperties": False,
        "$defs": {"b": {"type": "null"}},
    }
    admits = Draft202012Validator(dict(envelope_schema("job_status", agent, {}))).is_valid
    assert admits({**success(), "data": {"a": {"$ref": "#/x"}, "b": None}})
