"""The fate of a mutant on real ladders, and what it does to the score."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from sluicegate.contracts.contract import Contract
from sluicegate.contracts.schemas.compiled import CompiledSchema
from sluicegate.contracts.schemas.registration import register
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.lifecycle.mutants.carrying import Carried, open_answer
from sluicegate.lifecycle.mutants.meaning import mutate_meaning
from sluicegate.lifecycle.mutants.mutant import Expectation, Mutant
from sluicegate.lifecycle.mutants.structure import mutate_structure
from sluicegate.lifecycle.scoring import Equivalent, Judged, Tally, judge_mutants
from sluicegate.testing import contracts_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Stage
from sluicegate.values.instants import moment_of, parse_rfc3339
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

NOW = datetime(2026, 1, 1, 12, 0, 30, tzinfo=UTC)
ANSWER = {"id": "abc", "note": "all is well", "observed_at": "2026-01-01T12:00:00Z"}
CONTRACT: dict[str, Any] = {
    "sluicegate": 1,
    "tool": "thing_state",
    "version": "1.0.0",
    "owner": "ci-platform",
    "description": "State of one thing.",
    "effect": "read",
    "arguments": {
        "schema": {
            "type": "object",
            "properties": {"id": {"type": "string", "pattern": "^[a-z]{3,9}$"}},
            "required": ["id"],
            "additionalProperties": False,
        }
    },
    "fetch": {"host": {}},
    "result": {
        "schema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "pattern": "^[a-z]{3,9}$"},
                "note": {"type": "string", "maxLength": 40},
                "observed_at": {"type": "string", "format": "date-time", "maxLength": 35},
            },
            "required": ["id", "note", "observed_at"],
            "additionalProperties": False,
        },
        "bind": {"/id": "/id"},
        "fresh": {"at": "/observed_at", "max_age_s": 60, "max_ahead_s": 5},
        "agent": ["/id"],
        "operator": ["/note"],
    },
}


def contract() -> Contract:
    loaded = contracts_of({"thing_state/contract.json": json.dumps(CONTRACT)})
    return loaded.contracts["thing_state"]


def opened(served: Contract) -> Carried:
    carried = open_answer(served, json.dumps(ANSWER).encode())
    assert carried is not None
    return carried


def request(arguments: object) -> Request:
    return Request(
        tool="thing_state",
        request_id=RequestId("req.fixture0"),
        arguments=arguments,
        caller=Caller(subject="svc"),
    )


def climb(served: Contract, mutant: Mutant) -> Any:
    now = parse_rfc3339(str(mutant.needs.get("now", "2026-01-01T12:00:30Z")))
    assert now is not None
    receipt = Receipt(adapter="test", adapter_version="1", endpoint="", raw=mutant.raw)
    asked = request(mutant.needs.get("arguments", {"id": "abc"}))
    return ResultLadder(served).climb(receipt, asked, moment_of(now))


def judge(
    served: Contract, mutants: Iterator[Mutant], *equivalents: Equivalent
) -> dict[str, Judged]:
    example = mutant_of(json.dumps(ANSWER).encode())
    accepted = climb(served, example)
    assert not isinstance(accepted, Rejected)
    judged = judge_mutants(mutants, lambda each: climb(served, each), accepted, equivalents)
    return {each.mutant.name: each for each in judged}


def mutant_of(
    raw: bytes, *, stage: Stage = Stage.CONFORM, expectation: Expectation = "refused"
) -> Mutant:
    return Mutant(
        name="made", level="structure", pointer="", raw=raw, stage=stage, expectation=expectation
    )


def fate_of(raw: bytes, *equivalents: Equivalent, **parts: Any) -> str:
    return judge(contract(), iter([mutant_of(raw, **parts)]), *equivalents)["made"].fate


GOOD = json.dumps(ANSWER).encode()
OTHER_NOTE = json.dumps({**ANSWER, "note": "other"}).encode()
OTHER_ID = json.dumps({**ANSWER, "id": "xyz"}).encode()
SAME = Equivalent(mutant="made", pointer="", reason="the agent sees the same")


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("raw", "parts", "fate"),
    [
        (b"{}", {}, "killed"),
        (b"{", {}, "killed"),
        (OTHER_ID, {}, "late"),
        (OTHER_ID, {"stage": Stage.VOUCH}, "killed"),
        (OTHER_NOTE, {}, "survived"),
        (GOOD, {"expectation": "accepted"}, "killed"),
        (OTHER_ID, {"expectation": "accepted"}, "refused"),
        (OTHER_NOTE, {"expectation": "unseen"}, "killed"),
        (b"{}", {"expectation": "unseen"}, "refused"),
    ],
    ids=[
        "at its rung",
        "earlier",
        "later",
        "at a later rung that was stated",
        "by none",
        "an edge that passes",
        "an edge that does not",
        "unselected",
        "unselected and refused",
    ],
)
def test_the_fate_of_a_mutant(raw: bytes, parts: dict[str, Any], fate: str) -> None:
    assert fate_of(raw, **parts) == fate


@pytest.mark.requirement("LIF-2")
def test_what_the_agent_sees_of_an_unselected_member_is_a_hole() -> None:
    served = contract()
    mutants = [
        each
        for each in mutate_meaning(served, opened(served), request({"id": "abc"}))
        if each.expectation == "unseen"
    ]
    assert [each.pointer for each in mutants] == ["/note"]
    shown = json.loads(json.dumps(CONTRACT))
    shown["result"] |= {"agent": ["/id", "/note"], "operator": []}
    showing = contracts_of({"thing_state/contract.json": json.dumps(shown)})
    assert judge(showing.contracts["thing_state"], iter(mutants))[mutants[0].name].fate == "seen"


@pytest.mark.requirement("LIF-2")
def test_an_equivalent_is_one_only_where_the_output_is_the_very_same() -> None:
    assert fate_of(OTHER_NOTE, SAME) == "equivalent"
    assert fate_of(OTHER_ID, SAME) == "late"
    unnamed = replace(SAME, pointer="/note")
    assert fate_of(OTHER_NOTE, unnamed) == "survived"


def test_more_than_five_equivalents_are_misuse() -> None:
    with pytest.raises(ValueError, match="at most 5"):
        fate_of(GOOD, *[SAME] * 6)


@pytest.mark.requirement("LIF-2")
def test_the_score_leaves_equivalents_out_and_counts_late_kills_as_holes() -> None:
    tally = Tally()
    made = mutant_of(b"")
    for fate in ("killed", "killed", "killed", "late", "equivalent"):
        tally.count("one", Judged(mutant=made, fate=fate))  # type: ignore[arg-type]
    assert (tally.total, tally.killed, tally.equivalent, tally.score) == (5, 3, 1, 0.75)
    assert [judged.fate for _, judged in tally.holes] == ["late"]
    assert Tally().score is None


@pytest.mark.requirement("LIF-2", "RES-5")
def test_every_meaning_mutant_is_judged_at_its_rung_and_both_edges_pass() -> None:
    served = contract()
    judged = judge(served, mutate_meaning(served, opened(served), request({"id": "abc"})))
    assert {each.fate for each in judged.values()} == {"killed"}
    assert {
        "another-subject-1.id",
        "asked-for-another.id",
        "stale",
        "from-future",
        "oldest-edge",
        "newest-edge",
        "hidden-bidi.note",
        "unselected.note",
    } <= judged.keys()


@pytest.mark.requirement("LIF-2")
@pytest.mark.parametrize(
    ("keyword", "holes"),
    [
        (
            "additionalProperties",
            {
                "extra-message.message": ("survived", "C01"),
                "extra-proto.__proto__": ("survived", "C01"),
                "extra-unreviewed.unreviewed": ("survived", "C01"),
            },
        ),
        (
            "required",
            {
                "drop.id": ("late", "C05"),
                "drop.note": ("survived", "C05"),
                "drop.observed_at": ("late", "C05"),
                "drop-all": ("late", "C05"),
            },
        ),
    ],
)
def test_an_object_that_is_open_or_all_optional_lowers_the_score_and_is_named(
    keyword: str, holes: dict[str, tuple[str, str]]
) -> None:
    served = contract()
    document = json.loads(json.dumps(CONTRACT["result"]["schema"]))
    del document[keyword]
    schema = register(document, side="result", strict=False)
    assert isinstance(schema, CompiledSchema)
    loosened = replace(served, result=replace(served.result, schema=schema))
    judged = judge(loosened, mutate_structure(ANSWER, schema.document))
    found = {
        name: (each.fate, each.mutant.rule)
        for name, each in judged.items()
        if each.fate != "killed"
    }
    assert found == holes
