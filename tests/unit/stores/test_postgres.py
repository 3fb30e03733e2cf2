"""What is PostgreSQL's own: rights, guards, months, and what its text cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from tests.postgres_servers import as_role, gate_role, new_place, owner_of, prepare, unguarded
from tests.unit.stores.made import NOW, intent, kept, outcome

from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import AcceptedQuery, CallQuery
from sluicegate.gates.terms import Allowance, Reservation, Terms
from sluicegate.stores.encoding import COLUMNS
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_ledger import next_month
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.postgres_session import DURABLE, connect, read_setting
from sluicegate.stores.standing import RecordMissing
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy", tenant="t-1", session="any")

INSERT_A_COPY = """
    INSERT INTO audit_event
    SELECT (jsonb_populate_record(e, '{"seq": 7, "event_id": "x"}')).*
    FROM audit_event AS e WHERE seq = 6
"""


@pytest.fixture
def gate(keys: AuditKeys) -> Iterator[Place]:
    """The chain as a gate's own role reaches it."""
    with gate_role() as role:
        made = new_place()
        prepare(made, keys, gate_role=role)
        yield as_role(made, role)


def gate_owner(gate: Place) -> Place:
    """The same chain, reached by the administrator of the tests."""
    made = new_place()
    return Place(options=made.options, schema=gate.schema, shown=gate.shown)


@pytest.mark.requirement("AUD-3")
def test_the_columns_are_those_of_the_record(place: Place) -> None:
    with owner_of(place) as owner:
        rows = owner.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'audit_event'::regclass"
            " AND attnum > 0 ORDER BY attnum"
        )
        assert tuple(name for (name,) in rows) == COLUMNS


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("by_role", ["on", "off", "local", "remote_write"])
async def test_the_connection_that_commits_waits_for_the_disk(
    gate: Place, keys: AuditKeys, by_role: str
) -> None:
    with owner_of(gate_owner(gate)) as owner:
        role = gate.options["user"]
        owner.execute(f"ALTER ROLE {role} SET synchronous_commit = {by_role}".encode())
    session = connect(gate)
    assert read_setting(session, "synchronous_commit") in DURABLE
    session.close()


@pytest.mark.requirement("AUD-3", "AUD-4", "ACC-3", "ACC-4", "EVI-1")
async def test_the_role_of_a_gate_may_do_all_that_a_gate_does(gate: Place, keys: AuditKeys) -> None:
    store = PostgresStore(gate, keys)
    terms = Terms(
        unless_open=True,
        allowances=(Allowance(key="a" * 64, count=5, window_s=60),),
        reservation=Reservation(
            key="b" * 64,
            runs_until=NOW + timedelta(seconds=5),
            kept_until=NOW + timedelta(days=1),
        ),
        evidence=("an event",),
    )
    await store.record([intent(detail={"spent": ["an event"]})], terms=terms)
    await store.record([outcome(kept=kept(b"raw"))])
    await store.record([intent("req.00000002", time=NOW + timedelta(days=40))])
    await store.record([outcome("req.00000002", time=NOW + timedelta(days=70))])
    (ref,) = [event.raw_ref for event in store.events() if event.raw_ref]
    assert await store.reveal(ref, who="olga", reason="why", now=NOW) == b"raw"
    assert await store.rewrap(now=NOW, who="olga") == 0
    assert await store.purge(now=NOW + timedelta(days=365), who="olga") == 1
    report = store.verify()
    await store.close()
    assert (report.events, report.problem) == (6, None)


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET tool = 'x'",
        "DELETE FROM audit_event",
        "TRUNCATE audit_event",
        "DROP TABLE audit_event",
        "ALTER TABLE audit_event DISABLE TRIGGER ALL",
        "UPDATE audit_event_2026_11 SET tool = 'x'",
        "DELETE FROM audit_event_2026_11",
        "DROP TABLE audit_event_2026_11",
        "CREATE TABLE audit_event_2027_01 (LIKE audit_event)",
        "DELETE FROM chain_head",
        "INSERT INTO chain_head (one, seq, link) VALUES (false, 1, '')",
        "DELETE FROM custody_blob",
        "UPDATE custody_blob SET content_hmac = 'x'",
        "INSERT INTO open_call VALUES (9, 'r', 1, 't', NULL, NULL, NULL)",
        "DELETE FROM open_call",
        "DELETE FROM evidence_spent",
        "UPDATE store_fact SET value = '9'",
        "SET session_replication_role = replica",
    ],
)
async def test_the_role_of_a_gate_may_do_nothing_else(
    gate: Place, keys: AuditKeys, statement: str
) -> None:
    store = PostgresStore(gate, keys)
    await store.record([intent(), outcome(kept=kept(b"raw"))])
    await store.close()
    session = connect(gate)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.connection.execute(statement.encode())
    session.close()


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit_event SET tool = 'x'",
        "DELETE FROM audit_event",
        "TRUNCATE audit_event",
        "TRUNCATE audit_event_2026_11",
        "UPDATE chain_head SET seq = 1",
        "UPDATE chain_head SET seq = 99",
        "UPDATE chain_head SET link = 'x'",
        "DELETE FROM chain_head",
        "DELETE FROM custody_blob",
        "UPDATE custody_blob SET tool = 'x'",
        "DELETE FROM open_call",
        "UPDATE open_call SET tool = 'x'",
        "DELETE FROM evidence_spent",
        "UPDATE evidence_spent SET event_id = 'x'",
    ],
)
async def test_the_owner_is_told_that_the_record_is_append_only(
    postgres: PostgresStore, place: Place, statement: str
) -> None:
    await postgres.record([intent()], terms=Terms(evidence=("an event",)))
    await postgres.record([intent("req.00000002"), outcome("req.00000002", kept=kept(b"raw"))])
    with owner_of(place) as owner, pytest.raises(psycopg.Error, match="APPEND_ONLY"):
        owner.execute(statement.encode())


