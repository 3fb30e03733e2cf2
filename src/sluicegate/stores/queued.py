"""The face of a store whose one writer thread does all that is written: callers queue and wait."""

from __future__ import annotations

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Final, TypeVar, cast

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.handed_in import demand_account, demand_name
from sluicegate.gates.ports import AuditUnavailable
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery, CallQuery
from sluicegate.gates.terms import NO_TERMS, Accepted, AcceptedPage, Reservation, Terms
from sluicegate.stores.keyring import Keyring
from sluicegate.stores.record_accepted import find_accepted, find_answer
from sluicegate.stores.record_acts import (
    open_blob,
    purge_custody,
    record_reveal,
    rewrap_custody,
)
from sluicegate.stores.record_custody import REWRAPPED_AT_ONCE, find_blob
from sluicegate.stores.record_ledger import Ledger
from sluicegate.stores.record_open_calls import find_open_row
from sluicegate.stores.record_terms import demand_terms, hide_reservation, key_columns
from sluicegate.stores.writing import Item, Writer

T = TypeVar("T")

PATIENCE_S: Final = 10.0
"""Who waits longer for a commit is told that the record is unavailable."""

EVENT_BYTES: Final = 2_048
"""What an event without bytes is counted as while it waits."""

_of_parents: Final[list[Writer]] = []
"""Writers inherited through fork: never used, and never closed by the child either."""


