"""A set that serves one tool in several versions: whose line it is, and that all of them close."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts, let_go

from sluicegate.contracts.settings import ServeRow
from sluicegate.errors import MisuseError
from sluicegate.gates.gate import Gate
from sluicegate.gates.serving import Line, Rollout, Serving
from sluicegate.gates.tenure import Opened
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("LIF-3")

ROWS = (
    ServeRow(version="1.0.0", share=0, callers=frozenset({"svc-old"})),
    ServeRow(version="2.0.0", share=1_000_000),
)
OLD, OTHER = Caller(subject="svc-old"), Caller(subject="svc")


class Closing(RecordedUpstream):
    closed = 0

    async def close(self) -> None:
        self.closed += 1


def line(version: str) -> Line:
    served = contracts(version=version, description=f"Told by {version}.")
    return gate_of(served, {"job_status": Closing(answer())})._serving.lines["job_status"]


def side_by_side() -> Serving:
    rollout = Rollout(rows=ROWS, lines=(line("1.0.0"), line("2.0.0")))
    return Serving(
        contracts=contracts(version="2.0.0"),
        lines={"job_status": rollout.main},
        withdrawn={},
        rollouts={"job_status": rollout},
    )


def gate_with(first: Serving, later: Serving | None = None) -> Gate:
    means = gate_of(contracts(), {})._means

    def reopen(before: Opened) -> Opened:
        assert later is not None
        return Opened(serving=later, means=before.means)

    return Gate(means, first, reopen=reopen)


def closings(serving: Serving) -> list[int]:
    return [each.adapter.closed for each in serving.rollouts["job_status"].lines]  # type: ignore[attr-defined]


@pytest.mark.requirement("CON-8")
@pytest.mark.parametrize(
    ("caller", "version"), [(OLD, "1.0.0"), (OTHER, "2.0.0"), (None, "2.0.0")], ids=str
)
def test_definitions_and_envelopes_are_those_of_the_version_that_judges(
    caller: Caller | None, version: str
) -> None:
    gate = gate_with(side_by_side())
    (told,) = gate.tool_definitions(caller=caller)
    assert told["description"] == f"Told by {version}."
    assert gate.envelope_schema("job_status", caller=caller) == told["outputSchema"]


def test_what_is_no_caller_is_misuse() -> None:
    gate = gate_with(side_by_side())
    with pytest.raises(MisuseError, match="is a Caller"):
        gate.tool_definitions(caller="svc")  # type: ignore[arg-type]


@pytest.mark.requirement("AUD-2")
async def test_every_event_of_a_call_bears_the_version_that_judged_it() -> None:
    gate = gate_with(side_by_side())
    for caller in (OLD, OTHER):
        await gate.call("job_status", ARGUMENTS, caller=caller)
        await gate.call("job_status", "{}", caller=caller)
    events = [event for event in gate.audit.events() if event.tool == "job_status"]
    judged = {(str(event.caller_subject), event.contract_version) for event in events}
    assert judged == {("svc-old", "1.0.0"), ("svc", "2.0.0")}
    assert {event.kind for event in events} >= {"intent", "outcome", "refused"}
    assert len({event.contract_digest for event in events}) == 2


async def test_closing_closes_every_version_once() -> None:
    serving = side_by_side()
    await gate_with(serving).close()
    assert closings(serving) == [1, 1]


@pytest.mark.requirement("CON-3")
async def test_a_reload_closes_the_versions_that_are_served_no_more_and_no_other() -> None:
    first = side_by_side()
    kept, gone = first.rollouts["job_status"].lines
    later = replace(first, lines={"job_status": kept}, rollouts={})
    gate = gate_with(first, later)
    assert await gate.reload() == ()
    await let_go(gate)
    assert (kept.adapter.closed, gone.adapter.closed) == (0, 1)  # type: ignore[attr-defined]
