"""PostgreSQL down, slow, lost at every point of a batch: a refusal each time, and it recovers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import psycopg
import pytest
from tests.faults.audit_processes import fork
from tests.faults.postgres_relay import Loss, Relay
from tests.postgres_clusters import Cluster, free_port, running_cluster
from tests.postgres_servers import new_place, owner_of, prepare, url_of
from tests.unit.stores.made import intent, outcome

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores import postgres_writer
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_ledger import PostgresLedger
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.record_ledger import Ledger

SECRET = "pa55-of-the-gate"
SHORT_S = 0.4


@pytest.fixture
def keys() -> AuditKeys:
    return draw_keys()


@pytest.fixture
def place(keys: AuditKeys) -> Place:
    made = new_place()
    prepare(made, keys)
    return made


@pytest.fixture
async def store(place: Place, keys: AuditKeys) -> AsyncIterator[PostgresStore]:
    opened = PostgresStore(place, keys)
    yield opened
    await opened.close()


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


def seqs(store: PostgresStore) -> list[int]:
    return [event.seq for event in store.events()]


@contextmanager
def head_locked(place: Place) -> Iterator[None]:
    """Hold the head of the chain, as another gate that hangs in a batch would."""
    with psycopg.connect(url_of(place)) as connection:
        connection.execute(f'SELECT * FROM "{place.schema}".chain_head FOR UPDATE'.encode())
        yield
        connection.rollback()


@pytest.mark.requirement("AUD-3", "AUD-5")
def test_a_server_that_is_down_when_a_gate_opens_is_one_clear_error(keys: AuditKeys) -> None:
    place = new_place()
    down = {**place.options, "host": "127.0.0.1", "port": str(free_port()), "password": SECRET}
    with pytest.raises(ConfigurationError, match=r"cannot be opened.*refused") as refused:
        PostgresStore(replace(place, options=down), keys)
    assert SECRET not in str(refused.value)


@pytest.mark.requirement("AUD-1", "AUD-3", "RES-9")
@pytest.mark.parametrize("mode", ["immediate", "fast"])
async def test_a_server_that_goes_down_is_unavailable_until_it_is_back(
    cluster: Cluster, keys: AuditKeys, mode: str
) -> None:
    place = cluster.place(f"down_{mode}")
    prepare(place, keys)
    store = PostgresStore(place, keys)
    await store.record([intent()])
    cluster.stop(mode)
    for _ in range(2):
        with pytest.raises(AuditUnavailable):
            await store.record([outcome()])
    with pytest.raises(AuditUnavailable):
        list(store.events())
    report = store.verify()
    cluster.start()
    await store.record([outcome()])
    assert (report.broken_at, seqs(store)) == (1, [1, 2])
    await store.close()


@pytest.mark.requirement("AUD-3")
async def test_a_server_that_was_restarted_between_two_calls_costs_no_call(
    cluster: Cluster, keys: AuditKeys
) -> None:
    place = cluster.place("restarted")
    prepare(place, keys)
    store = PostgresStore(place, keys)
    await store.record([intent()])
    cluster.stop("fast")
    cluster.start()
    await store.record([outcome()])
    assert seqs(store) == [1, 2]
    await store.close()


@pytest.mark.requirement("AUD-1", "AUD-3")
@pytest.mark.parametrize("patience_s", [SHORT_S, 30.0])
async def test_who_waits_too_long_for_the_head_is_told(
    place: Place, keys: AuditKeys, patience_s: float
) -> None:
    """The caller's own patience, and where that is longer, the one of the server's lock."""
    store = PostgresStore(place, keys, patience_s=patience_s)
    if patience_s > SHORT_S:
        session = store._writer._ledger.session  # type: ignore[attr-defined]
        session.connection.execute("SET lock_timeout = 200")
    told = r"no commit|LockNotAvailable|QueryCanceled"
    with head_locked(place), pytest.raises(AuditUnavailable, match=told):
        await store.record([intent()])
    store._patience_s = 30.0  # a loaded machine is no defect
    await store.record([outcome("req.00000002")])
    assert [event.request_id for event in store.events()][-1] == "req.00000002"
    await store.close()


@pytest.mark.requirement("AUD-1")
async def test_an_intent_whose_caller_gave_up_is_not_written_afterwards(
    place: Place, keys: AuditKeys
) -> None:
    store = PostgresStore(place, keys, patience_s=SHORT_S)
    with head_locked(place):
        for number in range(3):
            with pytest.raises(AuditUnavailable):
                await store.record([intent(f"req.0000000{number}")])
    store._patience_s = 30.0  # a loaded machine is no defect
    await store.record([outcome("req.00000009")])
    assert store.open_intents() == ()
    await store.close()


@pytest.mark.requirement("AUD-3")
async def test_a_statement_that_hangs_is_ended_by_the_server(place: Place, keys: AuditKeys) -> None:
    store = PostgresStore(place, keys, patience_s=30.0)

    def hang(ledger: Ledger) -> None:
        ledger.append([intent()])
        assert isinstance(ledger, PostgresLedger)
        ledger.session.connection.execute("SET LOCAL statement_timeout = 100")
        ledger.session.connection.execute("SELECT pg_sleep(60)")

    with pytest.raises(AuditUnavailable, match="statement timeout"):
        await store._do(hang)
    await store.record([intent()])
    assert seqs(store) == [1]
    await store.close()


@pytest.mark.requirement("AUD-1", "AUD-3")
async def test_a_backend_that_is_ended_in_the_middle_of_a_batch_takes_the_batch_with_it(
    store: PostgresStore, place: Place
) -> None:
    def end(ledger: Ledger) -> None:
        ledger.append([intent()])
        assert isinstance(ledger, PostgresLedger)
        ledger.session.wait()
        with owner_of(place) as owner:
            pid = ledger.session.connection.info.backend_pid
            owner.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        ledger.append([outcome()])

    with pytest.raises(AuditUnavailable):
        await store._do(end)
    await store.record([intent()])
    assert seqs(store) == [1]
    assert store.verify().problem is None


@pytest.mark.requirement("AUD-3")
async def test_a_backend_that_is_ended_between_two_batches_costs_no_call(
    store: PostgresStore, place: Place
) -> None:
    await store.record([intent()])
    pid = store._writer._ledger.session.connection.info.backend_pid  # type: ignore[attr-defined]
    with owner_of(place) as owner:
        owner.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
    await store.record([outcome()])
    assert seqs(store) == [1, 2]


@pytest.mark.requirement("AUD-1", "AUD-3")
@pytest.mark.parametrize(
    ("loss", "there"),
    [
        pytest.param("after", True, id="the server committed, its answer was lost"),
        pytest.param("before", False, id="the server never had it"),
    ],
)
async def test_what_became_of_a_lost_commit_is_asked_of_the_record(
    place: Place, keys: AuditKeys, loss: Loss, there: bool
) -> None:
    relay = Relay(int(place.options.get("port", "5432")))
    store = PostgresStore(replace(place, options={**place.options, "port": str(relay.port)}), keys)
    await store.record([intent()])
    relay.lose = loss
    if there:
        (named,) = await store.record([outcome()])
        assert [event.event_id for event in store.events()][-1] == named
    else:
        with pytest.raises(AuditUnavailable, match="no commit"):
            await store.record([outcome()])
        await store.record([outcome()])
    assert seqs(store) == [1, 2]
    await store.close()
    relay.close()


@pytest.mark.requirement("AUD-1", "AUD-3", "RES-9")
async def test_a_commit_of_which_nobody_can_be_asked_is_unavailable_and_never_written_twice(
    place: Place, keys: AuditKeys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_writer, "LOOKING_S", 0.0)
    relay = Relay(int(place.options.get("port", "5432")))
    store = PostgresStore(replace(place, options={**place.options, "port": str(relay.port)}), keys)
    await store.record([intent()])
    relay.lose, relay.refuses = "after", True
    with pytest.raises(AuditUnavailable, match="what became of it is not known"):
        await store.record([outcome()])
    relay.refuses = False
    await store.record([outcome("req.00000002")])
    assert [event.request_id for event in store.events()] == [
        *("req.00000001", "req.00000001", "req.00000002")
    ]
    await store.close()
    relay.close()


@pytest.mark.requirement("AUD-3")
async def test_a_forked_child_writes_on_a_connection_of_its_own(store: PostgresStore) -> None:
    await store.record([intent(time=datetime.now(UTC))])
    child = fork(lambda: store.record_blocking([outcome(time=datetime.now(UTC))]) and None)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    await store.record([intent("req.00000002")])
    assert seqs(store) == [1, 2, 3]


@pytest.mark.requirement("AUD-3", "RES-9")
async def test_what_fails_in_the_server_is_told_without_a_row(
    store: PostgresStore, caplog: pytest.LogCaptureFixture
) -> None:
    def offend(ledger: Ledger) -> None:
        ledger.append([intent(tool=SECRET)])
        ledger.connection.execute(
            "INSERT INTO audit_event SELECT * FROM audit_event WHERE tool = ?", (SECRET,)
        )

        ledger.connection.execute("INSERT INTO store_fact VALUES (?, NULL)", (SECRET,)).rowcount  # noqa: B018

    with pytest.raises(AuditUnavailable, match="violates") as refused:
        await store._do(offend)
    assert SECRET not in str(refused.value) + caplog.text
    assert seqs(store) == []


@pytest.mark.requirement("AUD-3")
async def test_the_queue_is_bounded_while_the_server_does_not_answer(
    place: Place, keys: AuditKeys
) -> None:
    store = PostgresStore(place, keys, patience_s=30.0, max_queued_bytes=20_000)

    def fill() -> None:
        for _ in range(100):
            store.enqueue([outcome()])

    with head_locked(place), pytest.raises(AuditUnavailable, match="already wait"):
        fill()
    await store.close()
