"""Hostile bytes for the parser alone, and what a closed contract makes of the legal ones."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.cases.rows import FOLDER

from sluicegate.gates.judging import judge
from sluicegate.gates.verdicts import Question, Verdict
from sluicegate.values.limits import ENGINE_MAX_DEPTH, Limits

LIMITS = Limits(max_bytes=262_144, max_depth=ENGINE_MAX_DEPTH)
CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
GENERATED = {
    "unterminated deep": b"[" * 100_000,
    "deep objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
}


def read_rows() -> dict[str, tuple[bytes, str]]:
    rows = {}
    for line in (FOLDER / "raw-json.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        shape = row["generate"]
        raw = GENERATED[shape] if shape else base64.b64decode(row["raw_b64"])
        rows[row["id"]] = (raw, row["expect"]["verdict"])
    return rows


ROWS = read_rows()


def ids_with(*verdicts: str) -> list[str]:
    return [name for name, (_, verdict) in ROWS.items() if verdict in verdicts]


def judged(name: str, schema: Any, **asked: Any) -> Verdict:
    return judge(ROWS[name][0], Question(schema=schema, limits=LIMITS, **asked))


@pytest.mark.requirement("ARG-1", "ARG-2", "RES-2")
@pytest.mark.parametrize("name", ids_with("rejected"))
def test_what_is_not_one_strict_document_is_refused_before_any_schema(name: str) -> None:
    verdict = judged(name, {}, side="arguments")
    assert (verdict.accepted, verdict.stage in {"bound", "parse"}) == (False, True), verdict


@pytest.mark.requirement("ARG-2")
@pytest.mark.parametrize("name", ids_with("accepted"))
def test_a_plain_document_is_accepted_by_the_parser_and_by_its_contract(name: str) -> None:
    assert (judged(name, {}).accepted, judged(name, CLOSED).accepted) == (True, True)


@pytest.mark.requirement("ARG-2", "RES-4")
@pytest.mark.parametrize("name", ids_with("accept-parse/reject-schema"))
def test_legal_json_that_tries_a_trick_is_refused_by_a_closed_contract(name: str) -> None:
    parsed, refused = judged(name, {}, side="arguments"), judged(name, CLOSED)
    assert (parsed.accepted, refused.accepted, refused.stage) == (True, False, "conform")


POLICIES: Mapping[str, tuple[dict[str, Any], str | None]] = {
    # Text that no display shows as it is: legal JSON, so arguments may hold it where a schema
    # does; an answer that holds it is refused after it conforms.
    "noncharacter": ({"side": "result"}, "FORBIDDEN_TEXT"),
    "bidi": ({"side": "result"}, "FORBIDDEN_TEXT"),
    "ansi": ({"side": "result"}, "FORBIDDEN_TEXT"),
    # A number too small for binary64 is zero, and digits beyond it are lost: both finite, both
    # accepted. A contract that needs more says so with a string.
    "underflow": ({"side": "result"}, None),
    "float-precision": ({"side": "result"}, None),
    # 1.0 is an integer to JSON Schema 2020-12.
    "int-as-float": ({"side": "result", "schema": CLOSED}, None),
    # Integers are exact; `integers: i-json` refuses those that a binary64 peer would round.
    "snowflake": ({"side": "result"}, None),
    "snowflake, i-json": ({"side": "result", "integers": "i-json"}, "UNSAFE_INTEGER"),
}


@pytest.mark.requirement("ARG-2", "RES-5")
@pytest.mark.parametrize("policy", POLICIES)
def test_what_is_left_to_policy_is_decided_here(policy: str) -> None:
    asked, code = POLICIES[policy]
    verdict = judged(policy.partition(",")[0], **{"schema": {}, **asked})
    assert verdict.code == code


def test_every_row_left_to_policy_has_one() -> None:
    named = {policy.partition(",")[0] for policy in POLICIES}
    assert named == set(ids_with("policy", "accept-parse/policy"))


@pytest.mark.requirement("ARG-2")
@pytest.mark.parametrize("name", ids_with("accept-parse/policy"))
def test_what_an_answer_may_not_hold_is_still_legal_json(name: str) -> None:
    assert judged(name, {}, side="arguments").accepted


def test_no_row_is_lost() -> None:
    groups = {"rejected", "accepted", "accept-parse/reject-schema", "policy", "accept-parse/policy"}
    assert (len(ROWS), len(ids_with(*groups))) == (48, 48)
