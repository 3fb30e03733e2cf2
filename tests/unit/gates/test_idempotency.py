"""Two calls under one key are one call: held back while it runs, replayed once it is done."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.unit.gates.restart import ARGUMENTS, DONE, RESTART, folder
from tests.unit.gates.test_identical_writes import Held

from sluicegate.errors import MisuseError
from sluicegate.gates.gate import Gate
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ACC-4")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
LOST = Receipt(adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.TIMEOUT)
REFUSED = Receipt(
    adapter="recorded",
    adapter_version="1",
    endpoint="recorded",
    raw=b"{}",
    status=404,
    content_type="application/json",
)
OTHER = ARGUMENTS.replace("A1b2C3d4E5f6", "Z9y8X7w6V5u4")


class Yard:
    def __init__(
        self,
        *done: bytes | Receipt,
        key: str = "host",
        upstream: RecordedUpstream | None = None,
        store: MemoryStore | None = None,
        **restart: Any,
    ) -> None:
        self.clock = FixedClock()
        self.upstream = upstream or RecordedUpstream(*(done or (DONE,)))
        self.gate: Gate = gate_of(
            folder(**{"idempotency": {"key": key, "keep_s": 600}, **restart}),
            {"job_restart": self.upstream, "job_status": RecordedUpstream()},
            clock=self.clock,
            store=store,
        )

    async def act(
        self, call_id: str | None = "c-1", arguments: str = ARGUMENTS, caller: Caller = CALLER
    ) -> dict[str, Any]:
        given = await self.gate.call("job_restart", arguments, caller=caller, call_id=call_id)
        shown: dict[str, Any] = json.loads(given.to_json())
        return shown


def code_of(shown: dict[str, Any]) -> str:
    return str(shown["error"]["code"]) if "error" in shown else str(shown["outcome"])


@pytest.mark.requirement("ARG-7", "ENV-1")
@pytest.mark.parametrize("key", ["host", "derived"])
async def test_the_same_call_again_is_answered_from_what_was_kept(key: str) -> None:
    yard = Yard(key=key)
    first = await yard.act()
    again = await yard.act("c-1" if key == "host" else "c-2")
    assert again == {**first, "request_id": again["request_id"], "replayed": True}
    assert again["request_id"] != first["request_id"]
    assert len(yard.upstream.dispatches) == 1
    event = list(yard.gate.audit.events())[-1]
    assert (event.kind, event.outcome, event.request_id) == (
        "outcome",
        "success",
        again["request_id"],
    )
    assert json.loads(event.detail)["replays"] == first["request_id"]


@pytest.mark.requirement("ARG-7")
async def test_one_key_with_other_arguments_is_refused() -> None:
    yard = Yard()
    await yard.act()
    shown = await yard.act(arguments=OTHER)
    assert (shown["outcome"], code_of(shown)) == ("refused", "KEY_REUSED")
    assert len(yard.upstream.dispatches) == 1


async def test_other_arguments_are_another_call_where_the_key_is_made_of_them() -> None:
    yard = Yard(DONE, json.dumps({"restarted": "run_Z9y8X7w6V5u4"}).encode(), key="derived")
    assert [code_of(await yard.act()), code_of(await yard.act(arguments=OTHER))] == ["success"] * 2
    assert len(yard.upstream.dispatches) == 2


async def test_keys_of_other_callers_and_tenants_are_other_keys() -> None:
    yard = Yard()
    for caller in (CALLER, Caller(subject="svc-deploy"), Caller(subject="x", tenant="team-a")):
        shown = await yard.act(caller=caller)
        assert "replayed" not in shown
        assert code_of(shown) == "success"
    assert len(yard.upstream.dispatches) == 3


@pytest.mark.requirement("ARG-7")
@pytest.mark.parametrize("call_id", [None, ""])
async def test_a_call_without_the_key_it_needs_is_told_so(call_id: str | None) -> None:
    yard = Yard()
    shown = await yard.act(call_id)
    assert shown["outcome"] == "refused"
    assert (code_of(shown), shown["error"]["retryable"]) == ("INVALID_ARGUMENTS", False)
    assert yard.upstream.dispatches == []


@pytest.mark.parametrize("call_id", [5, b"c-1", ["c-1"], "c\0", "c\ud800", "c" * 1_025])
async def test_an_id_that_cannot_be_recorded_is_misuse(call_id: Any) -> None:
    yard = Yard()
    with pytest.raises(MisuseError, match="call_id"):
        await yard.act(call_id)
    assert yard.upstream.dispatches == []


SPELLINGS = ["1", "1.0", "1e0", "10E-1"]


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize("key", ["derived", "host"])
@pytest.mark.parametrize("spelling", SPELLINGS[1:])
async def test_a_number_that_is_spelt_otherwise_is_the_same_call(spelling: str, key: str) -> None:
    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
        "additionalProperties": False,
    }
    done = b'{"done": true}'
    result = {
        "schema": {
            "type": "object",
            "properties": {"done": {"type": "boolean"}},
            "required": ["done"],
            "additionalProperties": False,
        },
        "agent": ["/done"],
    }
    fetch = {"http": {"method": "POST", "url": "http://127.0.0.1:9/n", "timeout_s": 5}}
    parts = {"arguments": {"schema": schema}, "result": result, "fetch": fetch}
    yard = Yard(done, key=key, **parts)
    assert code_of(await yard.act(arguments='{"n": 1}')) == "success"
    assert (await yard.act(arguments=f'{{"n": {spelling}}}'))["replayed"] is True
    lost = Yard(LOST, done, key="host", **parts)
    assert code_of(await lost.act("c-1", arguments='{"n": 1}')) == "OUTCOME_UNKNOWN"
    assert code_of(await lost.act("c-2", arguments=f'{{"n": {spelling}}}')) == "OUTCOME_UNKNOWN"
    assert len(lost.upstream.dispatches) == 1


@pytest.mark.requirement("ARG-7")
async def test_while_the_first_runs_the_second_is_in_progress() -> None:
    held = Held(DONE)
    yard = Yard(upstream=held)
    first = asyncio.ensure_future(yard.act())
    await held.asked.wait()
    assert code_of(await yard.act()) == "IN_PROGRESS"
    held.release.set()
    assert code_of(await first) == "success"
    assert len(held.dispatches) == 1


async def test_another_process_is_told_that_the_first_runs_and_then_that_nobody_knows() -> None:
    """A gate over the same record, where the call was never this one's."""
    store = MemoryStore()
    held = Held(DONE)
    first = Yard(upstream=held, store=store)
    running = asyncio.ensure_future(first.act())
    await held.asked.wait()
    other = Yard(store=store)
    assert code_of(await other.act()) == "IN_PROGRESS"
    other.clock.advance(60)  # longer than the call may take: whoever ran it is gone
    assert code_of(await other.act()) == "OUTCOME_UNKNOWN"
    assert other.upstream.dispatches == []
    held.release.set()
    await running


