"""The blobs of custody: kept once, counted, found again, wrapped anew, destroyed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sluicegate.gates.events import Kept
from sluicegate.gates.keeping import SELECTED
from sluicegate.stores.connections import Connection
from sluicegate.stores.custody import Sealed, rewrap, seal
from sluicegate.stores.encoding import (
    Column,
    EncodedEvent,
    hmac_of_bytes,
    json_text,
    make_event_id,
    time_text,
)
from sluicegate.stores.keys import AuditKeys
from sluicegate.values.digests import digest_of_json

_COLUMN_OF_KIND: Final = {"arguments": "arguments_ref", "raw": "raw_ref"}
_LAST_MOMENT: Final = datetime.max.replace(tzinfo=UTC)
REWRAPPED_AT_ONCE: Final = 500
"""How many data keys are wrapped anew in one commit; a gate that runs waits no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """One blob as custody holds it, still sealed."""

    ref: str
    kind: str
    tool: str
    contract_digest: str
    request_id: str
    content_bytes: int
    sealed: Sealed


def keep_blobs(
    connection: Connection, event: EncodedEvent, keys: AuditKeys, daily_bytes: int
) -> None:
    """Keep what the event hands to custody and write the references into its columns.

    Kinds without a column of their own stand in ``detail.custody``; what the quota of the tool's
    day left out is named in ``detail.not_kept``: its digest remains. Source: SPEC AUD-4.
    """
    others: dict[str, str] = {}
    left_out: list[str] = []
    for kept in event.kept:
        if kept.keep_days is None:
            continue
        ref = _keep(connection, event, kept, keys, daily_bytes)
        if ref is None:
            left_out.append(kept.kind)
        elif kept.kind in _COLUMN_OF_KIND:
            event.columns[_COLUMN_OF_KIND[kept.kind]] = ref
        else:
            others[kept.kind] = ref
    if others or left_out:
        detail = json.loads(str(event.columns["detail"]))
        if others:
            detail["custody"] = others
        if left_out:
            detail["not_kept"] = left_out
        event.columns["detail"] = json_text(detail)


def _keep(
    connection: Connection,
    event: EncodedEvent,
    kept: Kept,
    keys: AuditKeys,
    daily_bytes: int,
) -> str | None:
    columns = event.columns
    tool, digest = str(columns["tool"]), str(columns["contract_digest"])
    stored = str(columns["time"])
    expires = _expiry(event.time, kept.keep_days or 0)
    content_hmac = hmac_of_bytes(keys, f"custody {kept.kind}", kept.content)
    known = connection.execute(
        "SELECT ref, expires FROM custody_blob WHERE content_hmac = ? AND tool = ? AND kind = ?"
        " AND contract_digest = ? AND purged_at IS NULL AND expires > ?",
        (content_hmac, tool, kept.kind, digest, stored),
    ).fetchone()
    if known is not None:
        if known[1] < expires:
            connection.execute(
                "UPDATE custody_blob SET expires = ? WHERE ref = ?", (expires, known[0])
            )
        return str(known[0])
    table, names, values = _share(kept, columns)
    left = daily_bytes - _spent(connection, table, names, values)
    if left <= 0:
        return None
    ref = make_event_id(event.time)
    sealed = seal(kept.content, keys, ref=ref, contract_digest=digest, kind=kept.kind)
    if len(sealed.ciphertext) > left:
        return None
    connection.execute(
        "INSERT INTO custody_blob (ref, kind, tool, contract_digest, request_id, content_hmac,"
        " content_bytes, algorithm, key_id, wrapped_key, nonce, ciphertext, stored, expires)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(ref, kept.kind, tool, digest, columns["request_id"], content_hmac),
            *(len(kept.content), sealed.algorithm, sealed.key_id, sealed.wrapped_key),
            *(sealed.nonce, sealed.ciphertext, stored, expires),
        ),
    )
    marks = ", ".join("?" * len(values))
    connection.execute(
        f"INSERT INTO {table} VALUES ({marks}, ?) ON CONFLICT ({', '.join(names)})"  # noqa: S608
        f" DO UPDATE SET bytes = {table}.bytes + excluded.bytes",
        (*values, len(sealed.ciphertext)),
    )
    return ref


