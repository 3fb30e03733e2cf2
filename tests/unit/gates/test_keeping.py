"""What custody keeps, and what it must not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.contracts.settings import RetentionSettings
from sluicegate.gates.keeping import keep_answer
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

CALLER = Caller(subject="svc-deploy")
MASKED = {"mask": {"arguments": ["/run_id"]}}


@pytest.mark.requirement("AUD-5")
async def test_a_masked_argument_is_not_kept_through_the_answer_that_quotes_it() -> None:
    quoting = answer(maintenance=True)
    other = answer(run_id="run_ZZZZZZZZZZZZ", maintenance=True)
    refs = []
    for raw in (quoting, other):
        gate = gate_of(contracts(**MASKED), {"job_status": RecordedUpstream(raw)})
        given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
        refs.append(list(gate.audit.events(request_id=given.request_id))[-1].raw_ref)
    assert refs[0] is None
    assert refs[1] is not None


@pytest.mark.requirement("AUD-5")
async def test_a_refused_call_is_not_kept_where_an_argument_is_masked() -> None:
    gate = gate_of(contracts(**MASKED), {"job_status": RecordedUpstream(answer())})
    given = await gate.call("job_status", '{"runid": "run_A1b2C3d4E5f6"}', caller=CALLER)
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (event.kind, event.arguments_ref) == ("refused", None)


RUN_ID = "run_A1b2C3d4E5f6"
QUOTES = {
    "as it stands": RUN_ID,
    "a letter by its number": RUN_ID.replace("A", "\\u0041"),
    "every character by its number": "".join(f"\\u{ord(each):04X}" for each in RUN_ID),
}


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize("spelt", QUOTES.values(), ids=QUOTES)
async def test_a_masked_argument_is_not_kept_in_whichever_spelling_it_is_quoted(
    spelt: str,
) -> None:
    raw = answer(maintenance="@").replace(b"@", spelt.encode()).replace(b"run_A", b"run_X", 1)
    assert RUN_ID not in raw.decode() or spelt == RUN_ID
    gate = gate_of(contracts(**MASKED), {"job_status": RecordedUpstream(raw)})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert list(gate.audit.events(request_id=given.request_id))[-1].raw_ref is None


MASKED_VALUES = {
    "a text with a solidus": ("a/b c", rb"a\/b c"),
    "a number": (7_331_733, b"7331733"),
    "a member of an object": ({"pin": "47/11", "n": [1.25]}, rb'{"pin":"47\/11"}'),
    "an item of a list": (["x", "47/11"], rb'"47\u002f11"'),
}


@pytest.mark.requirement("AUD-5")
@pytest.mark.parametrize(("value", "quoted"), MASKED_VALUES.values(), ids=MASKED_VALUES)
@pytest.mark.parametrize("where", ["raw", "diagnostics"])
def test_nothing_is_kept_of_an_answer_that_quotes_a_masked_value(
    value: object, quoted: bytes, where: str
) -> None:
    (contract,) = contracts(mask={"arguments": ["/run_id"]}).contracts.values()
    clean = Receipt(
        raw=b'{"note": "0"}',
        content_type="application/json",
        adapter="http",
        adapter_version="1",
        endpoint="GET /",
    )
    refused = Rejected(stage=Stage.PARSE, code=Code.NOT_JSON)
    kept = [
        keep_answer(
            receipt,
            refused,
            contract,
            arguments={"run_id": value},
            retention=RetentionSettings(),
            draw=lambda: 0.0,
        )
        for receipt in (clean, replace(clean, **{where: b'{"note": ' + quoted + b"}"}))
    ]
    assert [bool(each) for each in kept] == [True, False]