async def test_what_failed_for_certain_may_be_tried_again_under_its_key() -> None:
    yard = Yard(REFUSED, DONE)
    assert code_of(await yard.act()) == "INVALID_RESPONSE"
    assert code_of(await yard.act()) == "success"
    assert len(yard.upstream.dispatches) == 2


@pytest.mark.requirement("RET-2")
async def test_what_was_lost_is_not_made_again() -> None:
    yard = Yard(LOST, DONE)
    assert code_of(await yard.act()) == "OUTCOME_UNKNOWN"
    assert code_of(await yard.act()) == "OUTCOME_UNKNOWN"
    assert len(yard.upstream.dispatches) == 1


async def test_a_key_is_kept_for_as_long_as_the_contract_says() -> None:
    yard = Yard()
    await yard.act()
    yard.clock.advance(599)
    assert (await yard.act())["replayed"] is True
    yard.clock.advance(1)
    shown = await yard.act()
    assert (code_of(shown), "replayed" in shown) == ("success", False)
    assert len(yard.upstream.dispatches) == 2


FRESH: dict[str, Any] = {
    **RESTART["result"],
    "schema": {
        **RESTART["result"]["schema"],
        "properties": {
            **RESTART["result"]["schema"]["properties"],
            "at": {"type": "string", "format": "date-time", "maxLength": 35},
        },
        "required": ["restarted", "at"],
    },
    "fresh": {"at": "/at", "max_age_s": 60, "max_ahead_s": 5},
    "agent": ["/restarted", "/at"],
}


