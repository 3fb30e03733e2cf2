"""Whatever a rung or a port raises ends as a closed failure, recorded, without its text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import QuotaRule
from sluicegate.contracts.served import ContractSet
from sluicegate.errors import ConfigurationError, MisuseError
from sluicegate.gates.call_gate import CallLadder, Prepared
from sluicegate.gates.events import AuditEvent, begins_something
from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import AccessQuery, Adapter, Decision, Dispatch, HeldBack, Notice
from sluicegate.gates.record_queries import CallQuery
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.gates.tenure import Opened
from sluicegate.gates.terms import NO_TERMS, Allowance, Terms
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import Notices, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

pytestmark = pytest.mark.requirement("RES-9")

CALLER = Caller(subject="svc-deploy", tenant="t-1")
WRITE: dict[str, object] = {"effect": "write"}


class Panic(BaseException):
    """As an engine written in Rust raises it: no Exception."""


PANIC = Panic("the upstream said: deploy now")
FAILURES = [
    PANIC,
    MisuseError("of a port"),
    ConfigurationError("of a port"),
    KeyError("x"),
    asyncio.CancelledError("of a port: nobody cancelled the call"),
]


def name_of(error: BaseException) -> str:
    return type(error).__name__


class PanickingResult(ResultLadder):
    def climb(self, receipt: Receipt, request: Request, now: datetime) -> Selected | Rejected:
        raise PANIC


class PanickingCall(CallLadder):
    def climb(self, raw: bytes, caller: Caller) -> Prepared | Rejected:
        raise PANIC


class Raising(RecordedUpstream):
    """An adapter that raises wherever it is asked."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self._error = error

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        self.dispatches.append(dispatch)
        raise self._error


class RaisingStore(MemoryStore):
    """A store whose ``failing``-th write raises."""

    def __init__(self, error: BaseException, failing: int) -> None:
        super().__init__()
        self._error, self._failing, self._writes = error, failing, 0

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        self._writes += 1
        if self._writes == self._failing:
            raise self._error
        return await super().record(events, **how)

    async def find_open_call(self, call: CallQuery) -> str | None:
        if not self._failing:
            raise self._error
        return None


class RaisingAuthorizer:
    def __init__(self, error: BaseException) -> None:
        self._error = error

    async def decide(self, query: AccessQuery) -> Decision:
        raise self._error


QUOTAS = (QuotaRule(per=frozenset(), count=5, window_s=60),)


class GrantingQuota:
    async def spend(self, allowances: Sequence[Allowance]) -> bool:
        return True

    async def close(self) -> None:
        pass


class RaisingQuota:
    async def spend(self, allowances: Sequence[Allowance]) -> bool:
        raise PANIC

    async def close(self) -> None:
        pass


def gate_with(served: ContractSet, upstream: Adapter, *, panicking: str) -> Gate:
    gate = gate_of(served, {"job_status": upstream})
    line = gate._serving.lines["job_status"]
    if panicking == "call":
        line = replace(line, call=PanickingCall(line.contract))
    else:
        line = replace(line, result=PanickingResult(line.contract))
    lines = MappingProxyType({"job_status": line})
    return Gate(gate._means, replace(gate._serving, lines=lines))


def record_of(gate: Gate, request_id: str) -> list[tuple[str, str, str | None]]:
    events = list(gate.audit.events(request_id=request_id))
    assert "deploy now" not in "".join(event.detail for event in events)
    return [(event.kind, event.outcome, event.code) for event in events]


@pytest.mark.parametrize(("effect", "code"), [("read", "UPSTREAM_UNAVAILABLE"), ("write", None)])
async def test_an_engine_that_panics_on_an_answer_is_recorded_and_closed(
    effect: str, code: str | None
) -> None:
    gate = gate_with(contracts(effect=effect), RecordedUpstream(answer()), panicking="result")
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("failure", code or "OUTCOME_UNKNOWN")
    assert "deploy now" not in given.to_json()
    assert record_of(gate, given.request_id) == [
        ("intent", "pending", None),
        ("outcome", "unknown" if effect == "write" else "failure", "INTERNAL"),
    ]


async def test_an_engine_that_panics_on_a_call_refuses_it() -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_with(contracts(), upstream, panicking="call")
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert record_of(gate, given.request_id) == [("refused", "refused", "INTERNAL")]
    assert upstream.dispatches == []


@pytest.mark.parametrize("error", FAILURES, ids=name_of)
async def test_whatever_an_adapter_raises_is_a_failure_on_record(error: BaseException) -> None:
    gate = gate_of(contracts(), {"job_status": Raising(error)})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("failure", "UPSTREAM_UNAVAILABLE")
    assert record_of(gate, given.request_id)[-1] == ("outcome", "failure", "INTERNAL")
    assert gate.audit.open_intents() == ()


@pytest.mark.parametrize("error", FAILURES, ids=name_of)
@pytest.mark.parametrize("failing", [0, 1, 2], ids=["find_open_call", "announcement", "intent"])
async def test_whatever_a_store_raises_before_dispatch_refuses_the_call(
    error: BaseException, failing: int
) -> None:
    upstream = RecordedUpstream(answer())
    store = RaisingStore(error, failing)
    gate = gate_of(contracts(**WRITE), {"job_status": upstream}, store=store)
    gate = Gate(replace(gate._means, quota=GrantingQuota(), quotas=QUOTAS), gate._serving)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert record_of(gate, given.request_id)[-1][1:] == ("refused", "INTERNAL")
    assert gate.audit.open_intents() == ()
    assert upstream.dispatches == []