def _share(
    kept: Kept, columns: Mapping[str, Column]
) -> tuple[str, tuple[str, ...], tuple[Column, ...]]:
    """What the bytes are counted under: (table, names of its key, values).

    What evidence and replays need is counted for each caller and tenant apart, so that neither
    refusals nor another caller's calls can use it up. The caller stands there as a digest: spelled
    out, a long name would not fit the row of an index.
    """
    tool, day = columns["tool"], str(columns["time"])[:10]
    if kept.kind != SELECTED:
        return "custody_day", ("tool", "day"), (tool, day)
    caller = digest_of_json([columns["caller_tenant"], columns["caller_subject"]])
    return "custody_share", ("tool", "day", "caller"), (tool, day, caller)


def _spent(
    connection: Connection, table: str, names: tuple[str, ...], values: tuple[Column, ...]
) -> int:
    wanted = " AND ".join(f"{name} = ?" for name in names)
    row = connection.execute(f"SELECT bytes FROM {table} WHERE {wanted}", values).fetchone()  # noqa: S608
    return int(row[0]) if row else 0


def _expiry(time: datetime, days: float) -> str:
    try:
        return time_text(time + timedelta(days=days))
    except OverflowError:
        return time_text(_LAST_MOMENT)


def find_blob(connection: Connection, ref: str, now: datetime) -> Blob:
    """Return a sealed blob. Raises: KeyError if it is unknown, expired or purged; sqlite3.Error."""
    row = connection.execute(
        "SELECT ref, kind, tool, contract_digest, request_id, content_bytes, algorithm, key_id,"
        " wrapped_key, nonce, ciphertext FROM custody_blob"
        " WHERE ref = ? AND purged_at IS NULL AND expires > ?",
        (ref, time_text(now)),
    ).fetchone()
    if row is None:
        raise KeyError(ref)
    ref, kind, tool, digest, request_id, size, algorithm, key_id, wrapped, nonce, text = row
    return Blob(
        ref=ref,
        kind=kind,
        tool=tool,
        contract_digest=digest,
        request_id=request_id,
        content_bytes=size,
        sealed=Sealed(
            algorithm=algorithm, key_id=key_id, wrapped_key=wrapped, nonce=nonce, ciphertext=text
        ),
    )


def destroy_blobs(
    connection: Connection,
    now: datetime,
    refs: Sequence[str] | None,
    *,
    expired_by: datetime | None = None,
) -> list[str]:
    """Destroy key and text of the blobs that expire by ``expired_by`` (or ``now``), or of ``refs``.

    Returns the refs that went. The rows stay, with the time. The pages are overwritten
    (secure_delete) and reach the file at the next checkpoint; that the data key is gone is the
    promise. Raises: sqlite3.Error.
    """
    at = time_text(now)
    if refs is None:
        doomed = [
            row[0]
            for row in connection.execute(
                "SELECT ref FROM custody_blob WHERE purged_at IS NULL AND expires <= ?",
                (time_text(expired_by or now),),
            )
        ]
    else:
        doomed = list(dict.fromkeys(refs))
    destroyed = []
    for ref in doomed:
        done = connection.execute(
            "UPDATE custody_blob SET key_id = NULL, wrapped_key = NULL, nonce = NULL,"
            " ciphertext = NULL, purged_at = ? WHERE ref = ? AND purged_at IS NULL",
            (at, ref),
        )
        if done.rowcount:
            destroyed.append(ref)
    return destroyed


def rewrap_blobs(connection: Connection, keys: AuditKeys) -> int:
    """Wrap some data keys under the active key; return how many, fewer than a batch at the end.

    Raises: SealBroken, sqlite3.Error.
    """
    rows = connection.execute(
        "SELECT ref, key_id, wrapped_key FROM custody_blob"
        " WHERE purged_at IS NULL AND key_id IS NOT ? LIMIT ?",
        (keys.active, REWRAPPED_AT_ONCE),
    ).fetchall()
    renewed = [(*rewrap(key_id, wrapped, keys), ref) for ref, key_id, wrapped in rows]
    connection.executemany(
        "UPDATE custody_blob SET key_id = ?, wrapped_key = ? WHERE ref = ?", renewed
    )
    return len(renewed)
