"""json-v1: the members are an interface, so whole objects are compared."""

from __future__ import annotations

import json

import pytest

from sluicegate.contracts.problems import Problem
from sluicegate.gates.ports import AnchorReport, ChainReport
from sluicegate.gates.verdicts import Verdict
from sluicegate.rendering.json_v1 import (
    render_object,
    shape_anchor,
    shape_chain,
    shape_code,
    shape_problem,
    shape_verdict,
)
from sluicegate.rendering.places import Source
from sluicegate.values.codes import CODES, Code, Stage
from sluicegate.values.digests import digest_of_bytes
from sluicegate.values.findings import Finding

RAW = b'{\n "id": ""}'


def test_a_rejection_holds_stage_code_findings_and_digest_and_no_value() -> None:
    finding = Finding(
        code=Code.LENGTH,
        pointer="/id",
        schema_pointer="/properties/id/minLength",
        keyword="minLength",
        expected="at least 1 character",
        received="string",
        received_size=0,
        limit="1",
    )
    verdict = Verdict(
        accepted=False,
        stage=Stage.CONFORM,
        code=Code.LENGTH,
        findings=(finding,),
        digest=digest_of_bytes(RAW),
    )
    text = render_object("judge", shape_verdict(verdict, Source(name="a.json", raw=RAW)))
    assert text.startswith('{"format": "json-v1", "command": "judge", ')
    assert text.count("\n") == 1
    assert json.loads(text) == {
        "format": "json-v1",
        "command": "judge",
        "verdict": "rejected",
        "stage": "conform",
        "code": "LENGTH",
        "findings": [
            {
                "code": "LENGTH",
                "pointer": "/id",
                "schema_pointer": "/properties/id/minLength",
                "keyword": "minLength",
                "expected": "at least 1 character",
                "hint": None,
                "line": 2,
                "column": 8,
            }
        ],
        "digest": digest_of_bytes(RAW),
    }


def test_an_acceptance_has_null_for_stage_and_code() -> None:
    verdict = Verdict(
        accepted=True, stage=None, code=None, findings=(), digest=digest_of_bytes(RAW)
    )
    assert shape_verdict(verdict, Source(name="a.json", raw=RAW)) == {
        "verdict": "accepted",
        "stage": None,
        "code": None,
        "findings": [],
        "digest": digest_of_bytes(RAW),
    }


def test_a_problem_keeps_its_place() -> None:
    problem = Problem(
        code=Code.CONTRACT_INVALID, document="c.yaml", message="m", mend="n", line=1, column=2
    )
    assert shape_problem(problem) == {
        "code": "CONTRACT_INVALID",
        "document": "c.yaml",
        "line": 1,
        "column": 2,
        "pointer": "",
        "message": "m",
        "mend": "n",
    }


@pytest.mark.parametrize(
    ("report", "verdict", "code"),
    [
        pytest.param(ChainReport(events=1, head="a"), "intact", None, id="intact"),
        pytest.param(ChainReport(events=1, head="a", keyed=False), "linked", None, id="linked"),
        pytest.param(
            ChainReport(events=1, head="a", broken_at=1, problem="p"),
            "broken",
            "CHAIN_BROKEN",
            id="broken",
        ),
    ],
)
def test_a_chain_is_intact_or_broken(report: ChainReport, verdict: str, code: str | None) -> None:
    shaped = shape_chain(report)
    assert (shaped["verdict"], shaped["code"]) == (verdict, code)
    assert shaped["broken_at"] == report.broken_at


WHOLE = ChainReport(events=1, head="a")
TORN = ChainReport(events=1, head="a", broken_at=1, problem="p")
CUT = AnchorReport(heads=1, code=Code.CHAIN_SHORTER_THAN_ANCHOR, broken_at=2, problem="p")
SPOILT = AnchorReport(heads=1, problem="p")
HELD = {
    "both whole": (WHOLE, AnchorReport(heads=1, signed_seq=1), "intact", None),
    "cut": (WHOLE, CUT, "broken", "CHAIN_SHORTER_THAN_ANCHOR"),
    "cut to nothing": (ChainReport(events=0, head="a"), CUT, "broken", "CHAIN_SHORTER_THAN_ANCHOR"),
    "heads that are not whole": (WHOLE, SPOILT, "broken", None),
    "both broken": (TORN, CUT, "broken", "CHAIN_BROKEN"),
    "links broken": (TORN, AnchorReport(heads=1, signed_seq=1), "broken", "CHAIN_BROKEN"),
}


@pytest.mark.parametrize(("chain", "anchor", "verdict", "code"), HELD.values(), ids=HELD)
def test_a_record_is_broken_whether_links_or_heads_found_it(
    chain: ChainReport, anchor: AnchorReport, verdict: str, code: str | None
) -> None:
    shaped = shape_chain(chain, anchor)
    assert (shaped["verdict"], shaped["code"]) == (verdict, code)
    assert shaped["heads"] == shape_anchor(anchor)


def test_a_code_is_told_with_all_of_its_row() -> None:
    shaped = shape_code(CODES[Code.DENIED], "page")
    assert shaped == {
        "code": "DENIED",
        "stages": ["authorize"],
        "side": "call",
        "actor": "operator",
        "agent_sees_before_dispatch": "DENIED",
        "agent_sees_after_dispatch": "UPSTREAM_UNAVAILABLE",
        "retryable": False,
        "summary": "The caller may not do this to this resource.",
        "page": "page",
    }
