"""``limits.key_store`` from the settings on: folders with records of their own, and one Redis."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder
from tests.redis_servers import RedisServer, run_redis

from sluicegate.errors import ConfigurationError, ContractFolderError
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.opening.blocking import open_blocking
from sluicegate.opening.folder import open_gate
from sluicegate.values.callers import Caller

pytestmark = pytest.mark.requirement("ACC-4")

SVC = Caller(subject="svc")
HEAD = 'audit: {store: "sqlite:state/audit.db", keys: "env:RING"}\nlimits: {key_store: "KEYS"}\n'
MASTER = "bWFzdGVyLWtleS1vZi10ZXN0cy1vbmx5LTMyLWJ5dGU="
ANOTHER = "YW5vdGhlci1rZXktb2YtdGVzdHMtb25seS0zMmJ5dGU="


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with run_redis(tmp_path / "redis") as running:
        yield running


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RING", MASTER)
    monkeypatch.delenv("KEYS", raising=False)


def write(name: str, address: str) -> Path:
    """Write a folder whose ``restart`` has keys of the host."""
    folder = write_folder(Path(name))
    settings = folder / "sluicegate.yaml"
    lines = [line for line in settings.read_text().splitlines() if not line.startswith("audit:")]
    settings.write_text(HEAD.replace("KEYS", address) + "\n".join([*lines, ""]))
    contract = folder / "restart" / "contract.yaml"
    text = contract.read_text().replace(f"{name}/upstream.py", str(Path("upstream.py").absolute()))
    contract.write_text(f"{text}idempotency: {{key: host, keep_s: 600}}\n")
    (folder / "upstream.py").rename("upstream.py")  # one contract is one digest at both
    return folder


def call(folder: Path, call_id: str = "c-1", state: str = "failed", run: str = "run_1") -> str:
    with open_blocking(folder) as gate:
        given = gate.call(
            "restart", json.dumps({"run_id": run, "state": state}), caller=SVC, call_id=call_id
        )
        shown = json.loads(given.to_json())
    return "replayed" if shown.get("replayed") else given.code or given.outcome


def test_folders_that_share_their_keys_make_a_write_once(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYS", server.address)
    one, other = write("one", server.address), write("other", "redis:env:KEYS")
    assert [call(one), call(other), call(one)] == ["success", "replayed", "replayed"]
    assert call(other, state="succeeded") == "KEY_REUSED"


@pytest.mark.requirement("RET-2", "CLI")
@pytest.mark.parametrize(
    ("found", "then"), [("done", "KEY_REUSED"), ("not-done", "OUTCOME_UNKNOWN")]
)
def test_what_an_operator_says_at_one_folder_counts_at_the_other(
    server: RedisServer, sluicegate: Here, found: str, then: str
) -> None:
    one, other = write("one", server.address), write("other", server.address)
    hang = {"state": "hang"}
    assert [call(one, **hang), call(other, **hang)] == ["OUTCOME_UNKNOWN"] * 2
    story = json.loads(
        sluicegate("audit", "list", "--open", "--folder", "one", "--format", "json-v1").out
    )
    (request_id,) = [event["request_id"] for event in story["events"]]
    events = json.loads(
        sluicegate("audit", "list", "--folder", "other", "--format", "json-v1").out
    )["events"]
    (refused,) = [event["request_id"] for event in events if event["kind"] == "refused"]
    told = sluicegate("why", refused, "--folder", "other").out
    assert f"held by: {request_id} (in the record of another gate)" in told
    act = ("audit", "resolve", request_id, "--as", found, "--reason", "looked", "--folder", "one")
    server.kill()
    said = sluicegate(*act)
    assert said.code != 0
    assert "limits.key_store: Redis does not answer" in said.err
    listed = sluicegate("audit", "list", "--open", "--folder", "one")
    assert request_id in listed.out  # nothing was recorded
    server.start()
    assert sluicegate(*act).code == 0
    # Done is done, and its answer is not known; not done runs again, and is lost once more.
    assert call(other, **hang) == then
    assert (then in call(one, **hang)) is True


PURGE = ("audit", "purge", "--now", "2099-01-01T00:00:00Z", "--yes", "--folder", "one")


@pytest.mark.requirement("AUD-4", "CLI")
def test_what_a_purge_destroys_at_one_folder_the_other_gives_no_more(
    server: RedisServer, sluicegate: Here
) -> None:
    one, other = write("one", server.address), write("other", server.address)
    assert [call(one), call(other)] == ["success", "replayed"]
    assert sluicegate("audit", "purge", "--folder", "one").out == "0 purged\n"
    assert call(other) == "replayed"
    assert sluicegate(*PURGE).code == 0
    assert [call(one), call(other)] == ["KEY_REUSED", "KEY_REUSED"]


@pytest.mark.requirement("AUD-4", "CLI")
def test_a_purge_waits_for_no_redis_and_tells_what_is_to_be_repeated(
    server: RedisServer, sluicegate: Here
) -> None:
    one, other = write("one", server.address), write("other", server.address)
    assert [call(one), call(other)] == ["success", "replayed"]
    server.kill()
    said = sluicegate(*PURGE)
    assert (said.code, said.out) == (5, "")
    assert "purged, and the act is recorded, but other gates may still give an answer" in said.err
    assert "limits.key_store: Redis does not answer" in said.err
    assert "run `sluicegate audit purge` once more" in said.err
    repeated = sluicegate("audit", "purge", "--folder", "one")
    assert (repeated.code, "nothing more to purge here, but other gates" in repeated.err) == (
        5,
        True,
    )
    server.start()
    assert call(other) == "replayed"
    again = sluicegate("audit", "purge", "--folder", "one")
    assert (again.code, again.out) == (0, "0 purged\n")
    assert call(other) == "KEY_REUSED"


@pytest.mark.requirement("RET-2", "CLI", "AUD-3")
def test_a_word_on_a_call_whose_events_were_changed_is_refused(
    server: RedisServer, sluicegate: Here
) -> None:
    folder = write("one", server.address)
    assert call(folder, state="hang") == "OUTCOME_UNKNOWN"
    with closing(sqlite3.connect(folder / "state" / "audit.db")) as connection:
        connection.execute("DROP TRIGGER audit_event_no_update")
        connection.execute("UPDATE audit_event SET detail = '7' WHERE kind = 'intent'")
        connection.commit()
        (request_id,) = connection.execute("SELECT request_id FROM open_call").fetchone()
    act = ("audit", "resolve", request_id, "--as", "done", "--reason", "looked", "--folder", "one")
    refused = sluicegate(*act)
    assert refused.code == 5
    assert f"CHAIN_BROKEN: what is recorded of {request_id} was changed" in refused.err


@pytest.mark.requirement("CLI")
def test_a_call_without_a_key_is_resolved_as_ever(server: RedisServer, sluicegate: Here) -> None:
    folder = write("one", server.address)
    contract = folder / "restart" / "contract.yaml"
    contract.write_text(contract.read_text().partition("idempotency:")[0])
    assert call(folder, state="hang") == "OUTCOME_UNKNOWN"
    story = sluicegate("audit", "list", "--open", "--folder", "one", "--format", "json-v1").out
    (event,) = json.loads(story)["events"]
    act = ("audit", "resolve", event["request_id"], "--as", "done", "--reason", "looked")
    server.kill()  # it knows nothing of this call
    assert sluicegate(*act, "--folder", "one").code == 0
    server.start()
    assert call(folder) == "success"


def test_gates_with_other_keys_do_not_open_over_one_redis(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = write("one", server.address), write("other", server.address)
    assert call(one) == "success"
    monkeypatch.setenv("RING", f"{MASTER} {ANOTHER}")  # rotated: the first one carries the record
    assert call(other) == "replayed"
    monkeypatch.setenv("RING", ANOTHER)
    with pytest.raises(ConfigurationError, match="have other audit keys"):
        open_gate(write("strange", server.address))


UNFIT = {
    "no log of what it takes": (("--appendonly", "no"), "set appendonly yes"),
    "a log that it writes each second": (("--appendfsync", "everysec"), "set appendfsync always"),
    "memory that it evicts": (
        ("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"),
        "set maxmemory-policy noeviction",
    ),
    "another master": (("--replicaof", "127.0.0.1", "9"), "no master"),
}


@pytest.mark.requirement("CLI")
@pytest.mark.parametrize("case", UNFIT)
def test_a_redis_that_may_lose_a_key_opens_no_gate(
    tmp_path: Path, sluicegate: Here, case: str
) -> None:
    options, expected = UNFIT[case]
    with run_redis(tmp_path / "redis", *options) as server:
        folder = write("one", server.address)
        with pytest.raises(ConfigurationError, match=expected):
            open_gate(folder)
        well, says = look(sluicegate)
    assert not well
    assert expected in says


def look(sluicegate: Here) -> tuple[bool, str]:
    looks = json.loads(sluicegate("doctor", "one", "--format", "json-v1").out)["looks"]
    (found,) = [each for each in looks if each["name"] == "key store"]
    return found["well"], found["says"]


@pytest.mark.requirement("CLI")
def test_doctor_says_how_the_key_store_is(server: RedisServer, sluicegate: Here) -> None:
    folder = write("one", server.address)
    says = "Redis keeps what it acknowledges; the first gate begins its keys"
    assert not Path("one/state").exists()
    assert look(sluicegate) == (True, says)
    assert server.names() == []  # it looks, and writes nothing
    settings = folder / "sluicegate.yaml"
    text = settings.read_text()
    settings.write_text(text.replace("env:RING", "file:keys/"))
    told = "Redis keeps what it acknowledges; audit.keys holds none yet: give every gate at this"
    assert look(sluicegate) == (True, f"{told} Redis the same")
    settings.write_text(text)
    call(folder, state="hang")
    says = "Redis keeps what it acknowledges; keys held by calls without an end: 1"
    assert look(sluicegate) == (True, says)
    server.kill()
    well, says = look(sluicegate)
    assert not well
    assert "Redis does not answer" in says
    assert str(server.port) not in says


def test_a_gate_that_does_not_open_leaves_nothing_behind(server: RedisServer) -> None:
    folder = write("one", server.address)
    assert call(folder) == "success"
    server.kill()
    threads = threading.active_count()
    for _ in range(3):
        with pytest.raises(ConfigurationError, match="Redis does not answer"):
            open_gate(folder)
    assert threading.active_count() <= threads
    server.start()
    assert call(folder) == "replayed"


@pytest.mark.requirement("AUD-4", "ACC-4")
def test_a_custody_key_that_is_gone_opens_no_gate_and_is_told_with_its_place(
    server: RedisServer, sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> str:
        raise AuditUnavailable("Redis went before it was told")

    folder = write("one", server.address)
    with monkeypatch.context() as broken:
        broken.setattr("sluicegate.stores.shared_keys_table.KeyTable.settle", refuse)
        with suppress(AuditUnavailable):
            call(folder)
    monkeypatch.setenv("RING", f"{MASTER} {ANOTHER}")
    rewrap = ("audit", "rotate", "--rewrap-only", "--reason", "x", "--folder", "one")
    assert sluicegate(*rewrap).code == 0
    monkeypatch.setenv("RING", MASTER)
    told = "environment variable RING (audit.keys)"
    with pytest.raises(ConfigurationError, match=r"^limits\.key_store: .*custody key") as refused:
        open_gate(folder)
    assert told in str(refused.value)
    ill = sluicegate("doctor", "one")
    assert (ill.code, told in ill.out) == (1, True)


def test_a_record_in_memory_shares_no_keys(server: RedisServer) -> None:
    folder = write("one", server.address)
    settings = folder / "sluicegate.yaml"
    settings.write_text(settings.read_text().replace("sqlite:state/audit.db", "memory:"))
    with pytest.raises(ContractFolderError, match="a record in memory draws keys"):
        open_gate(folder)


def test_a_gate_opens_from_inside_a_running_loop(server: RedisServer) -> None:
    folder = write("one", server.address)

    async def run() -> str:
        async with open_gate(folder) as gate:
            given = await gate.call(
                "restart", '{"run_id": "run_1", "state": "failed"}', caller=SVC, call_id="c-1"
            )
            return given.outcome

    assert asyncio.run(run()) == "success"


@pytest.mark.requirement("CON-3")
def test_a_running_gate_keeps_its_key_store(server: RedisServer) -> None:
    folder = write("one", server.address)
    settings = folder / "sluicegate.yaml"

    async def run() -> str:
        async with open_gate(folder) as gate:
            settings.write_text(settings.read_text().replace(server.address, "audit:"))
            (problem,) = await gate.reload()
            return problem.message

    assert "`limits.key_store` cannot change" in asyncio.run(run())


@pytest.mark.parametrize(
    ("store", "told"),
    [
        pytest.param("memory:", "key_store", id="a process's own"),
        pytest.param("redis://:hunter2@example/0", "without a password", id="a password"),
        pytest.param("redis://127.0.0.1:x/0", "without a password or options", id="no address"),
    ],
)
def test_what_is_no_key_store_does_not_load_and_is_told_without_a_secret(
    store: str, told: str
) -> None:
    folder = write("one", store)
    with pytest.raises(ContractFolderError, match=told) as raised:
        open_gate(folder)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("store", "told"),
    [
        pytest.param("redis:env:KEYS", "the variable KEYS is not set", id="no variable"),
        pytest.param("redis://127.0.0.1:9/0", "Redis does not answer", id="nobody there"),
    ],
)
def test_a_key_store_that_cannot_be_found_opens_no_gate(store: str, told: str) -> None:
    folder = write("one", store)
    with pytest.raises(ConfigurationError, match=told):
        open_gate(folder)


async def test_the_operators_word_that_redis_could_not_be_told_stands_in_the_record(
    server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import UTC, datetime

    from sluicegate.gates.operator_acts import resolve
    from sluicegate.gates.ports import AuditUnavailable
    from sluicegate.opening.folder import read_settings
    from sluicegate.opening.key_stores import record_and_tell
    from sluicegate.opening.standing import open_standing_store

    folder = write("one", server.address)
    assert await asyncio.to_thread(call, folder, "c-1", "hang") == "OUTCOME_UNKNOWN"
    store = open_standing_store(folder)
    (intent,) = store.open_intents()
    now = datetime.now(UTC)
    act, terms = resolve(
        store.events(), intent.request_id, found="done", who="a", reason="b", now=now
    )
    record = store.record

    async def record_and_lose_redis(*events: object, **how: object) -> object:
        ids = await record(*events, **how)  # type: ignore[arg-type]
        server.kill()
        return ids

    monkeypatch.setattr(store, "record", record_and_lose_redis)
    with pytest.raises(AuditUnavailable, match="the act is recorded, but the key store did not"):
        await record_and_tell(store, act, terms, read_settings(folder), folder, lambda: now)
    await store.close()
    server.start()
    other = write("other", server.address)
    assert await asyncio.to_thread(call, other, "c-1", "hang") == "OUTCOME_UNKNOWN"
    await open_gate(folder).close()  # tells it
    assert await asyncio.to_thread(call, other, "c-1", "hang") == "KEY_REUSED"
