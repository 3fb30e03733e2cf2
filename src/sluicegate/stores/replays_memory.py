"""The memory of signed answers in one process: for tests, and beside a record in memory."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

KEPT_LONGER: Final = timedelta(minutes=5)
"""What is kept beyond the window, for gates whose clocks differ."""


class MemoryReplays:
    """Remembers for one process; nothing outlives it."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], datetime] = {}

    async def is_new(self, *, scope: str, replay_id: str, until: datetime, now: datetime) -> bool:
        """Record the id and say whether it was not there; nothing can come in between."""
        key = (scope, replay_id)
        if key in self._seen:
            return False
        self._forget(now)
        self._seen[key] = until + KEPT_LONGER
        return True

    async def close(self) -> None:
        """Nothing is held."""

    def _forget(self, now: datetime) -> None:
        # One pass now and then: each id is looked at a bounded number of times.
        if len(self._seen) & (len(self._seen) - 1) == 0:
            self._seen = {key: until for key, until in self._seen.items() if until >= now}
