"""Rotation of the custody key: a new key, and every data key wrapped anew under it."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sluicegate.errors import ConfigurationError
from sluicegate.gates import operator_acts
from sluicegate.opening.clock import new_request_id
from sluicegate.opening.folder import read_settings
from sluicegate.opening.recording_acts import record_act
from sluicegate.opening.standing import open_standing_store
from sluicegate.stores.file_lock import FileLock
from sluicegate.stores.keys import (
    draw_custody_key,
    find_key_directory,
    open_keys,
    rotate_custody_key,
)
from sluicegate.stores.stores import rotation_lock


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    """``key_id`` is the active key now; ``rewrapped`` data keys were wrapped anew under it."""

    key_id: str
    is_drawn: bool
    rewrapped: int


def rotate(
    folder: Path, *, who: str, reason: str, now: datetime, draws_key: bool = True
) -> Rotation:
    """Draw a custody key, make it the active one, wrap every data key under it; recorded first.

    ``draws_key=False`` wraps under the key that is active already: those that gates with older
    keys sealed meanwhile, or all of them after a master key was appended elsewhere. Older keys
    stay, so that every blob opens at every moment, also where this stops half-way. One rotation at
    a time. Raises: ConfigurationError, MisuseError, AuditUnavailable. Source: SPEC AUD-4.
    """
    audit = read_settings(folder).audit
    if audit.store == "memory:":
        raise ConfigurationError("audit.store is memory:, which has no keys that could be rotated")
    if draws_key:
        find_key_directory(audit.keys, folder)
    asyncio.run(_close_at_once(folder))  # these are the keys of this record, or it ends here
    lock = rotation_lock(audit, folder)
    with nullcontext() if lock is None else FileLock.once(lock):
        new = draw_custody_key() if draws_key else None
        key_id = open_keys(audit.keys, folder).active if new is None else new.key_id
        act = operator_acts.rotate(
            key_id,
            is_drawn=draws_key,
            act_id=new_request_id(),
            who=who,
            reason=reason,
            now=now,
        )
        record_act(folder, act)
        if new is not None:
            rotate_custody_key(audit.keys, folder, new)
        count = asyncio.run(_rewrap(folder, who=who, now=now))
    return Rotation(key_id=key_id, is_drawn=draws_key, rewrapped=count)


async def _close_at_once(folder: Path) -> None:
    await open_standing_store(folder).close()


async def _rewrap(folder: Path, *, who: str, now: datetime) -> int:
    store = open_standing_store(folder)  # with the keys as they stand now
    try:
        return await store.rewrap(now=now, who=who)
    finally:
        await store.close()
