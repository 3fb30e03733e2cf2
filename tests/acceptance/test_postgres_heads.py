"""A record in PostgreSQL whose heads and second sink stand in files: its owner cuts the end off."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder
from tests.postgres_servers import new_place, url_of

from sluicegate.opening.blocking import open_blocking
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.postgres_writer import PostgresWriter
from sluicegate.values.callers import Caller

SVC = Caller(subject="svc")
VARIABLE = "AUDIT_DSN"
OUTSIDE = ', also: "file:../away/events.jsonl", heads: {to: "file:../away/heads.jsonl"}}'


@pytest.fixture
def place() -> Place:
    return new_place()


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Place, sluicegate: Here) -> None:
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "contracts")
    (tmp_path / "away").mkdir()
    settings = tmp_path / "contracts" / "sluicegate.yaml"
    chain = place.schema.removeprefix("sluicegate_")
    text = settings.read_text().replace(
        "sqlite:state/audit.db", f"postgresql:env:{VARIABLE}?chain={chain}"
    )
    settings.write_text(text.replace('"file:keys/"}', f'"file:keys/"{OUTSIDE}'))
    monkeypatch.setenv(VARIABLE, url_of(place))
    assert sluicegate("audit", "prepare").code == 0


def call() -> str | None:
    with open_blocking("contracts") as gate:
        arguments = json.dumps({"run_id": "run_1", "state": "failed"})
        return gate.call("job_status", arguments, caller=SVC).code


@pytest.mark.requirement("CLI")
def test_doctor_looks_at_heads_and_second_sink_without_opening_the_record(
    sluicegate: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call() is None

    def begin(*_: object, **__: object) -> None:
        raise AssertionError("a writer was begun")

    monkeypatch.setattr(PostgresWriter, "__init__", begin)
    assert well_of(sluicegate, "heads", "second sink") == (True, True)
    monkeypatch.setenv(VARIABLE, "postgresql://nobody@127.0.0.1:9/none")
    assert well_of(sluicegate, "heads", "second sink") == (False, False)


def well_of(sluicegate: Here, *names: str) -> tuple[bool, ...]:
    looks = json.loads(sluicegate("doctor", "contracts", "--format", "json-v1").out)["looks"]
    seen = {look["name"]: look["well"] for look in looks}
    return tuple(seen[name] for name in names)


def cut(place: Place, *, after: int) -> None:
    with psycopg.connect(url_of(place)) as connection:
        connection.execute("SET session_replication_role = replica")  # no trigger fires
        connection.execute(
            sql.SQL("DELETE FROM {} WHERE seq > %s").format(
                sql.Identifier(place.schema, "audit_event")
            ),
            (after,),
        )


@pytest.mark.requirement("AUD-3")
def test_a_cut_end_shows_against_the_heads_and_against_the_second_sink(
    sluicegate: Here, place: Place
) -> None:
    assert call() is None
    whole = sluicegate("audit", "verify")
    assert (whole.code, "SIGNED  1 head  " in whole.out) == (0, True)
    assert well_of(sluicegate, "heads", "second sink") == (True, True)
    assert sluicegate("audit", "export", "out.jsonl").out == "3 events\n"
    assert len(sluicegate("audit", "tail").out.splitlines()) == 3
    sink = Path("away/events.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in sink] == [1, 2, 3]

    cut(place, after=1)
    done = sluicegate("audit", "verify")
    assert (done.code, "CHAIN_SHORTER_THAN_ANCHOR at event 2" in done.out) == (1, True)
    assert call() == "UNAVAILABLE"  # the second sink holds what the record has lost
