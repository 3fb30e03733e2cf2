"""Upstream attempts are counted, in the commit of the intent or in Redis; a spent quota refuses."""

from __future__ import annotations

import asyncio
import json
import os
import time
import uuid
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from limits.aio.storage import MemoryStorage
from tests.unit.gates.job_status import answer
from tests.unit.gates.restart import ARGUMENTS, DONE, STATUS, folder

from sluicegate.access.quota import LimitsQuota
from sluicegate.errors import ConfigurationError
from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import Quota
from sluicegate.gates.terms import Allowance
from sluicegate.opening.quotas import open_quota
from sluicegate.rendering.story import tell_story
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt

pytestmark = pytest.mark.requirement("ACC-3")

CALLER = Caller(subject="svc-deploy", tenant="team-a")
OTHER = Caller(subject="svc-other", tenant="team-a")
FOREIGN = Caller(subject="svc-deploy", tenant="team-b")
LOST = Receipt(adapter="recorded", adapter_version="1", endpoint="recorded", fault=Fault.TIMEOUT)


def yard(
    *received: bytes | Receipt,
    own: list[dict[str, Any]] | None = None,
    whole: list[dict[str, Any]] | None = None,
    clock: FixedClock | None = None,
    **status: Any,
) -> tuple[Gate, RecordedUpstream]:
    upstream = RecordedUpstream(*(received or (answer(),)))
    served = folder(
        settings={"limits": {"quotas": whole or []}},
        status={**STATUS, "limits": {"quotas": own or []}, **status},
    )
    upstreams = {"job_status": upstream, "job_restart": RecordedUpstream()}
    return gate_of(served, upstreams, clock=clock or FixedClock()), upstream


async def said(gate: Gate, caller: Caller = CALLER) -> str:
    given = await gate.call("job_status", ARGUMENTS, caller=caller)
    return given.code or given.outcome


