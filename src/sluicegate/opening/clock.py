"""The machine's clocks, and the only randomness of a gate."""

from __future__ import annotations

import asyncio
import secrets
import string
import time
from datetime import UTC, datetime
from typing import Final

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


def new_request_id() -> RequestId:
    """Return a fresh request id: ``req.`` and 20 characters, 119 bits."""
    return RequestId("req." + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH)))


def draw() -> float:
    """Return a number in [0, 1) for jitter and for the share of answers that custody keeps."""
    return secrets.randbelow(1 << 30) / (1 << 30)
