"""Two gates built from different parts give the same verdict on every corpus."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.cases.rows import ALL, Row, question_of
from tests.reference.exceptions import CHARACTERS, FORMATS, POLICY, SCHEMAS, TWO_FAULTS
from tests.reference.gate import Judgement, is_forbidden, judge_slowly

from sluicegate.checks.meaning_text import FORBIDDEN
from sluicegate.gates.judging import judge
from sluicegate.gates.verdicts import Question
from sluicegate.values.limits import ENGINE_MAX_DEPTH, Limits

SUITES = os.environ.get("SLUICEGATE_SUITES")
WIDE = Limits(max_bytes=10_000_000, max_depth=ENGINE_MAX_DEPTH)
CLASSES = {"NOT_JSON": "SYNTAX", "TRUNCATED": "SYNTAX", "TRAILING_DATA": "SYNTAX"}
BARE_ROWS = [row for row in ALL if row.side in {"arguments", "result"}]

needs_suites = pytest.mark.skipif(
    SUITES is None, reason="SLUICEGATE_SUITES names no folder with the public suites"
)


def judge_both(raw: bytes, question: Question) -> tuple[Judgement, Judgement]:
    """The gate's verdict in the reference's words, and the reference's own."""
    verdict = judge(raw, question)
    code = None if verdict.code is None else str(verdict.code)
    if verdict.stage == "register":
        code = "SCHEMA"
    elif verdict.stage == "conform":
        code = "CONFORM"
    elif code is not None:
        code = CLASSES.get(code, code)
    return (verdict.accepted, verdict.stage, code), judge_slowly(raw, question)


@pytest.mark.requirement("RES-4", "RES-5", "ARG-3")
@pytest.mark.parametrize("row", BARE_ROWS, ids=[row.id for row in BARE_ROWS])
def test_both_gates_agree_on_every_field_case(row: Row) -> None:
    fast, slow = judge_both(row.raw, question_of(row))
    assert fast == slow


def parsing_files() -> list[Path]:
    return sorted((Path(SUITES or "") / "json-test-suite" / "test_parsing").glob("*.json"))


@needs_suites
@pytest.mark.requirement("ARG-2", "RES-2")
@pytest.mark.parametrize("side", ["arguments", "result"])
def test_both_gates_agree_on_every_file_of_the_parsing_suite(side: Any) -> None:
    question = Question(schema={}, side=side, limits=WIDE)
    differing = {}
    for path in parsing_files():
        fast, slow = judge_both(path.read_bytes(), question)
        if fast != slow:
            differing[path.name] = (fast, slow)
    assert set(differing) == set(TWO_FAULTS)
    assert {pair[0][:2] for pair in differing.values()} == {(False, "parse")}
    assert {pair[1][:2] for pair in differing.values()} == {(False, "parse")}


@cache
def judged_suite(folder: str) -> dict[str, set[tuple[str, str]]]:
    """Judge every instance below ``folder``: what differs, and what is not registered."""
    differing: set[tuple[str, str]] = set()
    unregistered: set[tuple[str, str]] = set()
    for name, group in groups_of(folder):
        for test in group["tests"]:
            question = Question(schema=group["schema"], side="arguments", limits=WIDE)
            raw = json.dumps(test["data"]).encode()
            verdict = judge(raw, question)
            if verdict.stage == "register":
                unregistered.add((name, str(verdict.code)))
                continue
            fast, slow = judge_both(raw, question)
            if fast != slow:
                differing.add((name, group["description"]))
    return {"differing": differing, "unregistered": unregistered}


def groups_of(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    home = Path(SUITES or "") / "json-schema-test-suite" / "tests" / "draft2020-12" / folder
    for path in sorted(home.glob("*.json")):
        for group in json.loads(path.read_bytes()):
            yield path.name, group


@needs_suites
@pytest.mark.requirement("RES-4", "ARG-3")
def test_both_gates_agree_on_every_instance_of_the_schema_suite() -> None:
    assert judged_suite("")["differing"] == set(SCHEMAS)


@needs_suites
@pytest.mark.requirement("RES-4", "ARG-3")
def test_both_gates_agree_on_every_format_that_the_reference_can_assert() -> None:
    differing = {
        name.removesuffix(".json") for name, _ in judged_suite("optional/format")["differing"]
    }
    assert differing == set(FORMATS)


@needs_suites
@pytest.mark.requirement("CON-2")
def test_a_schema_of_the_suite_is_left_out_for_a_reason_of_policy_alone() -> None:
    left_out = {
        code
        for folder in ("", "optional", "optional/format")
        for _, code in judged_suite(folder)["unregistered"]
    }
    assert left_out == set(POLICY)


@pytest.mark.requirement("RES-5")
def test_both_gates_forbid_the_same_characters() -> None:
    differing = {
        point
        for point in range(0x110000)
        if (FORBIDDEN.search(chr(point)) is not None) != is_forbidden(chr(point))
    }
    assert differing == set(CHARACTERS)
