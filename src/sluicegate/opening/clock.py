"""The machine's clocks, and the only randomness of a gate."""

from __future__ import annotations

import asyncio
import secrets
import string
import time
from datetime import UTC, datetime
from typing import Final

from sluicegate.errors import MisuseError
from sluicegate.gates.ports import Clock
from sluicegate.values.requests import RequestId

_ALPHABET: Final = string.ascii_letters + string.digits
_LENGTH: Final = 20


class SystemClock:
    """Wall time in UTC, and a monotonic clock for budgets."""

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait between two attempts."""
        await asyncio.sleep(seconds)


def demand_clock(clock: Clock) -> Clock:
    """Return ``clock``. Raises: MisuseError where it lacks what a gate asks of one."""
    lacking = [
        name for name in ("now", "monotonic", "sleep") if not callable(getattr(clock, name, None))
    ]
    if lacking:
        raise MisuseError(
            f"`clock` has no method {', '.join(f'`{name}`' for name in lacking)}: it needs `now()`,"
            " an aware UTC datetime, `monotonic()`, seconds that never run backwards, and"
            " `async sleep(seconds)`; sluicegate.testing.FixedClock is one"
        )
    return clock


def new_request_id() -> RequestId:
    """Return a fresh request id: ``req.`` and 20 characters, 119 bits."""
    return RequestId("req." + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)))


def draw() -> float:
    """Return a number in [0, 1) for jitter and for the share of answers that custody keeps."""
    return secrets.randbelow(1 << 30) / (1 << 30)
