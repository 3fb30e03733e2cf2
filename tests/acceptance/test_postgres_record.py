"""A folder whose record stands in PostgreSQL: prepared by its owner, used by a gate, looked at."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from tests.acceptance.commands import Done, Here, run_apart
from tests.acceptance.folders import write_folder
from tests.postgres_clusters import free_port
from tests.postgres_servers import (
    GATE_PASSWORD,
    as_role,
    gate_role,
    new_place,
    owner_of,
    unguarded,
    url_of,
)

from sluicegate.opening.blocking import open_blocking
from sluicegate.stores import stores
from sluicegate.stores.postgres_place import Place
from sluicegate.values.callers import Caller

SVC = Caller(subject="svc")
VARIABLE = "AUDIT_DSN"


@pytest.fixture
def place() -> Place:
    return new_place()


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Place) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    settings = tmp_path / "contracts" / "sluicegate.yaml"
    chain = place.schema.removeprefix("sluicegate_")
    settings.write_text(
        settings.read_text().replace(
            "sqlite:state/audit.db", f"postgresql:env:{VARIABLE}?chain={chain}"
        )
    )
    monkeypatch.setenv(VARIABLE, url_of(place))


@pytest.fixture
def as_gate(place: Place, sluicegate: Here, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The owner has prepared the record; from here on the gate's role is used."""
    with gate_role() as role:
        assert sluicegate("audit", "prepare", "--gate-role", role).code == 0
        monkeypatch.setenv(VARIABLE, url_of(as_role(place, role)))
        yield


def call(state: str) -> str:
    with open_blocking("contracts") as gate:
        answer = gate.call(
            "job_status", json.dumps({"run_id": "run_1", "state": state}), caller=SVC
        )
    return type(answer.envelope).__name__


def looks(sluicegate: Here) -> tuple[int, dict[str, tuple[bool, str]]]:
    done = sluicegate("doctor", "contracts", "--format", "json-v1")
    found = json.loads(done.out)["looks"]
    return done.code, {each["name"]: (each["well"], each["says"]) for each in found}


@pytest.mark.requirement("AUD-1", "AUD-3", "AUD-4")
def test_a_gate_with_a_role_of_its_own_records_and_an_operator_reads(
    sluicegate: Here, as_gate: None
) -> None:
    assert (call("failed"), call("other")) == ("Success", "Failure")
    listed = json.loads(sluicegate("audit", "list", "--format", "json-v1").out)["events"]
    (ref,) = [event["raw_ref"] for event in listed if event["code"] == "WRONG_SUBJECT"]
    kinds = [event["kind"] for event in reversed(listed) if event["tool"] == "job_status"]
    assert kinds == ["intent", "outcome"] * 2
    assert b"run_2" in run_apart("audit", "reveal", ref, "--reason", "why").out.encode()
    assert sluicegate("audit", "rotate", "--reason", "why").code == 0
    assert b"run_2" in run_apart("audit", "reveal", ref, "--reason", "why").out.encode()
    assert sluicegate("audit", "verify").code == 0
    again = ("--against", "current", "--reason", "why", "--format", "json-v1")
    assert json.loads(sluicegate("replay", "job_status", *again).out)["checked"] == 1


@pytest.mark.requirement("ACC-3", "AUD-3")
def test_gates_in_processes_of_their_own_share_one_quota_and_one_chain(
    sluicegate: Here, as_gate: None
) -> None:
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(
        f"limits: {{quotas: [{{per: [caller], count: 2, window_s: 3600}}]}}\n{settings.read_text()}"
    )
    arguments = json.dumps({"run_id": "run_1", "state": "failed"})
    gates = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", "from sluicegate.cli.main import main; main()"),
                *("call", "job_status", "--arguments", arguments, "--caller", "svc"),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(4)
    ]
    told = sorted(str(json.loads(gate.communicate()[0])["outcome"]) for gate in gates)
    verified = json.loads(sluicegate("audit", "verify", "--format", "json-v1").out)
    assert told == ["refused", "refused", "success", "success"]
    assert verified["verdict"] == "intact"


@pytest.mark.requirement("AUD-3")
def test_a_record_that_is_not_prepared_names_the_command(sluicegate: Here) -> None:
    done = sluicegate("audit", "verify")
    assert (done.code, "audit prepare" in done.err) == (5, True)


@pytest.mark.requirement("AUD-3", "CLI")
def test_preparing_says_what_it_did(sluicegate: Here) -> None:
    told = [sluicegate("audit", "prepare").out for _ in range(2)]
    as_json = json.loads(sluicegate("audit", "prepare", "--format", "json-v1").out)
    assert told == ["a new record is begun\n", "the record stands, its tables have version 1\n"]
    assert (as_json["command"], as_json["begun"]) == ("audit prepare", False)


