"""kill -9 of a gate or of the server: what was acknowledged is there, and the chain holds.

20 rounds by default, the server killed in two of them; SLUICEGATE_FULL=1 runs 200. Figures:
--log-cli-level=INFO.
"""

from __future__ import annotations

import logging
import os
import random
import select
import signal
from collections.abc import Iterator

import pytest
from tests.faults.audit_processes import fork
from tests.faults.postgres_processes import act_until_killed, record_all
from tests.postgres_clusters import Cluster, running_cluster
from tests.postgres_servers import owner_of, prepare

from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_place import Place

ROUNDS = 200 if os.environ.get("SLUICEGATE_FULL") else 20
ROUNDS_A_CHAIN = 20
SERVER_KILLED_EVERY = 10
LOG = logging.getLogger(__name__)
RANDOM = random.Random(20261130)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as running:
        yield running


def read_ids(pipe: int, count: int, received: bytearray) -> None:
    """Read until so many acknowledgements came."""
    wanted = received.count(b"\n") + count
    while received.count(b"\n") < wanted:
        chunk = os.read(pipe, 65_536)
        assert chunk, "the child died by itself"
        received += chunk


def kill_server(cluster: Cluster, place: Place, number: int) -> None:
    """Crash: the whole server, or one backend, after which the server recovers by itself."""
    if number % (2 * SERVER_KILLED_EVERY) == 0:
        cluster.stop("immediate")
        cluster.start()
    else:
        with owner_of(place) as owner:
            rows = owner.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'sluicegate'"
            ).fetchall()
        for (pid,) in rows:
            os.kill(int(str(pid)), signal.SIGKILL)


def crash(cluster: Cluster, place: Place, keys: AuditKeys, number: int) -> list[str]:
    """Let a child write, kill it or first the server, and return the ids it was told."""
    read, write = os.pipe()
    child = fork(lambda: act_until_killed(place, keys, write))
    os.close(write)
    received = bytearray()
    read_ids(read, RANDOM.randrange(1, 60), received)
    if number % SERVER_KILLED_EVERY == 0:
        kill_server(cluster, place, number)
        read_ids(read, 20, received)  # the same gate goes on by itself
    select.select([read], [], [], RANDOM.random() * 0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while chunk := os.read(read, 65_536):
        received += chunk
    os.close(read)
    return received.decode().split()


@pytest.mark.requirement("AUD-1", "AUD-3")
def test_no_acknowledged_event_is_lost_when_a_gate_or_the_server_is_killed(
    cluster: Cluster,
) -> None:
    keys = draw_keys()
    lost = unacknowledged = total = 0
    acknowledged: list[str] = []
    for number in range(1, ROUNDS + 1):
        place = cluster.place(f"crash_{(number - 1) // ROUNDS_A_CHAIN}")
        if number % ROUNDS_A_CHAIN == 1:
            prepare(place, keys)
            acknowledged = []
        acknowledged += crash(cluster, place, keys, number)
        store = PostgresStore(place, keys)
        report = store.verify()
        events = list(store.events())
        opened = {event.request_id for event in store.open_intents()}
        store._writer.close(10)

        assert (report.broken_at, report.problem) == (None, None)
        steps = [(event.request_id, event.kind) for event in events]
        assert len(set(steps)) == len(steps), "an event was written twice"
        ended = {name for name, kind in steps if kind == "outcome"}
        assert opened == {name for name, kind in steps if kind == "intent"} - ended
        known = {event.event_id for event in events}
        lost += sum(name not in known for name in acknowledged)
        if number % ROUNDS_A_CHAIN == 0 or number == ROUNDS:
            total += len(acknowledged)
            unacknowledged += len(known) - len(acknowledged)
    LOG.info(
        "%d rounds, %d acknowledged, %d lost, %d committed of which nobody was told",
        *(ROUNDS, total, lost, unacknowledged),
    )
    assert (lost, total >= ROUNDS) == (0, True)


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("callers", [1, 32])
def test_two_processes_share_one_chain_gaplessly(cluster: Cluster, callers: int) -> None:
    keys = draw_keys()
    place = cluster.place(f"shared_{callers}")
    prepare(place, keys)
    count = 20 if callers == 1 else 96
    pipes = []
    children = []
    for _ in range(2):
        read, write = os.pipe()

        def work(pipe: int = write) -> None:
            record_all(place, keys, pipe, count=count, callers=callers)

        children.append(fork(work))
        os.close(write)
        pipes.append(read)
    told: list[str] = []
    for pipe in pipes:
        received = b""
        while chunk := os.read(pipe, 65_536):
            received += chunk
        os.close(pipe)
        told += received.decode().split()
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    store = PostgresStore(place, keys)
    events = list(store.events())
    report = store.verify()
    store._writer.close(10)
    assert ends == [0, 0]
    assert [event.seq for event in events] == list(range(1, 2 * 2 * count + 1))
    assert sorted(event.event_id for event in events) == sorted(told)
    assert report.problem is None
