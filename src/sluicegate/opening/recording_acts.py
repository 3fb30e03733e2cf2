"""An operator's act, recorded in the standing record before it takes effect."""

from __future__ import annotations

import asyncio
from pathlib import Path

from sluicegate.gates.events import AuditEvent
from sluicegate.opening.standing import open_standing_store


def record_act(folder: Path, act: AuditEvent) -> None:
    """Record ``act`` in the record of ``folder``. Raises: AuditUnavailable, ConfigurationError."""
    asyncio.run(_record(folder, act))


async def _record(folder: Path, act: AuditEvent) -> None:
    store = open_standing_store(folder)
    try:
        await store.record([act])
    finally:
        await store.close()