class QueuedStore(ABC):
    """What is asked of the writer, and the waiting for it.

    A process that was forked gets a writer of its own at its first record; what its parent had
    queued is the parent's affair. A subclass begins with ``_begin`` and reads by itself.
    """

    failures: tuple[type[Exception], ...] = (OSError, ConfigurationError)
    """What beginning a writer may raise."""

    _writer: Writer

    def __init__(self, shown: str, ring: Keyring, *, patience_s: float) -> None:
        self._shown = shown
        self._ring = ring
        self._patience_s = patience_s
        self._fork = threading.Lock()
        self._pid = os.getpid()

    @abstractmethod
    def _start(self) -> Writer:
        """Return a writer of this process."""

    def enqueue(self, events: Sequence[AuditEvent]) -> Future[tuple[str, ...]]:
        """Queue the events and return at once; the future holds their ids after the commit.

        No answer may be given before that future is done: the queued events refer to it. Raises:
        AuditUnavailable if the queue is full or closed; the future raises it too.
        """
        item = _record_item(events, None)
        self._live().put(item)
        return cast("Future[tuple[str, ...]]", item.future)

    def record_blocking(self, events: Sequence[AuditEvent]) -> tuple[str, ...]:
        """Append the events in one commit and return their ids. Raises: AuditUnavailable."""
        future = self.enqueue(events)
        try:
            return future.result(self._patience_s)
        except TimeoutError:
            future.cancel()
            raise self._late() from None

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> tuple[str, ...]:
        """Append the events in one commit and return their ids.

        A caller that is cancelled loses no event that says what happened; an intent that was not
        yet taken up is dropped with it. Raises: TermRefused, AlreadyDone, AuditUnavailable.
        """
        item = _record_item(events, asyncio.get_running_loop(), terms=terms)
        return cast("tuple[str, ...]", await self._wait(item))

    async def find_open_call(self, call: CallQuery) -> str | None:
        """Return the request id under which this very call is open: running, or sent and unknown.

        Asked of the writer, so that everything queued before is counted. Raises: AuditUnavailable.
        """
        columns = key_columns(self._ring.keys, call)
        return await self._do(lambda ledger: find_open_row(ledger.connection, columns))

    async def demand_key(self, reservation: Reservation, call: CallQuery, *, now: datetime) -> None:
        """Judge a reservation as the commit of an intent would, and keep nothing.

        Raises: TermRefused, AlreadyDone, AuditUnavailable.
        """
        columns = key_columns(self._ring.keys, call)
        terms = Terms(reservation=hide_reservation(reservation, self._ring.keys))
        await self._do(lambda ledger: demand_terms(ledger.connection, columns, terms, now))

    async def accepted(self, query: AcceptedQuery, *, now: datetime) -> AcceptedPage:
        """Return accepted answers given to this caller and tenant, newest first.

        Asked of the writer, so that everything queued before is seen. Raises: AuditUnavailable.
        """
        return await self._do(lambda ledger: find_accepted(ledger, query, now))

    async def answer_of(self, query: AnswerQuery, *, now: datetime) -> Accepted | None:
        """Return the accepted answer of one request while its selected data is kept."""
        return await self._do(lambda ledger: find_answer(ledger, query, now))

    async def reveal(self, ref: str, *, who: str, reason: str, now: datetime) -> bytes:
        """Record the act, then return the plain bytes.

        Raises: KeyError if the blob is unknown, expired or purged; MisuseError without a name or
        reason; AuditUnavailable.
        """
        demand_account(who, reason)
        blob = await self._do(lambda ledger: find_blob(ledger.connection, ref, now))
        await self.record([record_reveal(blob, who=who, reason=reason, now=now)])
        return await asyncio.to_thread(open_blob, blob, self._ring)

    async def purge(
        self,
        *,
        now: datetime,
        who: str,
        refs: Sequence[str] | None = None,
        expired_by: datetime | None = None,
    ) -> int:
        """Destroy key and text of expired blobs (or of ``refs``), record the act, return how many.

        ``expired_by`` chooses what has expired where that is not ``now``; the event bears ``now``.
        Both stand in one commit. Raises: MisuseError, AuditUnavailable.
        """
        demand_name(who)
        return await self._do(
            lambda ledger: purge_custody(ledger, now=now, who=who, refs=refs, expired_by=expired_by)
        )

    async def rewrap(self, *, now: datetime, who: str) -> int:
        """Wrap every data key under the active custody key and return how many.

        The text of no blob is touched. What a gate with older keys seals meanwhile may be left
        for the next time: this ends. Raises: MisuseError, AuditUnavailable.
        """
        demand_name(who)
        total, count = 0, REWRAPPED_AT_ONCE
        while count == REWRAPPED_AT_ONCE:
            count = await self._do(lambda ledger: rewrap_custody(ledger, now=now, who=who))
            total += count
        return total

    async def close(self) -> None:
        """Write what is queued and release the record. Raises: AuditUnavailable."""
        if self._pid == os.getpid():
            await asyncio.to_thread(self._writer.close, self._patience_s)

    async def _do(self, work: Callable[[Ledger], T]) -> T:
        item = Item(work, EVENT_BYTES, loop=asyncio.get_running_loop())
        return cast("T", await self._wait(item))

    async def _wait(self, item: Item) -> object:
        self._live().put(item)
        future = cast("asyncio.Future[object]", item.future)
        alarm = future.get_loop().call_later(self._patience_s, self._expire, future)
        try:
            return await future
        finally:
            alarm.cancel()

    def _expire(self, future: asyncio.Future[object]) -> None:
        if not future.done():
            future.set_exception(self._late())

    def _late(self) -> AuditUnavailable:
        return AuditUnavailable(f"{self._shown}: no commit within {self._patience_s} s")

    def _live(self) -> Writer:
        """Return this process's writer. Raises: AuditUnavailable if a new one cannot open."""
        if self._pid == os.getpid():
            return self._writer
        with self._fork:
            if self._pid != os.getpid():
                _of_parents.append(self._writer)
                try:
                    self._writer = self._start()
                except self.failures as error:
                    raise AuditUnavailable(f"{self._shown}: {self._tell(error)}") from None
                self._pid = os.getpid()
        return self._writer

    def _tell(self, error: Exception) -> str:
        return str(error) or type(error).__name__


def _record_item(
    events: Sequence[AuditEvent],
    loop: asyncio.AbstractEventLoop | None,
    *,
    terms: Terms = NO_TERMS,
) -> Item:
    events = tuple(events)
    size = 0
    idle_alone = True
    for event in events:
        # What was received is the best guess for what was selected from it.
        size += EVENT_BYTES + (2 * len(event.raw) if event.raw else 0)
        for kept in event.kept:
            size += len(kept.content)
        if event.kind is not EventKind.INTENT:
            idle_alone = False
    return Item(
        lambda ledger: ledger.append(events, terms=terms),
        size,
        loop=loop,
        idle_alone=idle_alone,
    )
