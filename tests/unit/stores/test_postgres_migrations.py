"""Tables are made once, by whoever may, and are refused where they are not ours."""

from __future__ import annotations

import re
import threading

import psycopg
import pytest
from tests.postgres_servers import MONTHS, new_place, owner_of, prepare
from tests.unit.stores.made import intent

from sluicegate.errors import ConfigurationError
from sluicegate.stores.keys import AuditKeys, draw_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_migrations import Prepared, prepare_chain
from sluicegate.stores.postgres_place import Place
from sluicegate.stores.postgres_schema import SCHEMA_VERSION
from sluicegate.stores.postgres_session import connect


@pytest.mark.requirement("AUD-3")
def test_a_record_is_begun_once(keys: AuditKeys) -> None:
    place = new_place()
    session = connect(place)
    made = [prepare_chain(session, keys, schema=place.schema, months=MONTHS) for _ in range(2)]
    session.close()
    assert made == [
        Prepared(before=0, after=SCHEMA_VERSION),
        Prepared(before=SCHEMA_VERSION, after=SCHEMA_VERSION),
    ]


@pytest.mark.requirement("AUD-3")
def test_those_who_prepare_at_once_take_turns(keys: AuditKeys) -> None:
    place = new_place()
    made: list[Prepared] = []
    together = threading.Barrier(4)

    def work() -> None:
        session = connect(place)
        together.wait()
        made.append(prepare_chain(session, keys, schema=place.schema, months=MONTHS))
        session.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.before for each in made) == [0, *[SCHEMA_VERSION] * 3]


@pytest.mark.requirement("AUD-3")
async def test_what_was_recorded_stays_where_a_record_is_prepared_again(
    postgres: PostgresStore, place: Place, keys: AuditKeys
) -> None:
    await postgres.record([intent()])
    prepare(place, keys)
    assert postgres.verify().events == 1


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize(
    ("statement", "says"),
    [
        pytest.param("UPDATE store_fact SET value = '99' WHERE name = 'version'", "99", id="newer"),
        pytest.param("DROP TABLE store_fact", "another program", id="another program's"),
    ],
)
def test_tables_that_are_not_of_this_release_are_refused_by_both(
    place: Place, keys: AuditKeys, statement: str, says: str
) -> None:
    with owner_of(place) as owner:
        owner.execute(statement.encode())
    with pytest.raises(ConfigurationError, match=says):
        PostgresStore(place, keys)
    with pytest.raises(ConfigurationError, match=says):
        prepare(place, keys)


@pytest.mark.requirement("AUD-3")
def test_a_record_of_other_keys_is_not_prepared(place: Place) -> None:
    with pytest.raises(ConfigurationError, match="not those"):
        prepare(place, draw_keys())


@pytest.mark.requirement("AUD-3")
def test_a_role_that_does_not_exist_is_refused(keys: AuditKeys) -> None:
    with pytest.raises(ConfigurationError, match="--gate-role does not exist"):
        prepare(new_place(), keys, gate_role='nobody"; DROP SCHEMA public; --')


@pytest.mark.requirement("AUD-3")
@pytest.mark.parametrize("month", ["2026-13", "2026-1", "x'); DROP TABLE audit_event; --", None])
def test_a_month_is_a_month(place: Place, month: str | None) -> None:
    with (
        owner_of(place) as owner,
        pytest.raises(psycopg.errors.RaiseException, match=re.escape("as 2026-11")),
    ):
        owner.execute("SELECT prepare_month(%s)", (month,))


@pytest.mark.requirement("AUD-3")
def test_a_table_in_the_way_does_not_stand_in_for_one_of_ours(
    place: Place, keys: AuditKeys
) -> None:
    """Whoever may make temporary tables makes one of the same name: it comes last."""
    session = connect(place)
    session.connection.execute("CREATE TEMPORARY TABLE chain_head (seq bigint, link text)")
    row = session.execute("SELECT count(*) FROM chain_head").fetchone()
    session.close()
    assert row == (1,)