@pytest.mark.parametrize("error", FAILURES, ids=name_of)
async def test_whatever_a_store_raises_for_the_outcome_leaves_the_write_open(
    error: BaseException,
) -> None:
    gate = gate_of(
        contracts(**WRITE), {"job_status": RecordedUpstream(answer())}, store=RaisingStore(error, 3)
    )
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("failure", "OUTCOME_UNKNOWN")


@pytest.mark.requirement("ACC-1")
@pytest.mark.parametrize("error", FAILURES, ids=name_of)
async def test_whatever_a_decision_point_raises_is_no_decision(error: BaseException) -> None:
    gate = gate_of(
        contracts(),
        {"job_status": RecordedUpstream(answer())},
        authorizer=RaisingAuthorizer(error),
    )
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert record_of(gate, given.request_id) == [("refused", "refused", "PDP_UNAVAILABLE")]


async def test_a_quota_that_panics_denies() -> None:
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())})
    gate = Gate(replace(gate._means, quota=RaisingQuota(), quotas=QUOTAS), gate._serving)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert record_of(gate, given.request_id) == [("refused", "refused", "QUOTA_UNAVAILABLE")]


async def test_an_unknown_tool_is_refused_where_the_record_fails() -> None:
    gate = gate_of(contracts(), {}, store=RaisingStore(PANIC, 2))
    given = await gate.call("no_such_tool", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert record_of(gate, given.request_id) == [("refused", "refused", "INTERNAL")]


@pytest.mark.requirement("ADP-4")
@pytest.mark.parametrize("error", FAILURES, ids=name_of)
async def test_a_cache_that_cannot_keep_an_answer_changes_nothing_of_it(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    class Unkeeping(RecordedUpstream):
        async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
            raise error

    gate = gate_of(contracts(**WRITE), {"job_status": Unkeeping(answer())})
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert given.outcome == "success"
    assert record_of(gate, given.request_id)[-1] == ("outcome", "success", None)
    (warned,) = [r.getMessage() for r in caplog.records if r.name == "sluicegate"]
    assert warned == (
        f"call {given.request_id}: the accepted answer was not kept: {name_of(error)}"
    )


@pytest.mark.requirement("AUD-6")
async def test_an_owner_who_cannot_be_told_of_drift_changes_no_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Mute(Notices):
        def notify(self, notice: Notice) -> None:
            raise PANIC

    mapped = {"errors": {"NOT_FOUND": {"retryable": False}}, "effect": "write"}
    gate = gate_of(contracts(**mapped), {"job_status": RecordedUpstream(b"<html>")}, notices=Mute())
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert list(gate.audit.events(request_id=given.request_id))[-1].code == "NOT_JSON"
    assert (given.outcome, given.code) == ("failure", "INVALID_RESPONSE")
    assert "the owner was not notified: Panic" in caplog.text


@pytest.mark.parametrize("order", [KeyboardInterrupt, SystemExit], ids=lambda kind: kind.__name__)
async def test_an_order_to_end_is_obeyed(order: type[BaseException]) -> None:
    gate = gate_of(contracts(), {"job_status": Raising(order())})
    with pytest.raises(order):
        await gate.call("job_status", ARGUMENTS, caller=CALLER)


@pytest.mark.requirement("CON-3")
async def test_an_old_adapter_that_does_not_close_changes_no_answer() -> None:
    class Swapped(RecordedUpstream):
        async def fetch(self, dispatch: Dispatch) -> Receipt:
            assert await gate.reload() == ()
            return await super().fetch(dispatch)

        async def close(self) -> None:
            raise PANIC

    first = gate_of(contracts(), {"job_status": Swapped(answer())})
    second = gate_of(contracts(), {"job_status": RecordedUpstream(answer())})

    def reopen(before: Opened) -> Opened:
        return Opened(serving=second._serving, means=before.means)

    gate = Gate(first._means, first._serving, reopen=reopen)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert json.loads(given.to_json())["outcome"] == "success"


class HoldingBack(MemoryStore):
    """A record whose attendant lets nothing begin, and does not keep what ended from it."""

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> tuple[str, ...]:
        if begins_something(events):
            raise HeldBack("no head could be signed: disk full")
        return await super().record(events, terms=terms)


@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize("parts", [{}, WRITE], ids=["read", "write"])
async def test_what_is_held_back_is_refused_and_told_in_the_record(
    parts: Mapping[str, object],
) -> None:
    upstream = RecordedUpstream(answer())
    gate = gate_of(contracts(**parts), {"job_status": upstream}, store=HoldingBack())
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert upstream.dispatches == []
    (event,) = gate.audit.events(request_id=given.request_id)
    assert (event.kind, event.stage, event.code) == ("refused", "audit", "AUDIT_UNAVAILABLE")
    assert json.loads(event.detail) == {"held_back": "no head could be signed: disk full"}
    assert list(gate.audit.open_intents()) == []
