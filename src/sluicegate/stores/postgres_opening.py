"""From the settings to a PostgreSQL record: opened by a gate, prepared by its owner."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path

import psycopg

from sluicegate.contracts.settings import AuditSettings, RetentionSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.encoding import time_text
from sluicegate.stores.keys import open_keys
from sluicegate.stores.postgres import PostgresStore
from sluicegate.stores.postgres_ledger import next_month
from sluicegate.stores.postgres_migrations import (
    Prepared,
    demand_version,
    prepare_chain,
    read_version,
)
from sluicegate.stores.postgres_place import Place, find_place
from sluicegate.stores.postgres_session import Session, connect, tell_error


def open_postgres(
    settings: AuditSettings, retention: RetentionSettings, folder: Path
) -> PostgresStore:
    """Open the record that stands; no keys are made. Raises: RecordMissing, ConfigurationError."""
    place = find_place(settings.store)
    with _connected(place) as session:  # a record that was never begun has no keys either
        demand_version(session, schema=place.schema, shown=place.shown)
    read_keys = partial(open_keys, settings.keys, folder, may_create=False)
    return PostgresStore(place, read_keys(), daily_bytes=retention.daily_bytes, read_keys=read_keys)


def prepare_postgres(
    settings: AuditSettings, folder: Path, *, gate_role: str | None, now: datetime
) -> Prepared:
    """Begin the record with its keys, or bring it up; make the partitions of this month and next.

    Raises: ConfigurationError, which says how to mend it.
    """
    place = find_place(settings.store)
    month = time_text(now)[:7]
    with _connected(place) as session:
        begins = read_version(session, place.schema) == 0
        keys = open_keys(settings.keys, folder, may_create=begins)
        return prepare_chain(
            session,
            keys,
            schema=place.schema,
            months=(month, next_month(month)),
            gate_role=gate_role,
        )


@contextmanager
def _connected(place: Place) -> Iterator[Session]:
    session: Session | None = None
    try:
        session = connect(place)
        yield session
    except (OSError, psycopg.Error) as error:
        raise ConfigurationError(
            f"the record ({place.shown}) cannot be used: {tell_error(error)}; look at audit.store,"
            " at the server and at the rights of this role"
        ) from None
    finally:
        if session is not None:
            session.close()
