"""Whom a signed answer is believed from: the keys of its contract, and whether it is new (RES-6).

What fails here fails closed: an exception, a wait beyond its seconds and an answer that is no
bool end the call as INTERNAL, and nothing of the answer is believed (RES-9).
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Final

from sluicegate.checks.authentication import NOBODY, Trust
from sluicegate.checks.authentication_keys import TrustedKeys
from sluicegate.gates.ports import Replays
from sluicegate.gates.readings import KeyReading
from sluicegate.gates.serving import Line
from sluicegate.values.instants import moment_of
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

KEYS_WITHIN_S: Final = 2.0
MEMORY_WITHIN_S: Final = 2.0
"""Seconds that reading the keys may take, and asking the memory; a file needs a few ms."""


async def find_trust(
    line: Line, receipt: Receipt, request: Request, now: datetime, replays: Replays | None
) -> Trust:
    """Return what the signature of ``receipt`` is judged by; an unsigned contract needs nothing.

    The signature is verified first, so that nothing unverified can fill the memory. What it
    covers is then remembered, whatever becomes of the answer on later rungs.
    Raises: whatever keys and memory raise; TimeoutError.
    """
    if line.keys is None:
        return NOBODY
    keys = await read_keys(line.keys)
    signed = line.result.identify(receipt, request, now, keys)
    if signed is None or isinstance(signed, Rejected):
        return Trust(keys=keys)  # the climb will say why
    if replays is None:
        raise RuntimeError("a signed contract is served without a memory of replays")
    async with asyncio.timeout(MEMORY_WITHIN_S):
        is_new = await replays.is_new(
            scope=line.keys.scope,
            replay_id=signed.replay_id,
            until=moment_of(line.result.last_moment(signed)),
            now=now,
        )
    if is_new is not True and is_new is not False:
        raise TypeError(f"the memory of replays answered {type(is_new).__name__}")
    return Trust(keys=keys, seen=not is_new)


async def read_keys(keys: KeyReading) -> TrustedKeys:
    """Return the keys as they are now. Raises: what the source raises; TimeoutError."""
    async with asyncio.timeout(KEYS_WITHIN_S):
        return await keys.read()
