"""From the settings to the store that has a second sink beside its record."""

from __future__ import annotations

from pathlib import Path

from sluicegate.contracts.settings import AuditSettings
from sluicegate.gates.ports import AuditStore
from sluicegate.stores.appended_file import find_outside_file
from sluicegate.stores.keys import open_keys
from sluicegate.stores.second_sink import SecondSink
from sluicegate.stores.second_sink_store import TwoSinksStore


def put_beside(store: AuditStore, settings: AuditSettings, folder: Path) -> AuditStore:
    """Return the store that hands every event to ``audit.also`` as well, if there is one.

    Raises: ConfigurationError.
    """
    if settings.also is None:
        return store
    file = find_outside_file(settings.also, "audit.also", settings, folder)
    keys = open_keys(settings.keys, folder, may_create=False)
    return TwoSinksStore(store, SecondSink(store, file, keys), settings.sinks)
