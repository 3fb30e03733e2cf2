"""The default store: one SQLite file, append-only, shared by several processes without a gap."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Final, TypeVar, cast

from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent, EventKind, StoredEvent
from sluicegate.gates.operator_acts import demand_account
from sluicegate.gates.ports import AuditUnavailable, ChainReport
from sluicegate.gates.terms import NO_TERMS, Accepted, Terms
from sluicegate.stores.chain import GENESIS, verify_chain
from sluicegate.stores.encoding import hmac_of_arguments
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.sqlite_accepted import find_accepted, find_answer
from sluicegate.stores.sqlite_acts import (
    open_blob,
    purge_custody,
    record_reveal,
    rewrap_custody,
)
from sluicegate.stores.sqlite_custody import REWRAPPED_AT_ONCE, find_blob
from sluicegate.stores.sqlite_ledger import Ledger
from sluicegate.stores.sqlite_open_calls import find_disagreement, find_open_call
from sluicegate.stores.sqlite_questions import select_events, select_open_intents
from sluicegate.stores.sqlite_schema import connect_to_read, limit_pages
from sluicegate.stores.sqlite_terms import find_unmarked
from sluicegate.stores.sqlite_writer import MAX_QUEUED_BYTES, Item, SqliteWriter
from sluicegate.values.callers import Caller

T = TypeVar("T")

PATIENCE_S: Final = 10.0
"""Who waits longer for a commit is told that the record is unavailable."""

EVENT_BYTES: Final = 2_048
"""What an event without bytes is counted as while it waits."""

_of_parents: Final[list[SqliteWriter]] = []
"""Writers inherited through fork: never used, and never closed by the child either."""


class SqliteStore:
    """The AuditStore in one SQLite file (WAL, synchronous FULL, group commit).

    A process that was forked gets a writer of its own at its first record; what its parent had
    queued is the parent's affair. Reading opens connections of its own. Source: SPEC AUD-1 to
    AUD-4.
    """

    def __init__(
        self,
        path: Path,
        keys: AuditKeys,
        *,
        daily_bytes: int = 67_108_864,
        max_queued_bytes: int = MAX_QUEUED_BYTES,
        patience_s: float = PATIENCE_S,
        may_begin: bool = True,
    ) -> None:
        """Open the file, or create it with mode 0600.

        Raises: RecordEmpty where it holds no record and ``may_begin`` is false;
        ConfigurationError.
        """
        self._path = path.absolute()
        self._keys = keys
        self._daily_bytes = daily_bytes
        self._max_queued_bytes = max_queued_bytes
        self._patience_s = patience_s
        self._may_begin = may_begin
        self._fork = threading.Lock()
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._writer = self._start()
        except (OSError, sqlite3.Error) as error:
            raise ConfigurationError(
                f"the record {path} cannot be opened ({error}): name a place in audit.store where"
                " this account may write"
            ) from error
        self._may_begin = False  # a record that stood once is not begun again by a child
        self._pid = os.getpid()

    @property
    def path(self) -> Path:
        """Where the file stands."""
        return self._path

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

    def events(
        self,
        *,
        since: datetime | None = None,
        tool: str | None = None,
        code: str | None = None,
        request_id: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> Iterator[StoredEvent]:
        """Iterate over stored events that fit every given filter. Raises: AuditUnavailable."""
        try:
            with closing(connect_to_read(self._path)) as connection:
                yield from select_events(
                    connection,
                    since=since,
                    tool=tool,
                    code=code,
                    request_id=request_id,
                    limit=limit,
                    newest_first=newest_first,
                )
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise AuditUnavailable(f"{self._path.name} cannot be read: {error}") from error

    def open_intents(self) -> tuple[StoredEvent, ...]:
        """Return intents whose outcome is not recorded, or is unknown and not yet resolved.

        Raises: AuditUnavailable.
        """
        try:
            with closing(connect_to_read(self._path)) as connection:
                return select_open_intents(connection)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise AuditUnavailable(f"{self._path.name} cannot be read: {error}") from error

    async def find_open_call(
        self, *, tool: str, caller: Caller, arguments: Mapping[str, object], but: str
    ) -> str | None:
        """Return the request id under which this very call is open: running, or sent and unknown.

        Asked of the writer, so that everything queued before is counted. Raises: AuditUnavailable.
        """
        digest = hmac_of_arguments(self._keys, arguments)
        return await self._do(
            lambda ledger: find_open_call(
                ledger.connection, tool=tool, caller=caller, arguments_hmac=digest, but=but
            )
        )

    async def accepted(
        self,
        *,
        tool: str,
        caller: Caller,
        contract_digest: str,
        since: datetime,
        now: datetime,
        limit: int = 100,
    ) -> tuple[Accepted, ...]:
        """Return accepted answers given to this caller and tenant, newest first.

        Asked of the writer, so that everything queued before is seen. Raises: AuditUnavailable.
        """
        return await self._do(
            lambda ledger: find_accepted(
                ledger,
                tool=tool,
                caller=caller,
                contract_digest=contract_digest,
                since=since,
                now=now,
                limit=limit,
            )
        )

    async def answer_of(self, request_id: str, *, now: datetime) -> Accepted | None:
        """Return the accepted answer of one request while its selected data is kept."""
        return await self._do(lambda ledger: find_answer(ledger, request_id, now=now))

    def verify(self) -> ChainReport:
        """Recompute the chain over every column from the first event on.

        A file that cannot be read to its end is broken at the first event that is not readable,
        and so is one whose row is no event. What is derived from the events must agree with them.
        """
        seen = (0, GENESIS)

        def watched() -> Iterator[StoredEvent]:
            nonlocal seen
            for event in self.events():
                yield event
                seen = (event.seq, event.link)

        try:
            report = verify_chain(self._keys.chain, watched())
            return report if report.broken_at is not None else self._verify_derived(report)
        except AuditUnavailable as error:
            return ChainReport(
                events=seen[0], head=seen[1], broken_at=seen[0] + 1, problem=str(error)
            )

    def _verify_derived(self, report: ChainReport) -> ChainReport:
        """Hold the tables that the events make to the events.

        Who takes a call from the open ones frees a write that may have been made; who takes the
        mark from evidence lets it carry a second action.
        """
        try:
            with closing(connect_to_read(self._path)) as connection:
                found = (
                    (
                        find_disagreement(connection),
                        "the table of open calls does not say of it what the events say",
                    ),
                    (find_unmarked(connection), "the evidence it spent is not marked as spent"),
                )
        except sqlite3.Error as error:
            raise AuditUnavailable(f"what the events make cannot be read: {error}") from error
        for seq, problem in found:
            if seq is not None:
                return replace(report, broken_at=seq, problem=problem)
        return report

    async def reveal(self, ref: str, *, who: str, reason: str, now: datetime) -> bytes:
        """Record the act, then return the plain bytes.

        Raises: KeyError if the blob is unknown, expired or purged; MisuseError without a name or
        reason; AuditUnavailable.
        """
        demand_account(who, reason)
        blob = await self._do(lambda ledger: find_blob(ledger.connection, ref, now))
        await self.record([record_reveal(blob, who=who, reason=reason, now=now)])
        return open_blob(blob, self._keys)

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
        demand_account(who, "purge")
        return await self._do(
            lambda ledger: purge_custody(ledger, now=now, who=who, refs=refs, expired_by=expired_by)
        )

    async def rewrap(self, *, now: datetime, who: str) -> int:
        """Wrap every data key under the active custody key and return how many.

        The text of no blob is touched. What a gate with older keys seals meanwhile may be left
        for the next time: this ends. Raises: MisuseError, AuditUnavailable.
        """
        demand_account(who, "rewrap")
        total, count = 0, REWRAPPED_AT_ONCE
        while count == REWRAPPED_AT_ONCE:
            count = await self._do(lambda ledger: rewrap_custody(ledger, now=now, who=who))
            total += count
        return total

    async def close(self) -> None:
        """Write what is queued and release the file. Raises: AuditUnavailable."""
        if self._pid == os.getpid():
            await asyncio.to_thread(self._writer.close, self._patience_s)

    def limit_pages(self, pages: int) -> None:
        """Hold the file to so many pages of 4 KiB; past it the record is unavailable (SQLITE_FULL).

        Raises: AuditUnavailable.
        """
        writer = self._live()
        writer.max_pages = pages
        item = Item(lambda ledger: limit_pages(ledger.connection, pages), 0)
        writer.put(item)
        cast("Future[object]", item.future).result(self._patience_s)

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
        return AuditUnavailable(f"{self._path.name}: no commit within {self._patience_s} s")

    def _live(self) -> SqliteWriter:
        """Return this process's writer. Raises: AuditUnavailable if a new one cannot open."""
        if self._pid == os.getpid():
            return self._writer
        with self._fork:
            if self._pid != os.getpid():
                _of_parents.append(self._writer)
                try:
                    self._writer = self._start()
                except (OSError, sqlite3.Error, ConfigurationError) as error:
                    raise AuditUnavailable(f"{self._path.name}: {error}") from error
                self._pid = os.getpid()
        return self._writer

    def _start(self) -> SqliteWriter:
        return SqliteWriter(
            self._path,
            self._keys,
            daily_bytes=self._daily_bytes,
            max_queued_bytes=self._max_queued_bytes,
            may_begin=self._may_begin,
        )


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
