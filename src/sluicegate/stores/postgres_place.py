"""Where a PostgreSQL record stands: ``audit.store`` names it, and never holds a password."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from sluicegate.errors import ConfigurationError

SCHEME: Final = "postgresql"
DEFAULT_CHAIN: Final = "default"

_CHAIN: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_HOST: Final = re.compile(r"[\w.:/,\[\]-]*", re.ASCII)
_PORT: Final = re.compile(r"[0-9,]*")
_CHAIN_INSIDE: Final = re.compile(r"(?:^|[?&\s])chain\s*=")
_FORMS: Final = "postgresql:env:NAME, postgresql:service=NAME or postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """``options`` are those of libpq; they may hold a password, and never show in ``repr``.

    ``schema`` holds the one chain of that name; ``shown`` is what errors may say of the place.
    """

    options: Mapping[str, str] = field(repr=False)
    schema: str
    shown: str


def find_place(store: str, environment: Mapping[str, str] = os.environ) -> Place:
    """Return the place that ``audit.store`` names: ``postgresql:`` and what follows.

    ``?chain=NAME`` chooses a chain of that database. A password is taken from the environment, a
    service file or libpq's password file alone. Raises: ConfigurationError, which repeats nothing
    of what it refuses. Source: SPEC ADP-5, AUD-5.
    """
    if store.startswith(f"{SCHEME}://"):
        dsn, chain = _split_chain(store)
        options = _parse(dsn, "audit.store")
        if "password" in options:
            raise ConfigurationError(
                "audit.store holds a password: put the whole URL into an environment variable and"
                " write postgresql:env:NAME, or use libpq's password file"
            )
        return _place(options, chain, "audit.store")
    rest, _, query = store.removeprefix(f"{SCHEME}:").partition("?")
    chain = _read_chain(query)
    if rest.startswith("env:"):
        name = rest.removeprefix("env:")
        text = environment.get(name)
        if not text:
            raise ConfigurationError(
                f"the environment variable {name} (audit.store) is not set: give it"
                " postgresql://USER:PASSWORD@HOST/DATABASE"
            )
        where = f"the environment variable {name} (audit.store)"
        return _place(_parse(text, where), chain, where)
    if rest.startswith("service="):
        return _place(_parse(rest, "audit.store"), chain, "audit.store")
    raise ConfigurationError(f"audit.store is not understood: write {_FORMS}")


def _split_chain(url: str) -> tuple[str, str]:
    dsn, _, query = url.partition("?")
    pieces = [piece for piece in query.split("&") if piece]
    chain = "&".join(piece for piece in pieces if piece.startswith("chain="))
    others = "&".join(piece for piece in pieces if not piece.startswith("chain="))
    return f"{dsn}?{others}" if others else dsn, _read_chain(chain)


def _read_chain(query: str) -> str:
    if not query:
        return DEFAULT_CHAIN
    members = parse_qsl(query, keep_blank_values=True)
    if [name for name, _ in members] != ["chain"] or not _CHAIN.fullmatch(members[0][1]):
        raise ConfigurationError(
            "audit.store: after ? stands chain=NAME alone; a name has small letters, digits and _,"
            " begins with a letter, and is no longer than 40"
        )
    return members[0][1]


def _parse(dsn: str, where: str) -> dict[str, str]:
    if where != "audit.store" and _CHAIN_INSIDE.search(dsn):
        raise ConfigurationError(
            f"{where} holds chain=, which stands in sluicegate.yaml instead, behind the name of the"
            " variable: postgresql:env:VARIABLE?chain=NAME"
        )
    try:
        found = conninfo_to_dict(dsn)
    except (ProgrammingError, UnicodeError):  # their texts quote what is not understood
        raise ConfigurationError(
            f"{where} is not understood as a PostgreSQL URL: write"
            " postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for an @ in the password"
        ) from None
    return {name: str(value) for name, value in found.items() if value is not None}


def _place(options: dict[str, str], chain: str, where: str) -> Place:
    host, port = options.get("host", ""), options.get("port", "")
    database = options.get("dbname", "")
    # A password with an @ or / in it would else be shown as a part of the host or the database.
    if not _HOST.fullmatch(host) or not _PORT.fullmatch(port) or "@" in database:
        raise ConfigurationError(
            f"{where} has no plain host, port and database: percent-encode the password (%40 for"
            " @, %2F for /)"
        )
    named = options.get("service")
    at = f"service {named}" if named else f"{host or 'local socket'}{f':{port}' * bool(port)}"
    return Place(
        options=options, schema=f"sluicegate_{chain}", shown=f"PostgreSQL at {at}, chain {chain}"
    )