@pytest.mark.requirement("AUD-3", "CLI")
def test_only_a_record_in_postgresql_is_prepared(sluicegate: Here) -> None:
    write_folder(Path("other"))
    done = sluicegate("audit", "prepare", "--folder", "other")
    assert (done.code, "no PostgreSQL" in done.err) == (2, True)


@pytest.mark.requirement("AUD-3")
def test_doctor_finds_a_prepared_record_well(sluicegate: Here, as_gate: None) -> None:
    call("failed")
    code, found = looks(sluicegate)
    assert (code, [name for name, (well, _) in found.items() if not well]) == (0, [])
    assert {"server", "synchronous", "tables", "keys", "rights", "partitions"} <= found.keys()


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("statement", "name", "says"),
    [
        pytest.param(
            "ALTER TABLE audit_event DISABLE TRIGGER audit_event_no_change",
            "triggers",
            "audit_event_no_change",
            id="a guard is off",
        ),
        pytest.param(
            "DROP TRIGGER chain_head_next ON chain_head",
            "triggers",
            "chain_head_next",
            id="a guard is gone",
        ),
        pytest.param(
            "UPDATE store_fact SET value = '99' WHERE name = 'version'",
            "record",
            "install the release",
            id="tables of a later release",
        ),
        pytest.param(
            "UPDATE store_fact SET value = 'x' WHERE name = 'keys'",
            "record",
            "not those",
            id="other keys",
        ),
        pytest.param(
            "UPDATE custody_blob SET key_id = 'gone'",
            "custody",
            "wrapped under custody key gone, which this process does not have",
            id="a custody key that is gone",
        ),
        pytest.param("DROP_NEXT_MONTH", "partitions", "audit prepare", id="no partition ahead"),
        pytest.param(
            "SET session_replication_role = replica; UPDATE audit_event SET tool = 'x'"
            " WHERE kind = 'outcome'",
            "chain",
            "CHAIN_BROKEN",
            id="an event was changed",
        ),
    ],
)
def test_doctor_names_what_is_not_well(
    sluicegate: Here, as_gate: None, place: Place, statement: str, name: str, says: str
) -> None:
    call("failed")
    with owner_of(place) as owner:
        if statement == "DROP_NEXT_MONTH":
            rows = owner.execute(
                "SELECT max(c.relname) FROM pg_inherits AS i JOIN pg_class AS c ON"
                " c.oid = i.inhrelid WHERE i.inhparent = 'audit_event'::regclass"
            ).fetchone()
            assert rows is not None
            statement = f"DROP TABLE {rows[0]}"
        owner.execute(statement.encode())
    code, found = looks(sluicegate)
    assert code == 1
    assert (found[name][0], says in found[name][1]) == (False, True)


@pytest.mark.requirement("AUD-3")
def test_doctor_tells_a_gate_that_owns_its_record(sluicegate: Here) -> None:
    sluicegate("audit", "prepare")
    code, found = looks(sluicegate)
    assert (code, found["rights"][0]) == (1, False)
    assert "--gate-role" in found["rights"][1]


@pytest.mark.requirement("AUD-3", "AUD-5", "ADP-5")
def test_a_server_that_is_down_is_told_without_the_password(
    sluicegate: Here, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = replace(
        place,
        options={**place.options, "port": str(free_port()), "password": GATE_PASSWORD},
    )
    monkeypatch.setenv(VARIABLE, psycopg.conninfo.make_conninfo("", **down.options))
    _, found = looks(sluicegate)
    told: list[Done] = [
        sluicegate("audit", "verify"),
        sluicegate("audit", "prepare"),
        sluicegate("call", "job_status", "--arguments", "{}", "--caller", "svc"),
    ]
    assert found["record"][0] is False
    assert [GATE_PASSWORD in each.out + each.err for each in told] == [False] * 3
    assert GATE_PASSWORD not in str(found)
    assert all(each.code for each in told), told


@pytest.mark.requirement("AUD-3", "CON-1")
def test_without_the_library_the_extra_is_named(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(stores, "import_module", absent)
    done = sluicegate("audit", "verify")
    assert (done.code, "sluicegate[postgres]" in done.err) == (2, True)
    assert "sluicegate[postgres]" in looks(sluicegate)[1]["store"][1]


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("first_gone", [1, 2])
def test_doctor_tells_of_a_cut_end_that_no_gate_writes_behind(
    sluicegate: Here, as_gate: None, place: Place, first_gone: int
) -> None:
    call("failed")
    with unguarded(place) as intruder:
        intruder.execute("DELETE FROM audit_event WHERE seq >= %s", (first_gone,))
        intruder.execute("DELETE FROM open_call")
    code, found = looks(sluicegate)
    told = "CHAIN_SHORTER_THAN_ANCHOR: the head of the chain names event 3 as the newest"
    assert (code, found["chain"]) == (1, (False, told))
    assert told in sluicegate("audit", "verify").out
