"""Signed heads for an operator: one is signed at once, and the record is held against all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import StoredEvent
from sluicegate.gates.plain_files import read_plain
from sluicegate.gates.ports import AnchorReport, AuditUnavailable, ChainReport
from sluicegate.opening import standing
from sluicegate.opening.folder import read_settings
from sluicegate.opening.outside_files import demand_outside_files
from sluicegate.opening.record_files import demand_key_files
from sluicegate.opening.signing import head_writer, open_public_keys
from sluicegate.opening.standing import open_standing_store
from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.heads import (
    MAX_LINE_BYTES,
    Head,
    PublicKeys,
    public_keys_of,
    read_heads,
    read_public_keys,
)
from sluicegate.stores.heads_check import compare_heads, read_copy, walk_chain
from sluicegate.stores.heads_file import find_heads_file
from sluicegate.stores.heads_writer import HeadUnwritten
from sluicegate.stores.keys import open_signing_keys
from sluicegate.stores.standing import RecordMissing

_MAX_KEYS_BYTES: Final = 65_536


def sign_now(folder: Path, now: datetime) -> Head | None:
    """Sign the head of the standing record; None where its newest event is signed already.

    Raises: ConfigurationError; AuditUnavailable where no head could be written.
    """
    settings = read_settings(folder).audit
    file = find_heads_file(settings, folder)
    demand_outside_files(settings, folder)
    store = open_standing_store(folder)
    try:
        return head_writer(store, settings, folder, file).write(now)
    except HeadUnwritten as error:
        raise AuditUnavailable(str(error)) from error
    finally:
        asyncio.run(store.close())


def list_public_keys(folder: Path) -> PublicKeys:
    """Return the public keys that heads of this record are signed with. Raises: as sign_now."""
    settings = read_settings(folder).audit
    demand_key_files(settings, folder)
    return open_public_keys(settings, folder, find_heads_file(settings, folder))


def verify_record(
    folder: Path, *, heads: Path | None = None, public_key: Path | None = None
) -> tuple[ChainReport, AnchorReport | None]:
    """Verify the whole record, and hold it against its heads where there are any.

    ``heads`` and ``public_key`` stand in for what the settings name. A record that was begun and is
    gone or empty is broken at event 1. Raises: RecordMissing where none was begun;
    ConfigurationError. Source: SPEC AUD-3.
    """
    settings = read_settings(folder).audit
    file = AppendedFile(heads) if heads is not None else None
    if file is None and settings.heads is not None:
        file = find_heads_file(settings, folder)
    elif file is None and public_key is not None:
        find_heads_file(settings, folder)  # says what is missing
    compare = None
    if file is not None:
        demand_key_files(settings, folder)
        keys = (
            public_keys_of(open_signing_keys(settings.keys, folder, may_draw=False))
            if public_key is None
            else _read_public_key(public_key)
        )
        compare = partial(_compare, file, keys)
    report = standing.verify_record(folder)
    if compare is None:
        return report, None
    try:
        store = open_standing_store(folder)
    except RecordMissing:
        return report, compare(())
    try:
        return report, compare(store.events())
    finally:
        asyncio.run(store.close())


def verify_copy(
    database: Path, *, heads: Path, public_key: Path
) -> tuple[ChainReport, AnchorReport]:
    """Hold a copy of a SQLite record against its heads, without any secret.

    Seen is that no event is missing, twice or moved, and that the signed links stand where they
    were; whether a column was changed takes the keys. Raises: ConfigurationError.
    """
    if not database.is_file():
        raise ConfigurationError(f"there is no database at {database}")
    keys = _read_public_key(public_key)
    try:
        chain = walk_chain(read_copy(database))
    except AuditUnavailable as error:
        chain = ChainReport(events=0, head=GENESIS, broken_at=1, problem=str(error))
    return replace(chain, keyed=False), _compare(AppendedFile(heads), keys, read_copy(database))


def _compare(file: AppendedFile, keys: PublicKeys, events: Iterable[StoredEvent]) -> AnchorReport:
    try:
        heads = read_heads(file.lines(max_bytes=MAX_LINE_BYTES), keys)
    except FileNotFoundError:
        heads = ()
    except OSError as error:
        return AnchorReport(heads=0, problem=f"{file} cannot be read: {error.strerror}")
    try:
        if heads == () and any(True for _ in events):
            problem = f"{file} holds no head, so nothing vouches for the end of the record"
            return AnchorReport(heads=0, problem=problem)
        return compare_heads(heads, events)
    except AuditUnavailable as error:
        return AnchorReport(heads=0, problem=f"the events could not be read: {error}")


def _read_public_key(path: Path) -> PublicKeys:
    try:
        text = read_plain(path, _MAX_KEYS_BYTES).decode("ascii", "replace")
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read ({error.strerror})") from error
    return read_public_keys(text, str(path))