async def test_a_kept_answer_is_given_only_while_it_is_fresh_and_then_nothing_is_sent() -> None:
    kept = json.dumps({"restarted": "run_A1b2C3d4E5f6", "at": "2026-11-30T12:00:00Z"}).encode()
    yard = Yard(kept, result=FRESH)
    await yard.act()
    yard.clock.advance(60)
    assert (await yard.act())["replayed"] is True
    yard.clock.advance(1)
    assert code_of(await yard.act()) == "KEY_REUSED"
    assert len(yard.upstream.dispatches) == 1


async def test_what_another_version_selected_is_not_given_again() -> None:
    store = MemoryStore()
    await Yard(store=store).act()
    newer = Yard(store=store, version="2.0.0")
    assert code_of(await newer.act()) == "KEY_REUSED"
    assert newer.upstream.dispatches == []


async def test_a_key_outlives_its_call_however_short_it_is_kept() -> None:
    held = Held(DONE)
    yard = Yard(upstream=held, idempotency={"key": "host", "keep_s": 1})
    first = asyncio.ensure_future(yard.act())
    await held.asked.wait()
    yard.clock.advance(2)
    assert code_of(await yard.act(arguments=OTHER)) == "KEY_REUSED"
    held.release.set()
    await first
    assert len(held.dispatches) == 1


async def test_the_upstream_gets_one_key_for_one_call() -> None:
    yard = Yard(REFUSED, REFUSED, REFUSED, key="derived")
    for call_id in ("c-1", "c-2"):
        await yard.act(call_id)
    await yard.act("c-1", arguments=OTHER)
    keys = [each.idempotency_key for each in yard.upstream.dispatches]
    assert keys[0] == keys[1] != keys[2]
    assert all(key is not None and len(key) == 64 for key in keys)


async def test_a_typed_replay_is_typed() -> None:
    yard = Yard()
    await yard.act()
    given = await yard.gate.call(
        "job_restart", ARGUMENTS, caller=CALLER, call_id="c-1", as_=dict[str, str]
    )
    assert given.typed == {"restarted": "run_A1b2C3d4E5f6"}


async def held_by(yard: Yard, call_id: str = "c-1", arguments: str = ARGUMENTS) -> tuple[str, Any]:
    shown = await yard.act(call_id, arguments)
    (event,) = yard.gate.audit.events(request_id=shown["request_id"])
    return code_of(shown), json.loads(event.detail)


@pytest.mark.requirement("AUD-2", "ACC-4")
async def test_the_record_names_the_call_that_stands_in_the_way_and_why() -> None:
    yard = Yard(
        json.dumps({"restarted": "run_A1b2C3d4E5f6", "at": "2026-11-30T12:00:00Z"}).encode(),
        result=FRESH,
    )
    first = (await yard.act())["request_id"]
    other = await held_by(yard, arguments=OTHER)
    said = "it came with other arguments"
    assert other == ("KEY_REUSED", {"held_by": first, "because": said})
    yard.clock.advance(61)
    late = await held_by(yard)
    because = "it is done, and its answer is no longer fresh"
    assert late == ("KEY_REUSED", {"held_by": first, "because": because})


@pytest.mark.requirement("AUD-2", "RET-2")
@pytest.mark.parametrize("code", ["IN_PROGRESS", "OUTCOME_UNKNOWN"])
async def test_the_record_names_the_open_call_that_stands_in_the_way(code: str) -> None:
    upstream = Held(DONE)
    yard = Yard(upstream=upstream)
    running = asyncio.create_task(yard.act())
    await upstream.asked.wait()
    (intent,) = yard.gate.audit.events(tool="job_restart")
    if code == "OUTCOME_UNKNOWN":
        running.cancel()
        await asyncio.wait([running])
        await yard.gate._means.owing.settle()
    assert await held_by(yard) == (code, {"held_by": intent.request_id})
    upstream.release.set()
    await asyncio.wait([running])
