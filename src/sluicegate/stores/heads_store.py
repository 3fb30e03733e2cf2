"""A record whose head is signed as it grows: by count, by time, and when it is closed (AUD-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from sluicegate.contracts.settings import HeadsSettings
from sluicegate.gates.events import AuditEvent, begins_something
from sluicegate.gates.forwarding import AttendedStore
from sluicegate.gates.ports import AuditStore, HeldBack
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.stores.following import Following
from sluicegate.stores.heads_writer import HeadUnwritten, HeadWriter

PATIENCE_S: Final = 10.0


class HeadedStore(AttendedStore):
    """Signs off the callers' path. Bound to the event loop that records first.

    A head that cannot be written is told in the log and tried again; where heads are required,
    nothing may begin to run before the first one is written, nor while one that is due is not.
    Source: docs/decisions/0017.
    """

    def __init__(
        self,
        store: AuditStore,
        writer: HeadWriter,
        settings: HeadsSettings,
        now: Callable[[], datetime],
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(store)
        self._writer = writer
        self._settings = settings
        self._now = now
        self._patience_s = patience_s
        self._is_proven = False
        self._uncovered = 0
        self._since = 0.0  # the loop's time, not later than the first event that is uncovered
        self._timer: asyncio.TimerHandle | None = None
        self._following = Following(
            self._write,
            foreseen=HeadUnwritten,
            failed="no head of the record was signed",
            mended="heads of the record are signed again",
            then=self._go_on,
        )

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        """As ``AuditStore.record``. Raises: HeldBack also where a required head is missing.

        What says how something ended is never held back.
        """
        if self._settings.required and begins_something(events):
            await self._demand_head()
        ids = await super().record(events, terms=terms)
        if ids:
            self._count(len(ids))
        return ids

    async def _attend(self) -> None:
        self._count(1)

    async def close(self) -> None:
        """Sign what is not covered, then close the record. Raises: AuditUnavailable."""
        await self._following.rest()
        await self._begin()
        self._stop_timer()
        await super().close()

    async def _demand_head(self) -> None:
        """Return once a head is signed, where none was yet, the last one failed, or one is due."""
        if self._is_proven and self._following.problem is None and not self._is_due():
            return
        try:
            await asyncio.wait_for(asyncio.shield(self._begin()), self._patience_s)
        except TimeoutError:
            raise HeldBack(f"no head could be signed within {self._patience_s} s") from None
        if self._following.problem is not None:
            raise HeldBack(f"no head could be signed: {self._following.problem}")

    def _is_due(self) -> bool:
        if not self._uncovered:
            return False
        is_old = asyncio.get_running_loop().time() - self._since > self._settings.every_s
        return is_old or self._uncovered >= self._settings.every_events

    def _count(self, events: int) -> None:
        if not self._uncovered:
            self._since = asyncio.get_running_loop().time()
        self._uncovered += events
        self._plan()

    def _plan(self) -> None:
        """Begin a head that is due by count, or see that one comes in time."""
        if self._uncovered >= self._settings.every_events and self._following.problem is None:
            self._begin()
        elif self._timer is None and not self._following.is_running:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._settings.every_s, self._begin)

    def _stop_timer(self) -> None:
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _begin(self) -> asyncio.Task[None]:
        self._stop_timer()
        return self._following.begin()

    def _go_on(self) -> None:
        if self._uncovered:
            self._plan()

    async def _write(self) -> None:
        # What is counted by now stands in the record that is read; what comes meanwhile may not.
        covered, began = self._uncovered, asyncio.get_running_loop().time()
        await asyncio.to_thread(self._writer.write, self._now())
        self._uncovered -= covered
        self._since = began
        self._is_proven = True
