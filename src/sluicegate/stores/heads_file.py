"""Where the heads of a record are appended."""

from __future__ import annotations

from pathlib import Path

from sluicegate.contracts.settings import AuditSettings
from sluicegate.errors import ConfigurationError
from sluicegate.stores.appended_file import AppendedFile, find_outside_file


def find_heads_file(settings: AuditSettings, folder: Path) -> AppendedFile:
    """Return the file of ``audit.heads``. Raises: ConfigurationError where there is none."""
    if settings.heads is None:
        raise ConfigurationError(
            'no heads are written for this record: add heads: {to: "file:PATH"} to audit in'
            " sluicegate.yaml, or name a file of heads"
        )
    return find_outside_file(settings.heads.to, "audit.heads", settings, folder)
