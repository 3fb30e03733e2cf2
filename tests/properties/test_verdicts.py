"""For all bytes: a verdict, the same one each time, and nothing changed on the way."""

from __future__ import annotations

import copy
import json
import os
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.properties.tickets import (
    ARGUMENTS,
    CARRIERS,
    TICKET,
    carried,
    contracts_for,
    good_ticket,
    spoil_bytes,
    spoil_tree,
)

from sluicegate.contracts.schemas.envelope import envelope_schema
from sluicegate.gates.call_gate import CallLadder, Prepared
from sluicegate.gates.envelopes import Success, shape_envelope
from sluicegate.gates.judging import judge
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.gates.verdicts import Question, Verdict
from sluicegate.testing import NOON
from sluicegate.values.callers import Caller
from sluicegate.values.codes import CODES, Code
from sluicegate.values.limits import Limits
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request, RequestId

FULL = os.environ.get("SLUICEGATE_FULL") == "1"
EXAMPLES = settings(
    max_examples=5_000 if FULL else 150,
    deadline=None,
    derandomize=not FULL,
    suppress_health_check=[HealthCheck.too_slow],
)
SEEDS = range(20_000 if FULL else 400)
REQUEST_ID = RequestId("req.property")
CALLER = Caller(subject="svc")
CALLS = CallLadder(contracts_for("bare").contracts["ticket"])

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
texts = st.one_of(
    st.binary(max_size=200),
    st.text(alphabet='{}[]",:\\u0123456789dDeE+-.nulltruefas \n\t', max_size=60).map(str.encode),
    json_values.map(lambda value: json.dumps(value).encode()),
    st.integers(min_value=0, max_value=100_000).map(
        lambda seed: spoil_bytes(Random(seed), json.dumps(good_ticket(Random(seed))).encode())
    ),
)
sides = st.sampled_from(["arguments", "result"])


@pytest.mark.requirement("ARG-2", "RES-9")
@EXAMPLES
@given(raw=texts, side=sides, strict_integers=st.booleans())
def test_all_bytes_get_a_verdict_that_is_the_same_twice(
    raw: bytes, side: str, strict_integers: bool
) -> None:
    schema = copy.deepcopy(TICKET)
    question = Question(
        schema=schema,
        side=side,  # type: ignore[arg-type]
        limits=Limits(max_bytes=4096, max_depth=8),
        integers="i-json" if strict_integers else "any",
    )
    verdict = judge(raw, question)
    assert verdict == judge(raw, question)
    assert schema == TICKET
    assert is_whole(verdict)


def is_whole(verdict: Verdict) -> bool:
    """Accepted without a reason, or refused with a stage, a code of that stage, and findings."""
    if verdict.accepted:
        return (verdict.stage, verdict.code, verdict.findings) == (None, None, ())
    assert verdict.code is not None
    in_table = verdict.stage in CODES[verdict.code].stages
    return in_table and verdict.code is not Code.INTERNAL and 0 < len(verdict.findings) <= 20


@pytest.mark.requirement("ARG-2", "RES-9")
@EXAMPLES
@given(raw=texts)
def test_without_a_schema_a_verdict_is_about_the_text_alone(raw: bytes) -> None:
    verdict = judge(raw, Question(schema={}, side="arguments"))
    assert verdict.stage in {None, "bound", "parse"}


def seeded_answer(seed: int, carrier: str) -> bytes:
    """Every third answer is good, every third has a spoilt tree, every third spoilt bytes."""
    random = Random(seed)
    document = carried(carrier, good_ticket(random), REQUEST_ID)
    if seed % 3 == 1:
        spoil_tree(random, document)
    raw = json.dumps(document, ensure_ascii=random.random() < 0.5).encode()
    return spoil_bytes(random, raw) if seed % 3 == 2 else raw


@pytest.mark.requirement("RES-7", "CON-6", "RES-9")
@pytest.mark.parametrize("carrier", CARRIERS)
def test_every_selected_object_is_valid_under_the_published_schemas(carrier: str) -> None:
    contract = contracts_for(carrier).contracts["ticket"]
    ladder = ResultLadder(contract)
    agent = Draft202012Validator(contract.result.agent_schema)
    envelope = Draft202012Validator(
        envelope_schema("ticket", contract.result.agent_schema, contract.errors)
    )
    request = Request(
        tool="ticket",
        request_id=REQUEST_ID,
        arguments=json.loads(ARGUMENTS),
        caller=CALLER,
    )
    accepted = refused = 0
    for seed in SEEDS:
        receipt = Receipt(
            adapter="a", adapter_version="1", endpoint="e", raw=seeded_answer(seed, carrier)
        )
        outcome = ladder.climb(receipt, request, NOON)
        if not isinstance(outcome, Rejected):
            data, *_ = outcome
            accepted += 1
            agent.validate(data)
            success = Success(tool="ticket", request_id=REQUEST_ID, data=data)
            envelope.validate(shape_envelope(success))
        else:
            refused += 1
            assert outcome.code is not Code.INTERNAL, (seed, outcome)
    assert (accepted > len(SEEDS) // 4, refused > len(SEEDS) // 4) == (True, True)


@pytest.mark.requirement("ARG-5", "RES-9")
@EXAMPLES
@given(raw=texts)
def test_a_call_runs_with_the_very_bytes_that_were_judged(raw: bytes) -> None:
    outcome = CALLS.climb(raw, CALLER)
    if isinstance(outcome, Prepared):
        assert (outcome.text, outcome.arguments) == (raw, json.loads(raw))
    else:
        assert isinstance(outcome, Rejected)
        assert outcome.code is not Code.INTERNAL
