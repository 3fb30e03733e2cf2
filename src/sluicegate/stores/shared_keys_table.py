"""The idempotency keys that several gates share in one Redis: what is asked, and what is believed.

Whatever is not the exact reply that a script gives to this request is no reply: the call is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from sluicegate.gates.failures import is_failure
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.stores.shared_keys_fates import Became
from sluicegate.stores.shared_keys_scripts import (
    ANSWER,
    DISPATCH,
    LIST,
    OPEN,
    RESERVE,
    RING,
    SETTLE,
    UNDO,
)
from sluicegate.stores.shared_keys_server import UnfitServer

if TYPE_CHECKING:
    from redis.asyncio import Redis

T = TypeVar("T")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_SLACK: Final = timedelta(days=1)
"""What is kept no more is forgotten so much later: a clock that was wrong frees nothing."""

_OF_ANOTHER: Final = frozenset({"done", "reused", "running", "unknown"})
_GONE: Final = "the keys in Redis are not those that this gate began with: open it anew"


_STRANGE: Final = (
    "Redis gave an answer that the scripts of a gate never give: does another program write there?"
)


class KeyStoreUnavailable(AuditUnavailable):
    """The key store gave no answer that can be believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A request that holds an entry, or wants to. ``arguments`` is a fingerprint."""

    entry: str
    request_id: str
    attempt: int
    arguments: str
    runs_until: datetime
    kept_until: datetime


@dataclass(frozen=True, slots=True)
class Said:
    """One word of Redis on an entry, and the request that holds it."""

    word: str
    holder: str


class KeyTable:
    """The entries behind one connection pool; ``ring`` marks the Redis that it began with.

    What does not answer within ``patience_s`` is down.

    Each method raises KeyStoreUnavailable where Redis is down, late, or says what is not so.
    """

    def __init__(self, client: Redis, ring: bytes, *, patience_s: float) -> None:
        self._client = client
        self._ring = ring
        self._patience_s = patience_s

    async def reserve(self, claim: Claim, now: datetime, *, keep: bool = True) -> Said:
        """Reserve the entry; ``keep=False`` only says what would come of it.

        Says ``reserved``; ``done``, ``reused``, ``running`` or ``unknown`` of another holder.
        """
        return await self._run(
            RESERVE,
            claim,
            claim.arguments,
            _micros(now),
            _micros(claim.runs_until),
            _micros(claim.kept_until),
            _expiry_ms(claim, now),
            "keep" if keep else "look",
            among=("reserved", "done", "reused", "running", "unknown"),
        )

    async def dispatch(self, claim: Claim) -> bool:
        """Say that what the entry was reserved for may be sent; False: it is another's now."""
        said = await self._run(DISPATCH, claim, among=("dispatched", "lost"))
        return said == Said("dispatched", claim.request_id)

    async def undo(self, claim: Claim) -> bool:
        """Give back what was only reserved; False where the request holds the entry as ever."""
        said = await self._run(UNDO, claim, among=("undone", "kept"))
        return said.word == "undone" or said.holder != claim.request_id

    async def settle(self, claim: Claim, became: Became, now: datetime, sealed: bytes = b"") -> str:
        """Say what became of the holder: done, free or unknown; an entry of another is left alone.

        Says ``settled``, ``other`` or ``late``.
        """
        said = await self._run(
            SETTLE,
            claim,
            became.value,
            claim.arguments,
            _micros(claim.kept_until),
            _expiry_ms(claim, now),
            sealed,
            _milliseconds(claim.kept_until - now),
            among=("settled", "other", "late"),
        )
        return said.word

    async def read_sealed(self, entry: str) -> bytes | None:
        """Return the sealed answer of a done call; None where none is kept."""
        reply: object = await self._ask(self._client.get(entry + ANSWER))
        if reply is None or isinstance(reply, bytes):
            return reply
        raise KeyStoreUnavailable(_STRANGE)

    async def demand_ring(self) -> None:
        """See that Redis answers and is the one that this began with."""
        if await self._ask(self._client.get(RING)) != self._ring:
            raise KeyStoreUnavailable(_GONE)

    async def list_open(self) -> list[str]:
        """Return the requests whose entries may still change."""
        reply = await self._ask(self._client.eval(LIST, 2, RING, OPEN, self._ring))
        texts = _texts(reply)
        if texts == ["ring"]:
            raise KeyStoreUnavailable(_GONE)
        if texts is None or texts[:1] != ["open"]:
            raise KeyStoreUnavailable(_STRANGE)
        return texts[1:]

    async def close(self) -> None:
        """Release the connections."""
        await self._client.aclose()
        await self._client.connection_pool.aclose()

    async def _run(
        self, script: str, claim: Claim, *arguments: str | bytes | int, among: tuple[str, ...]
    ) -> Said:
        reply = await self._ask(
            self._client.eval(
                *(script, 4, RING, claim.entry, OPEN, claim.entry + ANSWER, self._ring),
                *(claim.request_id, claim.attempt, *arguments),
            )
        )
        texts = _texts(reply)
        if texts == ["ring", claim.request_id, ""]:
            raise KeyStoreUnavailable(_GONE)
        if (
            texts is None
            or len(texts) != 3
            or texts[0] not in among
            or texts[1] != claim.request_id
            or (texts[0] == "reserved" and texts[2] != claim.request_id)
            or (texts[0] in _OF_ANOTHER and not texts[2])
        ):
            raise KeyStoreUnavailable(_STRANGE)
        return Said(texts[0], texts[2])

    async def _ask(self, reply: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._patience_s):
                return await reply
        except UnfitServer as error:
            raise KeyStoreUnavailable(str(error)) from None
        except BaseException as error:
            if not is_failure(error):
                raise
            # The text of such an error may quote the address.
            raise KeyStoreUnavailable(
                f"the key store did not answer: {type(error).__name__}"
            ) from None


def _texts(reply: object) -> list[str] | None:
    if not isinstance(reply, list) or not all(part.__class__ is bytes for part in reply):
        return None
    return [part.decode("utf-8", "replace") for part in reply]


def _micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def _expiry_ms(claim: Claim, now: datetime) -> int:
    """By Redis's own clock from now on, so that no difference of clocks forgets a key too early."""
    left = max(claim.kept_until, claim.runs_until) - now
    return _milliseconds(max(left, timedelta()) + _SLACK)


def _milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)
