"""The record of a folder for those who read it or act on it: it is never begun here."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import PATH_FAULTS
from sluicegate.gates.ports import ChainReport
from sluicegate.opening.documents import say_misplaced
from sluicegate.opening.folder import read_settings
from sluicegate.opening.record_files import demand_key_files
from sluicegate.stores.chain import GENESIS
from sluicegate.stores.standing import RecordMissing
from sluicegate.stores.stores import Store, open_store


def open_standing_store(folder: Path) -> Store:
    """Open the record that stands, whether or not the contracts load; nothing is created.

    Raises: RecordMissing where none stands; ConfigurationError where the settings are wrong.
    """
    misplaced = say_misplaced(folder)
    if misplaced is not None:
        raise ConfigurationError(misplaced)
    settings = read_settings(folder)
    try:
        demand_key_files(settings.audit, folder)
        return open_store(settings.audit, settings.retention, folder, may_begin=False)
    except PATH_FAULTS as error:
        raise ConfigurationError(
            f"the record of {folder} cannot be opened: {error}; look at audit.store and audit.keys"
        ) from error


def verify_record(folder: Path) -> ChainReport:
    """Verify the whole record; one that was begun and is gone or empty is broken at event 1.

    Raises: RecordMissing where none was begun; ConfigurationError. Source: SPEC AUD-3.
    """
    try:
        store = open_standing_store(folder)
    except RecordMissing as error:
        if not error.is_lost:
            raise
        return ChainReport(events=0, head=GENESIS, broken_at=1, problem=str(error))
    try:
        return store.verify()
    finally:
        asyncio.run(store.close())
