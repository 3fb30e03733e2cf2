"""A record in PostgreSQL whose heads and second sink stand in files: its owner cuts the end off."""

from __future__ import annotations

import json
import re
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from tests.acceptance.commands import Here
from tests.acceptance.folders import write_folder
from tests.postgres_servers import new_place, unguarded, url_of

from sluicegate.opening.blocking import open_blocking
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.postgres_writer import PostgresWriter
from sluicegate.values.callers import Caller

SVC = Caller(subject="svc")
VARIABLE = "AUDIT_DSN"
OUTSIDE = ', also: "file:../away/events.jsonl", heads: {to: "file:../away/heads.jsonl"}}'
HEADS = ', heads: {to: "file:../away/heads.jsonl"}}'
REQUIRED = HEADS.replace("}}", ", required: true}}")
ALSO = ', also: "file:../away/events.jsonl"}'


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


def settle(outside: str) -> None:
    """Put ``outside`` in the place of what stands outside of the record."""
    settings = Path("contracts/sluicegate.yaml")
    settings.write_text(settings.read_text().replace(OUTSIDE, outside))


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


def empty(place: Place) -> None:
    """Take every event away, and set the head back, as the owner of the tables can."""
    with unguarded(place) as intruder:
        names = [name for (name,) in intruder.execute(_TABLES.encode(), (place.schema,))]
        intruder.execute(f"TRUNCATE {', '.join(map(str, names))}".encode())
        intruder.execute("UPDATE chain_head SET seq = 0, link = %s", (GENESIS,))


_TABLES = """
    SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = %s::regnamespace
    AND relkind IN ('r', 'p') AND relname NOT IN ('chain_head', 'store_fact')
"""


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("outside", "code", "verified", "told_by"),
    [
        pytest.param(HEADS, None, 1, "heads", id="heads"),
        pytest.param(REQUIRED, "UNAVAILABLE", 1, "heads", id="required heads"),
        pytest.param(ALSO, "UNAVAILABLE", 3, "second sink", id="second sink"),
    ],
)
def test_only_what_stands_outside_tells_of_a_record_that_was_emptied(
    sluicegate: Here,
    place: Place,
    caplog: pytest.LogCaptureFixture,
    outside: str,
    code: str | None,
    verified: int,
    told_by: str,
) -> None:
    settle(outside)
    assert call() is None
    empty(place)
    assert sluicegate("audit", "verify").code == verified
    assert well_of(sluicegate, told_by) == (False,)
    assert call() == code
    # By when it looks the record has grown past the old head, or not yet.
    assert re.search("CHAIN_SHORTER_THAN_ANCHOR|the heads of another record", caplog.text)


@pytest.mark.requirement("AUD-3")
def test_without_anything_outside_it_looks_as_one_that_was_just_begun(
    sluicegate: Here, place: Place
) -> None:
    settle("}")
    assert call() is None
    with open_blocking("contracts") as running:
        arguments = json.dumps({"run_id": "run_1", "state": "failed"})
        assert running.call("job_status", arguments, caller=SVC).code is None
        empty(place)
        assert sluicegate("audit", "verify").code == 3
        assert well_of(sluicegate, "chain") == (True,)
        # A gate that runs knows what it wrote.
        assert running.call("job_status", arguments, caller=SVC).code == "UNAVAILABLE"
    assert call() is None


@pytest.mark.requirement("AUD-3")
def test_a_new_chain_is_gone_on_with_once_the_files_of_the_old_one_are_moved(
    sluicegate: Here, place: Place
) -> None:
    """As the pages of CHAIN_BROKEN and CHAIN_SHORTER_THAN_ANCHOR say."""
    assert call() is None
    cut(place, after=1)
    assert sluicegate("audit", "verify").code == 1
    settings = Path("contracts/sluicegate.yaml")
    chain = place.schema.removeprefix("sluicegate_")
    settings.write_text(settings.read_text().replace(f"?chain={chain}", f"?chain={chain}b"))
    assert "audit prepare" in sluicegate("audit", "verify").err
    assert sluicegate("audit", "prepare").out == "a new record is begun\n"

    assert call() == "UNAVAILABLE"  # the second sink holds what this record never held
    Path("away/events.jsonl").rename("away/old-events.jsonl")
    assert call() is None
    verified = sluicegate("audit", "verify")
    assert (verified.code, "another record than this one" in verified.out) == (1, True)

    Path("away/heads.jsonl").rename("away/old-heads.jsonl")
    assert call() is None
    assert sluicegate("audit", "verify").code == 0
    assert well_of(sluicegate, "heads", "second sink") == (True, True)
