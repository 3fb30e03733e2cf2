"""A row of identical invalid calls ends with a valid one, whatever became of that one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.gates.gate import Gate
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AccessQuery, AuditUnavailable, Decision
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("ARG-8")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
INVALID = '{"x": 1}'


class Denying:
    async def decide(self, query: AccessQuery) -> Decision:
        return Decision(allow=False, decision_id="d-1")


class Failing(MemoryStore):
    """Cannot record an intent."""

    async def record(self, events: object, **how: object) -> tuple[str, ...]:
        if any(event.kind == "intent" for event in events):  # type: ignore[attr-defined]
            raise AuditUnavailable("disk full")
        return await super().record(events, **how)  # type: ignore[arg-type]


def plain() -> Gate:
    return gate_of(contracts(), {"job_status": RecordedUpstream(answer())})


def denying() -> Gate:
    return gate_of(contracts(), {"job_status": RecordedUpstream()}, authorizer=Denying())


def failing() -> Gate:
    return gate_of(contracts(), {"job_status": RecordedUpstream()}, store=Failing())


async def code_of(gate: Gate, arguments: str, *, by_host: bool) -> str | None:
    if not by_host:
        return (await gate.call("job_status", arguments, caller=CALLER)).code
    given = await gate.check_call("job_status", arguments, caller=CALLER)
    return None if isinstance(given, Outstanding) else given.code


@pytest.mark.parametrize("by_host", [False, True], ids=["call", "check_call"])
@pytest.mark.parametrize(
    ("made", "between"),
    [(plain, None), (denying, "DENIED"), (failing, "UNAVAILABLE")],
    ids=["it runs", "it is denied", "it is not recorded"],
)
async def test_a_valid_call_between_ends_the_row(
    made: Callable[[], Gate], between: str | None, by_host: bool
) -> None:
    gate = made()
    texts = [INVALID, INVALID, ARGUMENTS, INVALID, INVALID, INVALID]
    codes = [await code_of(gate, text, by_host=by_host) for text in texts]
    assert codes == [
        *["INVALID_ARGUMENTS"] * 2,
        between,
        *["INVALID_ARGUMENTS"] * 2,
        "REPEATED_INVALID_CALL",
    ]
