"""From the settings to the store that signs the heads of its record as it grows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.gates.ports import AuditStore
from sluicegate.stores.appended_file import AppendedFile
from sluicegate.stores.heads import PublicKeys, public_keys_of
from sluicegate.stores.heads_file import find_heads_file
from sluicegate.stores.heads_store import HeadedStore
from sluicegate.stores.heads_writer import HeadWriter
from sluicegate.stores.keys import open_signing_keys


def sign_as_it_grows(
    store: AuditStore, settings: AuditSettings, folder: Path, now: Callable[[], datetime]
) -> AuditStore:
    """Return the store that signs heads where ``settings`` ask for them.

    The place and the key are looked at here: they fail when the folder is opened, not at the first
    head. Raises: ConfigurationError.
    """
    if settings.heads is None:
        return store
    file = find_heads_file(settings, folder)
    open_public_keys(settings, folder, file)
    return HeadedStore(store, head_writer(store, settings, folder, file), settings.heads, now)


def open_public_keys(settings: AuditSettings, folder: Path, file: AppendedFile) -> PublicKeys:
    """Return the public keys of the record; where nothing was signed yet a key may be drawn.

    Raises: ConfigurationError.
    """
    try:
        is_unsigned = file.read_last() is None
    except OSError as error:
        raise ConfigurationError(
            f"the heads {file} cannot be read ({error.strerror}): look at audit.heads"
        ) from error
    return public_keys_of(open_signing_keys(settings.keys, folder, may_draw=is_unsigned))


def head_writer(
    store: AuditStore, settings: AuditSettings, folder: Path, file: AppendedFile
) -> HeadWriter:
    """Return what signs heads of ``store`` into ``file`` with the keys of ``settings``."""
    return HeadWriter(
        store, file, lambda may_draw: open_signing_keys(settings.keys, folder, may_draw=may_draw)
    )
