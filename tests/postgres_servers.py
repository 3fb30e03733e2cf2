"""A database of its own for the tests that need PostgreSQL, and chains in it.

``SLUICEGATE_POSTGRES`` names a server and a role that may create databases and roles there; without
it the one on 127.0.0.1:5432. Where none answers the tests skip, and in CI they fail.
"""

from __future__ import annotations

import atexit
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import psycopg
import pytest

from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.postgres_migrations import prepare_chain
from sluicegate.stores.postgres_place import Place, find_place
from sluicegate.stores.postgres_session import connect

SERVER = os.environ.get("SLUICEGATE_POSTGRES", "postgresql://postgres@127.0.0.1:5432/postgres")
MONTHS = ("2026-11", "2026-12")
GATE_PASSWORD = "only-of-tests"


def demand_server() -> None:
    """Skip where no server answers; in CI that is a failure."""
    said = _unreachable()
    if said is not None:
        decide = pytest.fail if "SLUICEGATE_IN_CI" in os.environ else pytest.skip
        decide(f"no PostgreSQL answers at SLUICEGATE_POSTGRES or 127.0.0.1:5432: {said}")


@cache
def _unreachable() -> str | None:
    try:
        psycopg.connect(SERVER, connect_timeout=5).close()
    except psycopg.OperationalError as error:
        return str(error).partition("\n")[0]
    return None


@cache
def find_database() -> str:
    """Return the name of a database of this process of tests; it is dropped when that ends."""
    demand_server()
    name = f"sluicegate_test_{os.getpid()}_{secrets.token_hex(3)}"
    owner = os.getpid()
    administer(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'")

    def drop() -> None:
        if os.getpid() == owner:  # not in a forked child
            administer(f"DROP DATABASE {name} WITH (FORCE)")

    atexit.register(drop)
    return name


def administer(statement: str) -> None:
    """Do one statement on the server as its administrator."""
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(statement.encode())


def new_place() -> Place:
    """Return the place of a chain that does not stand yet."""
    place = find_place(f"{SERVER}?chain=t{secrets.token_hex(6)}")
    return replace(place, options={**place.options, "dbname": find_database()})


def url_of(place: Place) -> str:
    """Return the URL of the database of ``place``; the chain stands elsewhere."""
    return psycopg.conninfo.make_conninfo("", **place.options)


def prepare(place: Place, keys: AuditKeys, *, gate_role: str | None = None) -> None:
    """Make the tables and the months of the tests."""
    session = connect(place)
    try:
        prepare_chain(session, keys, schema=place.schema, months=MONTHS, gate_role=gate_role)
    finally:
        session.close()


@contextmanager
def owner_of(place: Place) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Yield a connection that may do anything to the tables of ``place``."""
    with psycopg.connect(url_of(place), autocommit=True) as connection:
        connection.execute(f'SET search_path = "{place.schema}"'.encode())
        yield connection


@contextmanager
def unguarded(place: Place) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Yield a connection for which no trigger fires: what an intruder with all rights has."""
    with owner_of(place) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


@contextmanager
def gate_role() -> Iterator[str]:
    """Yield a role with LOGIN and no other right; it is dropped afterwards."""
    name = f"sluicegate_gate_{secrets.token_hex(4)}"
    database = find_database()
    administer(f"CREATE ROLE {name} LOGIN PASSWORD '{GATE_PASSWORD}'")
    try:
        yield name
    finally:
        with psycopg.connect(SERVER, dbname=database, autocommit=True) as connection:
            connection.execute(f"DROP OWNED BY {name}".encode())
        administer(f"DROP ROLE {name}")


def as_role(place: Place, role: str) -> Place:
    """Return ``place`` as ``role`` reaches it."""
    return replace(place, options={**place.options, "user": role, "password": GATE_PASSWORD})
