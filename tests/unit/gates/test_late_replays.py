"""A kept answer is allowed and fresh when it is given, however long was waited for it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.unit.gates.restart import ARGUMENTS, folder
from tests.unit.gates.test_idempotency import FRESH

from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.ports import AccessQuery, Decision
from sluicegate.gates.record_queries import AnswerQuery
from sluicegate.gates.terms import Accepted
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy", tenant="team-a")
SLOW_S = 9
"""A record may take so long: it is given up after ten seconds."""


class Policy:
    allows = True
    asked = 0

    async def decide(self, query: AccessQuery) -> Decision:
        self.asked += 1
        return Decision(allow=self.allows, decision_id=f"d-{self.asked}")


class Slow(MemoryStore):
    """Takes its time for the commit of an intent, or to find an answer, once it is told to."""

    def __init__(self, clock: FixedClock, policy: Policy) -> None:
        super().__init__()
        self.clock, self.policy = clock, policy
        self.slow_at = ""
        self.revokes = False

    def _wait(self) -> None:
        self.clock.advance(SLOW_S)
        self.policy.allows = not self.revokes

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        if self.slow_at == "the commit" and events[0].kind is EventKind.INTENT:
            self._wait()
        return await super().record(events, **how)

    async def answer_of(self, query: AnswerQuery, **how: Any) -> Accepted | None:
        if self.slow_at == "the answer":
            self._wait()
        return await super().answer_of(query, **how)


@pytest.mark.requirement("ARG-5", "ACC-4")
@pytest.mark.parametrize("slow_at", ["the commit", "the answer"])
@pytest.mark.parametrize(
    ("age_s", "revokes", "said"),
    [
        pytest.param(0, False, "success", id="allowed and fresh"),
        pytest.param(0, True, "DENIED", id="revoked meanwhile"),
        pytest.param(55, False, "KEY_REUSED", id="stale meanwhile"),
    ],
)
async def test_what_is_given_again_is_judged_when_it_is_given(
    slow_at: str, age_s: float, revokes: bool, said: str
) -> None:
    clock, policy = FixedClock(), Policy()
    store = Slow(clock, policy)
    done = {"restarted": "run_A1b2C3d4E5f6", "at": clock.now().isoformat()}
    gate = gate_of(
        folder(
            idempotency={"key": "host", "keep_s": 600},
            result=FRESH,
            retry={"attempts": 1, "budget_s": 30, "on": []},
        ),
        {
            "job_restart": RecordedUpstream(json.dumps(done).encode()),
            "job_status": RecordedUpstream(),
        },
        clock=clock,
        store=store,
        authorizer=policy,
    )
    first = await gate.call("job_restart", ARGUMENTS, caller=CALLER, call_id="c-1")
    assert first.outcome == "success"
    asked = policy.asked
    clock.advance(age_s)
    store.slow_at, store.revokes = slow_at, revokes
    again = await gate.call("job_restart", ARGUMENTS, caller=CALLER, call_id="c-1")
    assert (again.code or again.outcome) == said
    assert policy.asked - asked == 2
