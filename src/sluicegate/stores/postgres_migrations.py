"""Making the tables of a chain, and bringing up those of an earlier release, step by step.

Each step is one transaction that holds a lock of the chain and reads the version inside it: two
who migrate at once take turns, and a crash leaves whole steps. A gate does none of this: it
demands the version it was written for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import psycopg

from sluicegate.errors import ConfigurationError
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.postgres_schema import (
    FUNCTIONS,
    GRANTS,
    SCHEMA_VERSION,
    TABLES,
    TRIGGERS,
    create_function,
    create_trigger,
)
from sluicegate.stores.postgres_session import Session
from sluicegate.stores.sqlite_schema import demand_keys
from sluicegate.stores.standing import RecordMissing

PREPARE: Final = "sluicegate audit prepare"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """``before`` and ``after`` are versions of the tables; ``before`` 0: a record was begun."""

    before: int
    after: int


def prepare_chain(
    session: Session,
    keys: AuditKeys,
    *,
    schema: str,
    months: Sequence[str],
    gate_role: str | None = None,
) -> Prepared:
    """Create or bring up the tables of ``schema``, and the partitions of ``months`` (``2026-11``).

    ``gate_role`` is given the rights of a gate, which are fewer than those of whoever calls this.
    Raises: ConfigurationError where the schema is another program's, newer than this one, or of
    other keys; psycopg.Error.
    """
    before: int | None = None
    while True:
        with _locked(session, schema):
            version = read_version(session, schema)
            before = version if before is None else before
            if version > SCHEMA_VERSION:
                raise ConfigurationError(_say_newer(version))
            if version:
                demand_keys(session, keys, schema)
            if version == SCHEMA_VERSION:
                break
            _STEPS[version](session, keys, schema)
    for month in months:
        with _locked(session, schema):
            session.connection.execute("SELECT prepare_month(%s)", (month,))
    if gate_role is not None:
        _grant(session, schema, gate_role)
    return Prepared(before=before, after=SCHEMA_VERSION)


def read_version(session: Session, schema: str) -> int:
    """Return the version of the tables of ``schema``, 0 where there are none.

    Raises: ConfigurationError where the schema is another program's; psycopg.Error.
    """
    if not _has(session, "SELECT to_regclass(%s) IS NOT NULL", f'"{schema}".store_fact'):
        if _has(
            session,
            "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace"
            " AS n ON n.oid = c.relnamespace WHERE n.nspname = %s)",
            schema,
        ):
            raise ConfigurationError(
                f"the schema {schema} holds tables of another program: name another chain in"
                " audit.store"
            )
        return 0
    row = session.execute("SELECT value FROM store_fact WHERE name = 'version'").fetchone()
    return int(row[0]) if row is not None else 0


def demand_chain(session: Session, keys: AuditKeys, *, schema: str, shown: str) -> None:
    """See that the tables of this release stand and belong to ``keys``; nothing is changed.

    Raises: RecordMissing, ConfigurationError, which name the way on; psycopg.Error.
    """
    demand_version(session, schema=schema, shown=shown)
    demand_keys(session, keys, shown)


def demand_version(session: Session, *, schema: str, shown: str) -> None:
    """See that the tables of this release stand. Raises: as ``demand_chain``."""
    try:
        version = read_version(session, schema)
    except psycopg.errors.InsufficientPrivilege:
        raise ConfigurationError(
            f"{shown}: this role may not use the record; give it the rights of a gate with"
            f" `{PREPARE} --gate-role ROLE`, run by the owner of the record"
        ) from None
    if version == 0:
        raise RecordMissing(
            f"{shown} holds no record: look at audit.store, or begin one with `{PREPARE}`",
            is_lost=False,
        )
    if version > SCHEMA_VERSION:
        raise ConfigurationError(f"{shown}: {_say_newer(version)}")
    if version < SCHEMA_VERSION:
        raise ConfigurationError(
            f"{shown} holds a record of an earlier release: bring it up with `{PREPARE}`"
        )


def _create(session: Session, keys: AuditKeys, schema: str) -> None:
    name = quote(session, schema)
    statements = [f"CREATE SCHEMA IF NOT EXISTS {name}", *TABLES]
    statements += [create_function(function, name) for function in FUNCTIONS]
    statements += [
        f"REVOKE EXECUTE ON FUNCTION {function}({arguments.removeprefix('month ')}) FROM PUBLIC"
        for function, (arguments, *_) in FUNCTIONS.items()
    ]
    statements += [create_trigger(trigger) for trigger in TRIGGERS]
    for statement in statements:
        session.connection.execute(statement.encode())
    session.execute("INSERT INTO chain_head (seq, link) VALUES (0, ?)", (GENESIS,))
    session.execute(
        "INSERT INTO store_fact VALUES ('version', ?), ('keys', ?)",
        (str(SCHEMA_VERSION), keys.check),
    )


_STEPS: Final[tuple[Callable[[Session, AuditKeys, str], None], ...]] = (_create,)
"""What brings version N to the next one, at place N."""


def _grant(session: Session, schema: str, role: str) -> None:
    if not _has(session, "SELECT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = %s)", role):
        raise ConfigurationError(
            "the role of --gate-role does not exist: create it first, with LOGIN and no other right"
        )
    names = {"schema": quote(session, schema), "role": quote(session, role)}
    with _locked(session, schema):
        for statement in GRANTS:
            session.connection.execute(statement.format(**names).encode())


@contextmanager
def _locked(session: Session, schema: str) -> Iterator[None]:
    with session.connection.transaction():
        session.connection.execute(
            "SELECT pg_advisory_xact_lock(hashtext('sluicegate'), hashtext(%s))", (schema,)
        )
        yield


def _has(session: Session, question: str, name: str) -> bool:
    row = session.connection.execute(question.encode(), (name,)).fetchone()
    return row is not None and bool(row[0])


def quote(session: Session, name: str) -> str:
    """Return ``name`` as it stands in a statement."""
    return psycopg.sql.Identifier(name).as_string(session.connection)


def _say_newer(version: int) -> str:
    return (
        f"the tables have version {version}, this release knows {SCHEMA_VERSION}: install the"
        " release that made them"
    )
