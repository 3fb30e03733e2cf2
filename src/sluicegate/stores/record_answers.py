"""Answers that custody keeps, with what a ladder needs to judge them again (SPEC LIF-4)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.connections import Connection
from sluicegate.stores.custody import Sealed
from sluicegate.stores.encoding import time_text
from sluicegate.stores.keyring import Keyring
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.record_acts import open_blob
from sluicegate.stores.record_custody import Blob
from sluicegate.stores.sqlite_schema import connect_to_read, demand_keys

_BLOB: Final = (
    *("ref", "kind", "tool", "contract_digest", "request_id", "content_bytes"),
    *("algorithm", "key_id", "wrapped_key", "nonce", "ciphertext"),
)
_EVENT: Final = (
    *("seq", "request_id", "time", "outcome", "stage", "code", "findings", "masked"),
    *("upstream_status", "caller_subject", "caller_tenant"),
)
_SELECT: Final = f"""
    SELECT {", ".join(f"e.{name}" for name in _EVENT)},
        {", ".join(f"r.{name}" for name in _BLOB)}, {", ".join(f"a.{name}" for name in _BLOB)}
    FROM audit_event AS e
    LEFT JOIN custody_blob AS r
        ON r.ref = e.raw_ref AND r.purged_at IS NULL AND r.expires > :now
    LEFT JOIN custody_blob AS a
        ON a.purged_at IS NULL AND a.expires > :now AND a.ref = (
            SELECT i.arguments_ref FROM audit_event AS i
            WHERE i.request_id = e.request_id AND i.kind = 'intent' AND i.tool = e.tool
                AND i.arguments_ref IS NOT NULL
            ORDER BY i.attempt LIMIT 1)
    WHERE e.tool = :tool AND e.kind = 'outcome' AND e.raw_hmac IS NOT NULL AND e.time >= :since
    ORDER BY e.seq
"""  # noqa: S608  (names of our own columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """One recorded answer. ``raw`` and ``arguments`` None: custody holds them no more.

    ``time`` is RFC 3339 UTC, when it was judged; ``findings`` and ``masked`` are JSON texts.
    """

    seq: int
    request_id: str
    time: str
    outcome: str
    stage: str | None
    code: str | None
    findings: str
    masked: str
    upstream_status: str | None
    caller_subject: str | None
    caller_tenant: str | None
    raw: bytes | None
    arguments: bytes | None


def select_answers(
    path: Path, keys: AuditKeys, tool: str, *, since: datetime | None, now: datetime
) -> Iterator[KeptAnswer]:
    """Iterate over the recorded answers of ``tool``, oldest first, one in memory at a time.

    The caller has recorded the act before. Raises: AuditUnavailable.
    """
    try:
        with closing(connect_to_read(path)) as connection:
            demand_keys(connection, keys, str(path))
            yield from read_answers(connection, Keyring(keys), tool, since=since, now=now)
    except sqlite3.Error as error:
        raise AuditUnavailable(f"{path.name} cannot be read: {error}") from error


def read_answers(
    connection: Connection,
    ring: Keyring,
    tool: str,
    *,
    since: datetime | None,
    now: datetime,
) -> Iterator[KeptAnswer]:
    """Iterate as ``select_answers`` does, over an open connection. Raises: sqlite3.Error."""
    values = {
        "tool": tool,
        "now": time_text(now),
        "since": "" if since is None else time_text(since),
    }
    for row in connection.execute(_SELECT, values):
        event, raw, arguments = (
            row[: len(_EVENT)],
            row[len(_EVENT) : len(_EVENT) + len(_BLOB)],
            row[len(_EVENT) + len(_BLOB) :],
        )
        yield KeptAnswer(
            **dict(zip(_EVENT, event, strict=True)),
            raw=_open(raw, ring),
            arguments=_open(arguments, ring),
        )


def _open(row: tuple[object, ...], ring: Keyring) -> bytes | None:
    if row[0] is None:
        return None
    named = dict(zip(_BLOB, row, strict=True))
    sealed = {
        name: named.pop(name)
        for name in ("algorithm", "key_id", "wrapped_key", "nonce", "ciphertext")
    }
    return open_blob(Blob(**named, sealed=Sealed(**sealed)), ring)  # type: ignore[arg-type]