@pytest.mark.requirement("AUD-4")
async def test_what_is_purged_stays_purged(postgres: PostgresStore, place: Place) -> None:
    await postgres.record([outcome(kept=kept(b"raw"))])
    await postgres.purge(now=NOW + timedelta(days=365), who="olga")
    with owner_of(place) as owner, pytest.raises(psycopg.Error, match="APPEND_ONLY"):
        owner.execute("UPDATE custody_blob SET purged_at = NULL")


@pytest.mark.requirement("AUD-3")
async def test_a_month_is_made_before_its_first_event(
    postgres: PostgresStore, place: Place
) -> None:
    await postgres.record([intent(time=NOW.replace(year=2031, month=12))])
    with owner_of(place) as owner:
        rows = owner.execute(
            "SELECT c.relname FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = 'audit_event'::regclass ORDER BY 1"
        )
        assert [name for (name,) in rows] == [
            f"audit_event_{month}" for month in ("2026_11", "2026_12", "2031_12", "2032_01")
        ]


@pytest.mark.requirement("AUD-3")
async def test_one_commit_may_span_months_that_did_not_stand(postgres: PostgresStore) -> None:
    moments = [NOW, NOW + timedelta(days=60), NOW, NOW + timedelta(days=400)]
    events = [outcome(f"req.{at:08}", time=each) for at, each in enumerate(moments)]
    blobs = [replace(each, kept=kept(b"raw")) for each in events]
    await postgres.record([*events, *blobs])
    assert (postgres.verify().events, postgres.verify().problem) == (8, None)


@pytest.mark.parametrize(
    ("month", "following"),
    [
        ("2026-11", "2026-12"),
        ("2026-12", "2027-01"),
        ("0999-12", "1000-01"),
        ("9999-12", "9999-12"),
    ],
)
def test_a_month_follows_another(month: str, following: str) -> None:
    assert next_month(month) == following


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(NOW.replace(day=1, hour=0, minute=0, second=0, microsecond=0), id="first"),
        pytest.param(
            NOW.replace(hour=23, minute=59, second=59, microsecond=999_999), id="last moment"
        ),
        pytest.param(NOW.replace(year=9999, month=12, day=31), id="end of the calendar"),
        pytest.param(NOW.replace(year=1, month=1, day=1), id="begin of the calendar"),
    ],
)
async def test_every_moment_has_a_month(postgres: PostgresStore, moment: object) -> None:
    await postgres.record([intent(time=moment)])
    assert postgres.verify().events == 1


@pytest.mark.requirement("AUD-1", "AUD-3")
async def test_a_role_that_may_not_make_the_month_is_told_the_command(
    gate: Place, keys: AuditKeys
) -> None:
    with owner_of(gate_owner(gate)) as owner:
        role = gate.options["user"]
        owner.execute(f"REVOKE EXECUTE ON FUNCTION prepare_month(text) FROM {role}".encode())
    store = PostgresStore(gate, keys)
    await store.record([intent(time=NOW + timedelta(days=2))])
    with pytest.raises(AuditUnavailable, match=r"no partition for 2027-03.*audit prepare"):
        await store.record([intent("req.00000002", time=NOW + timedelta(days=100))])
    await store.record([outcome(time=NOW + timedelta(days=3))])
    assert [event.seq for event in store.events()] == [1, 2]
    await store.close()


