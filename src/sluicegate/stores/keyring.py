"""The keys that an open record works with, read anew where another process has rotated (AUD-4)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias, TypeVar

from sluicegate.errors import ConfigurationError
from sluicegate.stores.custody import KeyNotHeld
from sluicegate.stores.keys import AuditKeys

_LOG: Final = logging.getLogger("sluicegate")

T = TypeVar("T")
ReadKeys: TypeAlias = Callable[[], AuditKeys]
"""Reads the source of the keys as it stands now. Raises: ConfigurationError, OSError."""


class Keyring:
    """Keys of one record: custody keys are taken over from their source, all others never change.

    A custody key that was held once stays held, whatever the source says later. ``read`` None:
    there is no source.
    """

    __slots__ = ("_keys", "_read")

    def __init__(self, keys: AuditKeys, read: ReadKeys | None = None) -> None:
        self._keys = keys
        self._read = read

    @property
    def keys(self) -> AuditKeys:
        """The keys as they are held by now."""
        return self._keys

    def use(self, work: Callable[[AuditKeys], T]) -> T:
        """Do ``work`` with the keys; once more where it lacks one that the source holds by now.

        May block for a file. Raises: KeyNotHeld where the source cannot give it either.
        """
        try:
            return work(self._keys)
        except KeyNotHeld as lacking:
            self._keys = self._read_anew(lacking)
        return work(self._keys)

    def _read_anew(self, lacking: KeyNotHeld) -> AuditKeys:
        if self._read is None:
            raise lacking
        try:
            found = self._read()
        except (ConfigurationError, OSError) as error:
            raise KeyNotHeld(f"{lacking}; audit.keys cannot be read anew: {error}") from None
        held = self._keys
        if found.check != held.check:
            # Whoever put them there may have put any custody key there.
            raise KeyNotHeld(f"{lacking}; audit.keys holds the keys of another record by now")
        if found.active != held.active:
            _LOG.info("custody key %s is active: another process rotated", found.active)
        return replace(held, custody={**held.custody, **found.custody}, active=found.active)
