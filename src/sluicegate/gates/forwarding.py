"""A store that hands everything on: what attends a record says only what it does beside that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Unpack

from sluicegate.gates.events import AuditEvent, StoredEvent
from sluicegate.gates.ports import AuditStore, ChainReport
from sluicegate.gates.record_queries import AcceptedQuery, AnswerQuery, CallQuery, EventFilters
from sluicegate.gates.terms import NO_TERMS, Accepted, AcceptedPage, Reservation, Terms


class ForwardingStore:
    """The AuditStore that ``store`` is."""

    def __init__(self, store: AuditStore) -> None:
        self._store = store

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        """As ``AuditStore.record``."""
        return await self._store.record(events, terms=terms)

    async def demand_key(self, reservation: Reservation, call: CallQuery, *, now: datetime) -> None:
        """As ``AuditStore.demand_key``."""
        await self._store.demand_key(reservation, call, now=now)

    async def accepted(self, query: AcceptedQuery, *, now: datetime) -> AcceptedPage:
        """As ``AuditStore.accepted``."""
        return await self._store.accepted(query, now=now)

    async def answer_of(self, query: AnswerQuery, *, now: datetime) -> Accepted | None:
        """As ``AuditStore.answer_of``."""
        return await self._store.answer_of(query, now=now)

    def events(self, **wanted: Unpack[EventFilters]) -> Iterator[StoredEvent]:
        """As ``AuditStore.events``."""
        return self._store.events(**wanted)

    def open_intents(self) -> Sequence[StoredEvent]:
        """As ``AuditStore.open_intents``."""
        return self._store.open_intents()

    async def find_open_call(self, call: CallQuery) -> str | None:
        """As ``AuditStore.find_open_call``."""
        return await self._store.find_open_call(call)

    def verify(self) -> ChainReport:
        """As ``AuditStore.verify``."""
        return self._store.verify()

    async def reveal(self, ref: str, *, who: str, reason: str, now: datetime) -> bytes:
        """As ``AuditStore.reveal``."""
        return await self._store.reveal(ref, who=who, reason=reason, now=now)

    async def purge(
        self,
        *,
        now: datetime,
        who: str,
        refs: Sequence[str] | None = None,
        expired_by: datetime | None = None,
    ) -> int:
        """As ``AuditStore.purge``."""
        return await self._store.purge(now=now, who=who, refs=refs, expired_by=expired_by)

    async def rewrap(self, *, now: datetime, who: str) -> int:
        """As ``AuditStore.rewrap``."""
        return await self._store.rewrap(now=now, who=who)

    async def close(self) -> None:
        """As ``AuditStore.close``."""
        await self._store.close()


class AttendedStore(ForwardingStore):
    """A record with something that is due behind each act of an operator, before it yields."""

    async def _attend(self) -> None:
        """Do what is due behind one act that was recorded."""
        raise NotImplementedError

    async def reveal(self, ref: str, *, who: str, reason: str, now: datetime) -> bytes:
        """As ``AuditStore.reveal``."""
        content = await super().reveal(ref, who=who, reason=reason, now=now)
        await self._attend()
        return content

    async def purge(
        self,
        *,
        now: datetime,
        who: str,
        refs: Sequence[str] | None = None,
        expired_by: datetime | None = None,
    ) -> int:
        """As ``AuditStore.purge``."""
        count = await super().purge(now=now, who=who, refs=refs, expired_by=expired_by)
        await self._attend()
        return count

    async def rewrap(self, *, now: datetime, who: str) -> int:
        """As ``AuditStore.rewrap``."""
        count = await super().rewrap(now=now, who=who)
        await self._attend()
        return count
