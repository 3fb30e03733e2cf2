"""Whether heads and second sink can stand where the settings put them, by the settings alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.plain_files import PATH_FAULTS, say_path_fault
from sluicegate.opening.settings_problems import SettingFault
from sluicegate.stores.appended_file import MOUNT_IT, AppendedFile, find_outside_file


def find_outside_faults(settings: AuditSettings, folder: Path) -> Iterator[SettingFault]:
    """Yield what keeps a gate from opening; no file is opened and none is made.

    Rejects: a file beside the record, a folder that is not there, one file for heads and second
    sink. Source: SPEC AUD-3.
    """
    named = [
        ("/audit/heads/to", "audit.heads", None if settings.heads is None else settings.heads.to),
        ("/audit/also", "audit.also", settings.also),
    ]
    found: list[str] = []
    for pointer, key, to in named:
        if to is None:
            continue
        try:
            file = find_outside_file(to, key, settings, folder)
        except ConfigurationError as error:
            yield SettingFault(pointer, str(error))
            continue
        says = _say_missing(file, key) or _say_unfit(file, key)
        if says is not None:
            yield SettingFault(pointer, says)
        path = os.path.realpath(file.path)
        if path in found:  # by a link, or once from the root
            says = f"{file} ({key}) is the file that audit.heads go to: name a file of its own"
            yield SettingFault(pointer, f"{says} for each")
        found.append(path)


def demand_outside_files(settings: AuditSettings, folder: Path) -> None:
    """Raise ConfigurationError with the first fault, where there is one."""
    for fault in find_outside_faults(settings, folder):
        raise ConfigurationError(fault.says)


def _say_unfit(file: AppendedFile, key: str) -> str | None:
    """Say why lines cannot be appended to what stands there; it is not opened."""
    try:
        kind = file.path.stat().st_mode
    except FileNotFoundError:
        return None
    except PATH_FAULTS as error:
        return f"{file} ({key}) cannot be looked at ({say_path_fault(error)})"
    if stat.S_ISDIR(kind):
        return f"{file} ({key}) is a folder: name a file in it"
    if not stat.S_ISREG(kind):
        return f"{file} ({key}) is no regular file: name one, or a name that is free"
    return None


def _say_missing(file: AppendedFile, key: str) -> str | None:
    """A folder that were made here could lie below a mount point that nothing is mounted on."""
    try:
        if stat.S_ISDIR(file.folder.stat().st_mode):
            return None
        why = "is no folder"
    except FileNotFoundError:
        why = "does not exist"
    except PATH_FAULTS as error:
        why = f"cannot be looked at ({say_path_fault(error)})"
    return f"{file.folder} {why}, and {file.path.name} ({key}) is to stand in it: {MOUNT_IT}"
