"""What was masked as a value is not told as a name: not in events, not in notices."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.unit.gates.job_status import CONTRACT, answer

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import Contract
from sluicegate.gates.gate import Gate
from sluicegate.gates.masking import hide_in_answer, hide_in_call
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.testing import Notices, RecordedUpstream, contracts_of, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.names import show_name
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

pytestmark = pytest.mark.requirement("AUD-5")

CALLER = Caller(subject="svc-deploy")
SECRET = "run_A1b2C3d4E5f6"
ARGUMENTS = json.dumps({"project_id": "bluebird", "run_id": SECRET})


def contract(**mask: list[str]) -> Contract:
    document = {**CONTRACT, "mask": mask}
    served = contracts_of({"job_status/contract.json": json.dumps(document)})
    return served.contracts["job_status"]


def pointer_of(name: str, secret: str, *, hint: str | None = None) -> tuple[str, str | None]:
    segment = show_name(name).replace("~", "~0").replace("/", "~1")
    finding = Finding(code=Code.UNEXPECTED, pointer=f"/state/{segment}", hint=hint)
    judged = hide_in_answer(
        Rejected.because(Stage.CONFORM, finding),
        contract(arguments=["/run_id"]),
        arguments={"project_id": "p", "run_id": secret},
        raw=b"{}",
    )
    assert isinstance(judged, Rejected)
    return judged.findings[0].pointer, judged.findings[0].hint


HIDDEN = "/state/•masked•"


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        pytest.param(SECRET, SECRET, id="as it stands"),
        pytest.param(f"x-{SECRET}-y", SECRET, id="inside a name"),
        pytest.param("a/b~c", "a/b~c", id="as a pointer escapes it"),
        pytest.param("a\u202eb", "a\u202eb", id="as a name is escaped"),
        pytest.param("s" * 80, "s" * 80, id="longer than a name is shown"),
        pytest.param("x" * 58 + SECRET, SECRET, id="cut amid the value"),
        pytest.param(r"run_\u00411b2C3d4E5f6", SECRET, id="escaped as JSON does"),
    ],
)
def test_a_name_that_quotes_a_masked_value_is_replaced(name: str, secret: str) -> None:
    assert pointer_of(name, secret)[0] == HIDDEN


@pytest.mark.parametrize("secret", ["", "other"])
def test_a_name_that_quotes_nothing_stays(secret: str) -> None:
    assert pointer_of("name", secret, hint="remove it") == ("/state/name", "remove it")


def test_a_hint_that_quotes_a_masked_value_is_replaced_whole() -> None:
    assert pointer_of("name", SECRET, hint=f"not {SECRET}") == ("/state/name", "•masked•")


@pytest.mark.parametrize("received", [{SECRET: 1}, {"maintenance": SECRET, SECRET: True}])
async def test_an_upstream_that_returns_a_masked_argument_as_a_name_tells_nobody(
    received: dict[str, object],
) -> None:
    served = contracts_of(
        {"job_status/contract.json": json.dumps({**CONTRACT, "mask": {"arguments": ["/run_id"]}})}
    )
    notices = Notices()
    gate = gate_of(served, {"job_status": RecordedUpstream(answer(**received))}, notices=notices)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert given.code == "INVALID_RESPONSE"
    events = list(gate.audit.events(request_id=given.request_id))
    assert SECRET not in repr(events) + repr(notices.taken)
    assert "•masked•" in events[-1].findings
    assert json.loads(events[-1].masked) == ["/run_id"]


async def test_masked_data_that_comes_back_as_a_name_tells_nobody() -> None:
    served = contracts_of(
        {"job_status/contract.json": json.dumps({**CONTRACT, "mask": {"result": ["/run_id"]}})}
    )
    notices = Notices()
    upstream = RecordedUpstream(answer(**{SECRET: 1}))
    gate = gate_of(served, {"job_status": upstream}, notices=notices)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert SECRET not in repr(list(gate.audit.events())) + repr(notices.taken)
    assert given.code == "INVALID_RESPONSE"


async def test_a_call_that_repeats_a_masked_argument_as_a_name_is_recorded_without_it() -> None:
    served = contracts_of(
        {"job_status/contract.json": json.dumps({**CONTRACT, "mask": {"arguments": ["/run_id"]}})}
    )
    gate = gate_of(served, {"job_status": RecordedUpstream()})
    text = json.dumps({"project_id": "bluebird", "run_id": SECRET, SECRET: 1})
    refused = await gate.call("job_status", text, caller=CALLER)
    assert SECRET in refused.to_json()
    assert SECRET not in repr(list(gate.audit.events()))


def test_a_call_that_is_no_json_has_nothing_to_hide() -> None:
    rejected = Rejected.because(Stage.PARSE, Finding(code=Code.NOT_JSON, pointer="", offset=1))
    assert hide_in_call(rejected, contract(arguments=["/run_id"]), raw=b"{") == rejected


class QuotingResult(ResultLadder):
    """Fails as an engine does whose message quotes what it was given."""

    def climb(self, receipt: Receipt, *rest: object) -> Selected | Rejected:
        raise RuntimeError(receipt.raw.decode())


@pytest.mark.requirement("AUD-4")
@pytest.mark.parametrize(
    ("mask", "kept"),
    [({}, True), ({"arguments": ["/run_id"]}, False), ({"result": ["/run_id"]}, False)],
    ids=["nothing", "an argument", "a member of the answer"],
)
async def test_what_is_unexpected_is_kept_word_for_word_only_where_nothing_is_masked(
    mask: dict[str, list[str]], kept: bool
) -> None:
    served = contracts_of(
        {"job_status/contract.json": json.dumps({**CONTRACT, **({"mask": mask} if mask else {})})}
    )
    made = gate_of(served, {"job_status": RecordedUpstream(answer())})
    line = made._serving.lines["job_status"]
    lines = {"job_status": replace(line, result=QuotingResult(line.contract))}
    gate = Gate(made._means, replace(made._serving, lines=lines))
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    *_, outcome = gate.audit.events(request_id=given.request_id)
    assert outcome.code == "INTERNAL"
    ref = json.loads(outcome.detail).get("custody", {}).get("engine")
    assert (ref is not None) is kept
    if ref is not None:
        now = made._means.clock.now()
        assert answer() in await gate.audit.reveal(ref, who="o", reason="r", now=now)
