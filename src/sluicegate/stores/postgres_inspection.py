"""What ``doctor`` looks at in a PostgreSQL record: as the gate's role, changing nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import psycopg

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import StoredEvent
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.encoding import time_text
from sluicegate.stores.keys import AuditKeys, open_keys
from sluicegate.stores.looks import (
    count_open_calls,
    look_at_clock,
    look_at_custody,
    look_at_open_calls,
    look_at_tail,
)
from sluicegate.stores.postgres_ledger import next_month, partition_of, tell_head_fault
from sluicegate.stores.postgres_migrations import PREPARE, demand_version
from sluicegate.stores.postgres_place import find_place
from sluicegate.stores.postgres_schema import TRIGGERS
from sluicegate.stores.postgres_session import Session, connect, read_setting, tell_error
from sluicegate.stores.record_questions import select_events
from sluicegate.stores.sqlite_schema import demand_keys
from sluicegate.stores.standing import RecordMissing
from sluicegate.values.looks import Look

_RIGHTS: Final = """
    SELECT has_table_privilege('audit_event', 'INSERT'),
        has_table_privilege('audit_event', 'UPDATE, DELETE, TRUNCATE')
            OR pg_has_role(c.relowner, 'MEMBER') OR r.rolsuper,
        has_function_privilege('prepare_month(text)', 'EXECUTE')
    FROM pg_class AS c, pg_roles AS r
    WHERE c.oid = 'audit_event'::regclass AND r.rolname = current_user
"""
_GUARDS: Final = """
    SELECT t.tgname FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND t.tgparentid = 0
        AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
"""


def inspect_postgres(settings: AuditSettings, folder: Path, *, now: datetime) -> list[Look]:
    """Look at server, tables, keys, rights, guards, partitions, clock and the tail of the chain.

    Raises nothing for what it finds. Source: SPEC AUD-3.
    """
    looks: list[Look] = []
    session: Session | None = None
    try:
        place = find_place(settings.store)
        session = connect(place)
        version = session.connection.info.server_version
        looks.append(
            Look(
                name="server",
                well=True,
                says=f"{place.shown} (audit.store) answers, version {version // 10_000}",
            )
        )
        committed = read_setting(session, "synchronous_commit")
        looks.append(
            Look(
                name="synchronous", well=True, says=f"synchronous_commit reads back as {committed}"
            )
        )
        demand_version(session, schema=place.schema, shown=place.shown)
        looks.append(Look(name="tables", well=True, says="they are those of this release"))
        keys = open_keys(settings.keys, folder, may_create=False)
        demand_keys(session, keys, place.shown)
        looks.append(Look(name="keys", well=True, says=f"custody key {keys.active} is active"))
        session.connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        looks.extend(_look(session, keys, now))
    except (ConfigurationError, OSError, psycopg.Error) as error:
        says = tell_error(error)
        named = says if "audit." in says else f"audit.store: {says}"
        looks.append(Look(name="record", well=False, says=named))
    finally:
        if session is not None:
            session.close()
    return looks


def read_events(
    settings: AuditSettings,
    *,
    limit: int | None = None,
    newest_first: bool = False,
    after: int = 0,
) -> Iterator[StoredEvent]:
    """Iterate over events by a session that only reads; there are none where no record is.

    Raises: ConfigurationError, AuditUnavailable.
    """
    place = find_place(settings.store)
    session: Session | None = None
    try:
        session = connect(place)
        demand_version(session, schema=place.schema, shown=place.shown)
        session.connection.execute("BEGIN READ ONLY")
        session.is_streaming = True
        yield from select_events(session, limit=limit, newest_first=newest_first, after=after)
    except RecordMissing:
        return
    except (OSError, psycopg.Error) as error:
        raise AuditUnavailable(f"{place.shown}: {tell_error(error)}") from None
    finally:
        if session is not None:
            session.close()


def _look(session: Session, keys: AuditKeys, now: datetime) -> Iterator[Look]:
    yield from _look_at_rights(session)
    found = {name for (name,) in session.connection.execute(_GUARDS)}
    missing = sorted(TRIGGERS.keys() - found)
    says = "events can only be appended"
    if missing:
        says = f"guards are missing or off: {', '.join(missing)}; verify the chain"
    yield Look(name="triggers", well=not missing, says=says)
    yield _look_at_months(session, now)
    yield look_at_open_calls(session)
    yield count_open_calls(session)
    yield look_at_custody(session, keys)
    yield look_at_clock(session, now)
    yield _look_at_chain(session, keys)


def _look_at_chain(session: Session, keys: AuditKeys) -> Look:
    """Whether the newest events hold together, and the newest is what the head of the chain names:
    no gate appends behind a head whose event is gone."""
    tail = look_at_tail(session, keys)
    if not tail.well:
        return tail
    newest = session.execute(
        "SELECT seq, link FROM audit_event ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    problem = tell_head_fault(session, newest or (0, GENESIS))
    return tail if problem is None else Look(name="chain", well=False, says=problem)


def _look_at_rights(session: Session) -> Iterator[Look]:
    row = session.connection.execute(_RIGHTS).fetchone()
    appends, changes, makes_months = row or (False, False, False)
    if not appends:
        yield Look(
            name="rights",
            well=False,
            says=f"this role may not append: `{PREPARE} --gate-role ROLE`",
        )
    elif changes:
        says = (
            "this role may change events, or owns them: give a gate a role of its own with"
            f" `{PREPARE} --gate-role ROLE`, and keep the owner's for the preparing"
        )
        yield Look(name="rights", well=False, says=says)
    else:
        yield Look(name="rights", well=True, says="this role appends events and cannot change them")
    if not makes_months:
        says = f"this role may not make them: run `{PREPARE}` every month"
        yield Look(name="partitions ahead", well=True, says=says)


def _look_at_months(session: Session, now: datetime) -> Look:
    month = time_text(now)[:7]
    missing = [
        wanted
        for wanted in dict.fromkeys((month, next_month(month)))
        if session.connection.execute("SELECT to_regclass(%s)", (partition_of(wanted),)).fetchone()
        == (None,)
    ]
    if missing:
        return Look(
            name="partitions",
            well=False,
            says=f"there is none for {' and '.join(missing)}: run `{PREPARE}`",
        )
    return Look(name="partitions", well=True, says="this month and the next one have theirs")
