"""The record of a folder, opened for one command of an operator."""

from __future__ import annotations

import asyncio
import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sluicegate.cli.exits import Exit
from sluicegate.cli.output import demand_folder, stop, warn_unsettled
from sluicegate.gates.ports import AuditStore, AuditUnavailable

if TYPE_CHECKING:
    from sluicegate.stores.stores import Store


@contextmanager
def open_record(folder: str) -> Iterator[AuditStore]:
    """Open the record that the folder's settings name, or begin it, and close it afterwards.

    For acts that may come before the first gate. An operator needs it most when the contracts do
    not load, so they are not loaded. Ends the command with exit code 5 where the record is lost or
    cannot be read or written.
    """
    from sluicegate.opening.folder import open_folder_store

    with guard_record(folder):
        store = open_folder_store(Path(folder))
        warn_unsettled(folder)
        try:
            yield store
        finally:
            asyncio.run(store.close())


@contextmanager
def open_standing_record(folder: str) -> Iterator[Store]:
    """Open the record that stands, and close it afterwards; nothing is created.

    Ends the command with exit code 5 where none stands or it cannot be read or written.
    """
    from sluicegate.opening.standing import open_standing_store

    with guard_record(folder):
        store = open_standing_store(Path(folder))
        try:
            yield store
        finally:
            asyncio.run(store.close())


@contextmanager
def guard_record(folder: str) -> Iterator[None]:
    """End the command with exit code 5 where there is no folder or its record is unavailable."""
    from sluicegate.stores.standing import RecordMissing

    demand_folder(folder, "name it with --folder")
    try:
        yield
    except RecordMissing as error:
        stop(Exit.UNREADABLE, str(error))
    except AuditUnavailable as error:
        stop(Exit.UNREADABLE, f"the record of {folder} is unavailable: {error}")


def who_acts() -> str:
    """Return the account that runs this command, as the system knows it.

    Not ``$USER``, which anybody sets.
    """
    account = os.getuid()
    try:
        return f"os:{pwd.getpwuid(account).pw_name}"
    except KeyError:
        return f"os:{account}"
