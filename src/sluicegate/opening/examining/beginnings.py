"""What the first gate makes, before it is there: record, keys, memory of signed answers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from sluicegate.contracts.served import ContractSet
from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.opening.running_apart import run_apart
from sluicegate.stores.keys import KeyringEmpty, find_key_directory, open_keys
from sluicegate.stores.replays import FILE_NAME, open_replays
from sluicegate.stores.stores import database_path, is_postgres
from sluicegate.values.looks import Look


def examine_beginnings(settings: AuditSettings, root: Path) -> Iterator[Look]:
    """Yield whether a record that does not stand yet can be begun; nothing is made."""
    if not settings.store.startswith("sqlite:"):
        return
    database = database_path(settings, root)
    if database.exists() and database.stat().st_size:
        return
    fault = _say_unwritable(database.parent)
    if fault is not None:
        yield Look(name="store", well=False, says=f"{fault}: audit.store is to stand there")
    yield _look_at_keys(settings, root)


def _look_at_keys(settings: AuditSettings, root: Path) -> Look:
    if settings.keys.startswith("file:"):
        directory = find_key_directory(settings.keys, root)
        if not directory.exists() or (directory.is_dir() and not any(directory.iterdir())):
            # Keys are made aside and moved in, so it is the folder around that must take them.
            fault = _say_unwritable(directory.parent)
            if fault is None:
                says = f"{directory} holds none yet: the first gate draws them"
                return Look(name="keys", well=True, says=says)
            return Look(name="keys", well=False, says=f"{fault}: audit.keys are to stand there")
    try:
        open_keys(settings.keys, root, may_create=False)
    except KeyringEmpty:
        says = "the keyring answers: the first gate puts the key into it"
        return Look(name="keys", well=True, says=says)
    except (ConfigurationError, OSError) as error:
        return Look(name="keys", well=False, says=str(error))
    return Look(name="keys", well=True, says="they can be read")


def examine_replays(served: ContractSet, root: Path) -> Iterator[Look]:
    """Yield whether signed answers can be remembered, where a contract demands signatures.

    A memory that stands is opened as a gate does; one that does not is begun by the first gate.
    Source: SPEC RES-6.
    """
    settings, name = served.settings.audit, "signed answers"
    signed = any(each.upstream.signature is not None for each in served.every_version())
    if not signed or settings.store == "memory:":
        return
    if settings.store.startswith("sqlite:"):
        path = database_path(settings, root).parent / FILE_NAME
        if not path.exists():
            fault = _say_unwritable(path.parent)
            says = f"{path} does not exist yet: the first gate creates it"
            yield Look(name=name, well=fault is None, says=fault or says)
            return
    try:
        run_apart(open_replays(settings, root).close())
    except ConfigurationError as error:
        yield Look(name=name, well=False, says=str(error))
        return
    where = "PostgreSQL" if is_postgres(settings) else FILE_NAME
    yield Look(name=name, well=True, says=f"those that came are remembered in {where}")


def _say_unwritable(folder: Path) -> str | None:
    """Say why nothing can be made in ``folder``, which may have to be made as well."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        return f"{folder} is no folder"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"{folder} cannot be written"
    return None
