"""What the gate and the operator ask of a store, of both stores alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest
from tests.unit.gates.open_call_cases import OPEN_CALL_CASES
from tests.unit.stores.made import NOW, intent, outcome

from sluicegate.gates.events import AuditEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import CallQuery
from sluicegate.gates.terms import TermRefused, Terms
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.values.callers import Caller

Store = MemoryStore | SqliteStore
CALLER = Caller(subject="svc-deploy", tenant="t-1", session="any")
ARGUMENTS = {"project_id": "bluebird"}


@pytest.mark.requirement("AUD-1", "AUD-3")
async def test_recorded_events_are_there_in_order_with_the_ids_that_were_returned(
    store: Store,
) -> None:
    ids = await store.record([intent(), outcome()])
    events = list(store.events())
    assert [event.event_id for event in events] == list(ids)
    assert [(event.seq, event.kind) for event in events] == [(1, "intent"), (2, "outcome")]
    assert [event.previous for event in events] == [GENESIS, events[0].link]
    assert store.verify().events == 2


async def test_an_empty_record_verifies(store: Store) -> None:
    report = store.verify()
    assert (report.events, report.head, report.broken_at) == (0, GENESIS, None)


async def test_recording_nothing_writes_nothing(store: Store) -> None:
    assert await store.record([]) == ()
    assert list(store.events()) == []


@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(outcome(returned=float("nan")), id="not a number"),
        pytest.param(outcome(arguments={"a": object()}), id="not JSON"),
        pytest.param(outcome(time=NOW.replace(tzinfo=None)), id="naive time"),
        pytest.param(outcome(detail={"a": b"bytes"}), id="bytes in detail"),
        pytest.param(outcome(adapter_version=5), id="a number for a text"),
    ],
)
async def test_events_that_cannot_be_encoded_are_refused_whole_and_harm_no_other(
    store: Store, bad: AuditEvent
) -> None:
    with pytest.raises(AuditUnavailable, match="cannot be encoded"):
        await store.record([intent(), bad])
    await store.record([intent()])
    assert [event.seq for event in store.events()] == [1]


EVENTS = [
    intent("req.00000001", tool="a"),
    outcome(
        "req.00000001",
        tool="a",
        code="TYPE",
        agent_code="INVALID_RESPONSE",
        time=NOW + timedelta(seconds=1),
    ),
    intent("req.00000002", tool="b", time=NOW + timedelta(seconds=2)),
    outcome(
        "req.00000002",
        tool="b",
        code="STALE",
        agent_code="INVALID_RESPONSE",
        time=NOW + timedelta(seconds=3),
    ),
]


@pytest.mark.parametrize(
    ("filters", "seqs"),
    [
        pytest.param({}, [1, 2, 3, 4], id="all"),
        pytest.param({"since": NOW + timedelta(seconds=2)}, [3, 4], id="since, edge included"),
        pytest.param({"tool": "a"}, [1, 2], id="tool"),
        pytest.param({"code": "STALE"}, [4], id="code"),
        pytest.param({"code": "INVALID_RESPONSE"}, [2, 4], id="code that the agent was told"),
        pytest.param({"request_id": "req.00000001"}, [1, 2], id="request"),
        pytest.param({"tool": "a", "code": "STALE"}, [], id="all filters must fit"),
        pytest.param({"limit": 2}, [1, 2], id="limit"),
        pytest.param({"limit": 0}, [], id="limit of nothing"),
        pytest.param({"newest_first": True, "limit": 3}, [4, 3, 2], id="newest first"),
        pytest.param({"tool": "' OR 1=1 --"}, [], id="a filter is never part of the question"),
    ],
)
async def test_events_are_found_by_filter(
    store: Store, filters: dict[str, object], seqs: list[int]
) -> None:
    await store.record(EVENTS)
    assert [event.seq for event in store.events(**filters)] == seqs  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("named", "seqs"), [((4, 1), [1, 4]), ((2, 2), [2]), ((), [])], ids=["two", "twice", "none"]
)
async def test_events_are_found_by_their_ids(
    store: Store, named: tuple[int, ...], seqs: list[int]
) -> None:
    ids = await store.record(EVENTS)
    asked = ["no id", "\ud800", *(ids[seq - 1] for seq in named)] if named else []
    assert [event.seq for event in store.events(event_ids=asked)] == seqs
    assert list(store.events(event_ids=asked, tool="other")) == []


async def test_events_are_found_by_their_ids_without_a_walk_over_the_record() -> None:
    store = MemoryStore()
    asked: list[str] = []
    store._connection.set_trace_callback(asked.append)
    assert list(store.events(event_ids=["a", "b"])) == []
    store._connection.set_trace_callback(None)
    (statement,) = asked
    plan = store._connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
    assert plan[0][3] == "SEARCH e USING INDEX sqlite_autoindex_audit_event_1 (event_id=?)"


@pytest.mark.requirement("AUD-1", "RET-2")
@pytest.mark.parametrize(("events", "attempts"), OPEN_CALL_CASES)
async def test_a_call_is_open_while_no_outcome_is_known(
    store: Store, events: Sequence[AuditEvent], attempts: list[int]
) -> None:
    await store.record(events)
    open_as = await store.find_open_call(
        CallQuery(request_id="req.another0", tool="restart", caller=CALLER, arguments=ARGUMENTS)
    )
    open_still = [event.attempt for event in store.open_intents()]
    assert (open_as, open_still) == ("req.00000001" if attempts else None, attempts)


@pytest.mark.requirement("RET-2")
@pytest.mark.parametrize(
    ("tool", "caller", "arguments"),
    [
        pytest.param("other", CALLER, ARGUMENTS, id="another tool"),
        pytest.param("restart", Caller(subject="x", tenant="t-1"), ARGUMENTS, id="another caller"),
        pytest.param("restart", Caller(subject="svc-deploy"), ARGUMENTS, id="no tenant"),
        pytest.param(
            "restart", Caller(subject="svc-deploy", tenant="t-2"), ARGUMENTS, id="another tenant"
        ),
        pytest.param("restart", CALLER, {"project_id": "robin"}, id="other arguments"),
    ],
)
async def test_an_open_call_blocks_no_other_call(
    store: Store, tool: str, caller: Caller, arguments: dict[str, object]
) -> None:
    await store.record([intent()])
    found = await store.find_open_call(
        CallQuery(request_id="req.another0", tool=tool, caller=caller, arguments=arguments)
    )
    assert found is None


async def test_a_call_without_tenant_is_found_again(store: Store) -> None:
    await store.record([intent(caller_tenant=None)])
    caller = Caller(subject="svc-deploy")
    found = await store.find_open_call(
        CallQuery(request_id="req.another0", tool="restart", caller=caller, arguments=ARGUMENTS)
    )
    assert found == "req.00000001"


async def test_a_filter_that_there_is_not_filters_nothing_in_silence(store: Store) -> None:
    await store.record([intent()])
    with pytest.raises(TypeError):
        list(store.events(tol="restart"))  # type: ignore[call-arg]


async def test_a_closed_store_is_unavailable(store: Store) -> None:
    await store.close()
    with pytest.raises(AuditUnavailable, match="closed"):
        await store.record([intent()])
    await store.close()


@pytest.mark.requirement("RET-2")
async def test_the_request_that_asks_does_not_stand_in_its_own_way(store: Store) -> None:
    await store.record([intent()])
    found = await store.find_open_call(
        CallQuery(request_id="req.00000001", tool="restart", caller=CALLER, arguments=ARGUMENTS)
    )
    assert found is None


@pytest.mark.requirement("RET-2")
async def test_of_identical_intents_at_once_one_is_recorded(store: Store) -> None:
    ids = [f"req.0000000{number}" for number in range(1, 9)]
    ends = await asyncio.gather(
        *(store.record([intent(each)], terms=Terms(unless_open=True)) for each in ids),
        return_exceptions=True,
    )
    refused = [end for end in ends if isinstance(end, TermRefused)]
    (recorded,) = store.open_intents()
    assert len(refused) == len(ids) - 1
    assert {end.request_id for end in refused} == {recorded.request_id}
    assert len(list(store.events())) == 1


@pytest.mark.requirement("RET-2")
async def test_an_open_call_holds_up_neither_itself_nor_an_outcome_nor_another_call(
    store: Store,
) -> None:
    await store.record([intent()])
    await store.record([intent(attempt=2)], terms=Terms(unless_open=True))
    await store.record([outcome("req.00000002")], terms=Terms(unless_open=True))
    await store.record([intent("req.00000003", tool="other")], terms=Terms(unless_open=True))
    assert len(list(store.events())) == 4