SCOPES: dict[str, tuple[list[str], list[str]]] = {
    "the tool": ([], ["success", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED"]),
    "each caller": (["caller"], ["success", "QUOTA_EXCEEDED", "success", "success"]),
    "each tenant": (["tenant"], ["success", "QUOTA_EXCEEDED", "QUOTA_EXCEEDED", "success"]),
}


@pytest.mark.requirement("ARG-7")
@pytest.mark.parametrize("place", ["own", "whole"])
@pytest.mark.parametrize("case", SCOPES)
async def test_what_is_counted_apart(case: str, place: str) -> None:
    per, expected = SCOPES[case]
    rule = [{"per": per, "count": 1, "window_s": 60}]
    gate, upstream = yard(**{place: rule})
    assert [await said(gate, caller) for caller in (CALLER, CALLER, OTHER, FOREIGN)] == expected
    assert len(upstream.dispatches) == expected.count("success")
    events = [event.code for event in gate.audit.events() if event.kind == "refused"]
    assert events == ["QUOTA_EXCEEDED"] * expected.count("QUOTA_EXCEEDED")


@pytest.mark.parametrize(
    ("per", "second"), [([], "QUOTA_EXCEEDED"), (["tool"], "INVALID_RESPONSE")]
)
async def test_a_quota_of_the_folder_counts_over_all_tools_unless_it_says_tool(
    per: list[str], second: str
) -> None:
    gate, _ = yard(whole=[{"per": per, "count": 1, "window_s": 60}])
    assert await said(gate) == "success"
    given = await gate.call("job_restart", ARGUMENTS, caller=CALLER)
    # Where the other tool's attempt is counted apart it runs, and its answer is empty.
    assert given.code == second


async def test_equal_quotas_of_contract_and_folder_count_an_attempt_once() -> None:
    gate, _ = yard(
        own=[{"per": ["caller"], "count": 2, "window_s": 60}],
        whole=[{"per": ["caller", "tool"], "count": 2, "window_s": 60}],
    )
    assert [await said(gate) for _ in range(3)] == ["success", "success", "QUOTA_EXCEEDED"]


async def test_a_quota_that_is_lowered_goes_on_where_it_stood() -> None:
    gate, _ = yard(own=[{"count": 3, "window_s": 60}])
    heard = [await said(gate) for _ in range(2)]
    lower, _ = yard(own=[{"count": 2, "window_s": 3600}])
    later = Gate(replace(lower._means, store=gate._means.store), lower._serving)
    heard.append(await said(later))
    assert heard == ["success", "success", "QUOTA_EXCEEDED"]


async def test_the_window_moves() -> None:
    clock = FixedClock()
    gate, _ = yard(own=[{"count": 2, "window_s": 10}], clock=clock)
    heard = []
    for step in (0, 6, 3, 1, 5, 1):  # at 0, 6, 9, 10, 15, 16
        clock.advance(step)
        heard.append(await said(gate))
    assert heard == [
        *("success", "success", "QUOTA_EXCEEDED"),
        *("success", "QUOTA_EXCEEDED", "success"),
    ]


@pytest.mark.requirement("ARG-7")
async def test_each_attempt_counts_and_a_spent_quota_ends_the_retries() -> None:
    retry = {"attempts": 5, "budget_s": 30, "on": ["UPSTREAM_UNAVAILABLE"]}
    gate, upstream = yard(LOST, own=[{"count": 2, "window_s": 60}], retry=retry)
    assert await said(gate) == "UPSTREAM_UNAVAILABLE"
    assert len(upstream.dispatches) == 2
    assert list(gate.audit.events())[-1].code == "QUOTA_EXCEEDED"


@pytest.mark.requirement("ARG-7")
async def test_calls_that_do_not_run_are_not_counted() -> None:
    gate, _ = yard(own=[{"count": 1, "window_s": 60}])
    await gate.call("job_status", "{}", caller=CALLER)
    assert await said(gate) == "success"


# --- what the record says of it -----------------------------------------------------------------


@pytest.mark.requirement("AUD-1")
async def test_the_record_says_which_quota_is_spent_and_when_it_has_room_again() -> None:
    clock = FixedClock()
    narrow = {"per": ["caller"], "count": 2, "window_s": 10}
    gate, _ = yard(own=[{"count": 9, "window_s": 60}], whole=[narrow], clock=clock)
    for step in (0, 6, 1):  # at noon, 6 s and 7 s later
        clock.advance(step)
        heard = await said(gate)
    assert heard == "QUOTA_EXCEEDED"
    event = list(gate.audit.events())[-1]
    assert json.loads(event.detail) == {
        "quotas": [
            {
                "per": ["caller"],
                "count": 2,
                "window_s": 10,
                "frees": "2026-11-30T12:00:10.000000Z",
            }
        ]
    }
    assert (
        "           spent quota: at most 2 within 10 s per caller,"
        " has room again at 2026-11-30T12:00:10.000000Z\n"
    ) in tell_story([event])
    clock.advance(3)
    assert await said(gate) == "success"


@pytest.mark.requirement("AUD-1")
async def test_a_lowered_quota_has_room_once_fewer_than_it_grants_are_left() -> None:
    clock = FixedClock()
    gate, _ = yard(own=[{"count": 3, "window_s": 60}], clock=clock)
    for step in (0, 1, 1):
        clock.advance(step)
        assert await said(gate) == "success"
    lower, _ = yard(own=[{"count": 2, "window_s": 60}], clock=clock)
    later = Gate(replace(lower._means, store=gate._means.store), lower._serving)
    assert await said(later) == "QUOTA_EXCEEDED"
    (quota,) = json.loads(list(gate.audit.events())[-1].detail)["quotas"]
    assert quota["frees"] == "2026-11-30T12:01:01.000000Z"


@pytest.mark.requirement("AUD-1")
async def test_of_quotas_that_are_counted_elsewhere_all_are_told() -> None:
    gate, _ = yard(own=[{"count": 1, "window_s": 60}], whole=[{"count": 5, "window_s": 60}])
    counted = Gate(replace(gate._means, quota=open_quota("memory:")), gate._serving)
    assert [await said(counted), await said(counted)] == ["success", "QUOTA_EXCEEDED"]
    event = list(gate.audit.events())[-1]
    assert json.loads(event.detail) == {
        "quotas": [
            {"per": ["tool"], "count": 1, "window_s": 60},
            {"per": [], "count": 5, "window_s": 60},
        ]
    }
    story = tell_story([event])
    assert "           one of these is spent: at most 1 within 60 s per tool\n" in story
    assert "           one of these is spent: at most 5 within 60 s over all\n" in story


# --- counted elsewhere --------------------------------------------------------------------------

RULES = (
    Allowance(key="a" * 64, count=3, window_s=60),
    Allowance(key="b" * 64, count=5, window_s=60),
)


def redis_address() -> str:
    return os.environ.get("SLUICEGATE_REDIS", "redis://127.0.0.1:6379/15")


async def redis_answers() -> bool:
    import redis.asyncio

    client = redis.asyncio.Redis.from_url(redis_address(), socket_connect_timeout=1)
    try:
        return bool(await client.ping())
    except (redis.RedisError, OSError):
        return False
    finally:
        await client.aclose()


@pytest.fixture(params=["memory", "redis"])
async def counted(request: pytest.FixtureRequest) -> AsyncIterator[Quota]:
    if request.param == "redis" and not await redis_answers():
        if os.environ.get("SLUICEGATE_IN_CI"):
            pytest.fail(f"no Redis answers at {redis_address()}")
        pytest.skip(f"no Redis answers at {redis_address()}")
    quota = open_quota("memory:" if request.param == "memory" else redis_address())
    assert quota is not None
    yield quota
    await quota.close()


def apart(*rules: Allowance) -> list[Allowance]:
    """The rules under keys that no other test has."""
    name = uuid.uuid4().hex
    return [replace(rule, key=name + rule.key[:32]) for rule in rules]


async def test_a_quota_that_is_counted_elsewhere_is_exact(counted: Quota) -> None:
    rules = apart(RULES[0])
    ends = await asyncio.gather(*(counted.spend(rules) for _ in range(20)))
    assert ends.count(True) == 3
    assert await counted.spend(rules) is False
    assert await counted.spend(apart(RULES[0])) is True


async def test_the_narrowest_of_several_quotas_holds(counted: Quota) -> None:
    rules = apart(*RULES)
    assert [await counted.spend(rules) for _ in range(5)] == [True] * 3 + [False] * 2


@pytest.mark.requirement("ARG-7")
async def test_a_gate_counts_there_and_denies_when_it_does_not_answer() -> None:
    gate, upstream = yard(own=[{"count": 1, "window_s": 60}])
    counted = Gate(replace(gate._means, quota=open_quota("memory:")), gate._serving)
    assert [await said(counted), await said(counted)] == ["success", "QUOTA_EXCEEDED"]
    closed = open_quota("redis://127.0.0.1:9/0")
    gone = Gate(replace(gate._means, quota=closed), gate._serving)
    given = await gone.call("job_status", ARGUMENTS, caller=CALLER)
    assert closed is not None
    await closed.close()
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert list(gate.audit.events())[-1].code == "QUOTA_UNAVAILABLE"
    assert len(upstream.dispatches) == 1


@pytest.mark.requirement("ACC-4")
async def test_what_is_given_again_costs_no_attempt_wherever_attempts_are_counted() -> None:
    served = folder(
        limits={"quotas": [{"count": 1, "window_s": 60}]},
        idempotency={"key": "host", "keep_s": 600},
    )
    upstreams = {"job_status": RecordedUpstream(), "job_restart": RecordedUpstream(DONE)}
    plain = gate_of(served, upstreams)
    gate = Gate(replace(plain._means, quota=open_quota("memory:")), plain._serving)
    heard = []
    for call_id in ("c-1", "c-1", "c-1", "c-2"):
        given = await gate.call("job_restart", ARGUMENTS, caller=CALLER, call_id=call_id)
        heard.append(given.code or given.outcome)
    assert heard == ["success", "success", "success", "QUOTA_EXCEEDED"]


async def test_a_store_that_is_slow_denies_in_time() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # until the other side gives up
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    gate, upstream = yard(own=[{"count": 1, "window_s": 60}])
    slow = open_quota(f"redis://127.0.0.1:{port}/0")
    given = await Gate(replace(gate._means, quota=slow), gate._serving).call(
        "job_status", ARGUMENTS, caller=CALLER
    )
    assert slow is not None
    await slow.close()
    server.close()
    assert (given.outcome, given.code) == ("refused", "UNAVAILABLE")
    assert list(gate.audit.events())[-1].code == "QUOTA_UNAVAILABLE"
    assert upstream.dispatches == []


async def test_a_store_that_lies_denies() -> None:
    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(4096):
            writer.write(b"+OK\r\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(lie, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    gate, upstream = yard(own=[{"count": 1, "window_s": 60}])
    lying = open_quota(f"redis://127.0.0.1:{port}/0")
    given = await Gate(replace(gate._means, quota=lying), gate._serving).call(
        "job_status", ARGUMENTS, caller=CALLER
    )
    assert lying is not None
    await lying.close()
    server.close()
    assert given.outcome == "refused"
    assert given.code in ("UNAVAILABLE", "QUOTA_EXCEEDED")  # by what its nonsense is taken for
    assert upstream.dispatches == []


class Forgetful(MemoryStorage):
    """Says yes to each attempt, and remembers none."""

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return True

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        return time.time(), 0


async def test_a_store_that_remembers_no_attempt_is_none() -> None:
    with pytest.raises(ValueError, match="does not tell what it counted"):
        await LimitsQuota(Forgetful()).spend(RULES[:1])


async def test_a_quota_that_is_spent_costs_nothing_under_the_others(counted: Quota) -> None:
    wide, narrow = apart(Allowance(key="w" * 64, count=4, window_s=60), RULES[0])
    assert [await counted.spend([wide, narrow]) for _ in range(6)] == [True] * 3 + [False] * 3
    assert await counted.spend([wide]) is True


def test_an_address_in_a_variable_that_is_none_is_told_without_being_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("QUOTAS", "http://:hunter2@example")
    with pytest.raises(ConfigurationError) as told:
        open_quota("redis:env:QUOTAS")
    assert "QUOTAS" in str(told.value)
    assert "hunter2" not in str(told.value)


def test_where_the_record_counts_nothing_else_is_opened() -> None:
    assert open_quota("audit:") is None


def test_the_settings_say_where() -> None:
    served = folder(settings={"limits": {"quota_store": "memory:"}})
    assert served.settings.limits.quota_store == "memory:"