async def test_a_nul_is_kept_escaped_and_the_chain_holds(postgres: PostgresStore) -> None:
    await postgres.record(
        [intent(tool="a\0b", call_id="\0", detail={"a": "\0"}, arguments={"\0": "\0"})]
    )
    (event,) = postgres.events(tool="a\0b")
    open_as = await postgres.find_open_call(
        CallQuery(request_id="req.another0", tool="a\0b", caller=CALLER, arguments={"\0": "\0"})
    )
    assert (event.tool, event.call_id, open_as) == ("a\\x00b", "\\x00", "req.00000001")
    assert postgres.verify().problem is None


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("statements", "broken_at", "problem"),
    [
        pytest.param(
            ["UPDATE audit_event SET tool = 'x' WHERE seq = 3"], 3, "not those", id="changed"
        ),
        pytest.param(["DELETE FROM audit_event WHERE seq = 3"], 3, "missing", id="deleted"),
        pytest.param(["DELETE FROM audit_event WHERE seq > 4"], 5, "SHORTER", id="tail cut"),
        pytest.param(["UPDATE audit_event SET seq = 9 WHERE seq = 2"], 2, "missing", id="moved"),
        pytest.param(
            [INSERT_A_COPY],
            7,
            "does not follow",
            id="inserted",
        ),
        pytest.param(["UPDATE chain_head SET seq = 4"], 7, "SHORTER", id="head turned back"),
        pytest.param(["DELETE FROM chain_head"], 7, "names nothing", id="no head"),
        pytest.param(["DELETE FROM open_call"], 5, "open calls", id="a call freed"),
        pytest.param(["DELETE FROM evidence_spent"], 5, "not marked as spent", id="unspent"),
        pytest.param(["DROP TABLE audit_event_2026_11"], 1, "missing", id="a month dropped"),
    ],
)
async def test_verify_names_what_was_done_behind_the_store(
    postgres: PostgresStore, place: Place, statements: list[str], broken_at: int, problem: str
) -> None:
    for number in range(1, 3):
        await postgres.record([intent(f"req.0000000{number}"), outcome(f"req.0000000{number}")])
    spending = intent("req.00000003", detail={"spent": ["e"], "a": "\0"})
    await postgres.record([spending], terms=Terms(evidence=("e",)))
    await postgres.record([intent("req.00000004", time=NOW.replace(month=12))])
    with unguarded(place) as intruder:
        for statement in statements:
            intruder.execute(statement.encode())
    report = postgres.verify()
    assert report.broken_at == broken_at
    assert problem in str(report.problem)


@pytest.mark.requirement("AUD-3", "EVI-1")
async def test_an_answer_that_was_changed_is_no_evidence(
    postgres: PostgresStore, place: Place
) -> None:
    await postgres.record([intent(), outcome(kept=kept(b"{}", kind="selected"))])
    with unguarded(place) as intruder:
        intruder.execute("UPDATE audit_event SET endpoint = 'x' WHERE seq = 2")
    query = AcceptedQuery(
        tool="restart",
        caller=CALLER,
        contract_digest="sha256:aa",
        since=NOW - timedelta(seconds=1),
    )
    with pytest.raises(AuditUnavailable, match="CHAIN_BROKEN: event 2"):
        await postgres.accepted(query, now=NOW)


@pytest.mark.requirement("AUD-3", "RES-9")
@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("UPDATE chain_head SET seq = 1", id="head turned back"),
        pytest.param("DELETE FROM chain_head", id="no head"),
        pytest.param("DELETE FROM audit_event WHERE seq = 2", id="the last event is gone"),
    ],
)
async def test_nothing_is_written_behind_a_chain_that_was_cut(
    postgres: PostgresStore, place: Place, statement: str
) -> None:
    await postgres.record([intent(), outcome()])
    with unguarded(place) as intruder:
        intruder.execute(statement.encode())
    with pytest.raises(AuditUnavailable):
        await postgres.record([intent("req.00000002")])


@pytest.mark.requirement("AUD-3")
def test_a_record_of_other_keys_is_not_opened(place: Place) -> None:
    with pytest.raises(ConfigurationError, match="not those"):
        PostgresStore(place, draw_keys())


@pytest.mark.requirement("AUD-3")
def test_a_gate_begins_no_record(keys: AuditKeys) -> None:
    with pytest.raises(RecordMissing, match="audit prepare"):
        PostgresStore(new_place(), keys)


@pytest.mark.requirement("AUD-3")
async def test_two_chains_of_one_database_know_nothing_of_each_other(keys: AuditKeys) -> None:
    places = [new_place(), new_place()]
    for each in places:
        prepare(each, keys)
    stores = [PostgresStore(each, keys) for each in places]
    for store in stores:
        await store.record([intent()])
    assert [[event.seq for event in store.events()] for store in stores] == [[1], [1]]
    for store in stores:
        await store.close()


@pytest.mark.requirement("AUD-3")
def test_a_role_without_rights_is_told_how_to_get_them(place: Place, keys: AuditKeys) -> None:
    with (
        gate_role() as role,
        pytest.raises(ConfigurationError, match=r"audit prepare --gate-role"),
    ):
        PostgresStore(as_role(place, role), keys)


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("statement_timeout", "10s", id="a statement that hangs"),
        pytest.param("lock_timeout", "10s", id="a head that another holds"),
        pytest.param("idle_in_transaction_session_timeout", "30s", id="a gate that hangs"),
        pytest.param("transaction_isolation", "read committed", id="what a statement sees"),
    ],
)
def test_a_connection_waits_for_nothing_for_ever(place: Place, name: str, value: str) -> None:
    session = connect(place)
    found = read_setting(session, name)
    session.close()
    assert found == value
