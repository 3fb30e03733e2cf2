"""A record whose head is signed as it grows: by count, by time, and when it is closed (AUD-3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from sluicegate.contracts.settings import HeadsSettings
from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.failures import is_failure
from sluicegate.gates.forwarding import ForwardingStore
from sluicegate.gates.ports import AuditStore, AuditUnavailable
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.stores.heads_writer import HeadUnwritten, HeadWriter

_LOG: Final = logging.getLogger("sluicegate")


class HeadedStore(ForwardingStore):
    """Signs off the callers' path. Bound to the event loop that records first.

    A head that cannot be written is told in the log and tried again; where heads are required,
    nothing may begin to run before one is written. Source: docs/decisions/0016.
    """

    def __init__(
        self,
        store: AuditStore,
        writer: HeadWriter,
        settings: HeadsSettings,
        now: Callable[[], datetime],
    ) -> None:
        super().__init__(store)
        self._writer = writer
        self._settings = settings
        self._now = now
        self._uncovered = 0
        self._problem: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        """As ``AuditStore.record``. Raises: AuditUnavailable also for a required head."""
        if self._problem is not None and self._settings.required:
            await self._demand_head(events)
        ids = await super().record(events, terms=terms)
        self._count(len(events))
        return ids

    async def reveal(self, ref: str, *, who: str, reason: str, now: datetime) -> bytes:
        """As ``AuditStore.reveal``."""
        content = await super().reveal(ref, who=who, reason=reason, now=now)
        self._count(1)
        return content

    async def purge(self, *, now: datetime, who: str, refs: Sequence[str] | None = None) -> int:
        """As ``AuditStore.purge``."""
        count = await super().purge(now=now, who=who, refs=refs)
        self._count(1)
        return count

    async def rewrap(self, *, now: datetime, who: str) -> int:
        """As ``AuditStore.rewrap``."""
        count = await super().rewrap(now=now, who=who)
        self._count(1)
        return count

    async def close(self) -> None:
        """Sign what is not covered, then close the record. Raises: AuditUnavailable."""
        self._stop_timer()
        if self._task is not None:
            await asyncio.wait([self._task])
        await self._write()
        self._stop_timer()
        await super().close()

    async def _demand_head(self, events: Sequence[AuditEvent]) -> None:
        """Hold back what would run; what says how something ended is never held back."""
        if not any(event.kind is EventKind.INTENT for event in events):
            return
        await self._write()
        if self._problem is not None:
            raise AuditUnavailable(f"no head could be signed: {self._problem}")

    def _count(self, events: int) -> None:
        self._uncovered += events
        if self._uncovered >= self._settings.every_events and self._problem is None:
            self._begin()
        elif self._timer is None and self._task is None:
            self._set_timer()

    def _set_timer(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._settings.every_s, self._begin)

    def _stop_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _begin(self) -> None:
        self._stop_timer()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            await self._write()
        finally:
            self._task = None
        if self._uncovered:
            self._set_timer()

    async def _write(self) -> None:
        covered = self._uncovered
        try:
            await asyncio.to_thread(self._writer.write, self._now())
        except HeadUnwritten as error:
            self._tell(str(error))
        except BaseException as error:
            if not is_failure(error):
                raise
            self._tell(type(error).__name__)
        else:
            self._uncovered -= covered
            if self._problem is not None:
                _LOG.warning("heads of the record are signed again")
            self._problem = None

    def _tell(self, problem: str) -> None:
        if problem != self._problem:
            _LOG.error("no head of the record was signed: %s", problem)
        self._problem = problem
