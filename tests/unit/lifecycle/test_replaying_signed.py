"""Stored answers of a signed contract, judged again without their signatures (LIF-4, RES-6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.checks import signing
from tests.unit.gates.job_status import ARGUMENTS, CONTRACT, answer

from sluicegate.contracts.contract import Contract
from sluicegate.lifecycle.replaying import Answer, Judged, build_ladders, judge_answers
from sluicegate.testing import contracts_of

pytestmark = pytest.mark.requirement("LIF-4", "RES-6")
JWS = {
    "issuer": signing.ISSUER,
    "algorithms": ["Ed25519"],
    "keys": "ci.jwks",
    "max_age_s": 60,
}
IN_HEADER = {"signature": {"jws": {**JWS, "header": "x-signature"}}}
IN_BODY = {"signature": {"jws": {**JWS, "body": True}}}


def contract(upstream: dict[str, Any], states: list[str]) -> Contract:
    result = json.loads(json.dumps(CONTRACT["result"]))
    result["schema"]["properties"]["state"] = {"enum": states}
    document = {**CONTRACT, "upstream": upstream, "result": result}
    loaded = contracts_of({"job_status/contract.json": json.dumps(document)})
    return loaded.contracts["job_status"]


def would_be(upstream: dict[str, Any], raw: bytes, was: Judged, states: list[str]) -> Judged:
    stored = Answer(
        name="one",
        raw=raw,
        arguments=ARGUMENTS.encode(),
        request_id="req.signing0",
        now=signing.NOW,
        subject="ci",
        status=200,
        was=was,
    )
    ladders = build_ladders(contract(upstream, states), lambda name: pytest.fail(str(name)))
    ((_, _, judged),) = judge_answers([stored], ladders, None)
    return judged


FORMS = {
    "in a header": (IN_HEADER, answer()),
    "as the body": (IN_BODY, signing.compact(answer()).encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_is_judged_by_its_payload(form: str) -> None:
    upstream, raw = FORMS[form]
    assert would_be(upstream, raw, Judged(True), ["running", "failed"]).accepted
    judged = would_be(upstream, raw, Judged(True), ["running"])
    assert (judged.stage, judged.code) == ("conform", "ENUM")


REFUSED = {
    "forged": Judged(False, "authenticate", "BAD_SIGNATURE"),
    "a replay": Judged(False, "authenticate", "REPLAYED"),
    "signed too long ago": Judged(False, "vouch", "STALE"),
    "signed in the future": Judged(False, "vouch", "FROM_FUTURE"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_was_refused_for_its_signature_stays_refused(case: str) -> None:
    was = REFUSED[case]
    assert would_be(IN_HEADER, answer(), was, ["running", "failed"]) == was
    assert would_be({}, answer(), was, ["running", "failed"]).accepted


def test_what_was_refused_for_a_time_in_its_data_is_judged_again() -> None:
    was = Judged(False, "vouch", "STALE", "/observed_at")
    assert would_be(IN_HEADER, answer(), was, ["running", "failed"]).accepted
