"""A record and a second sink: an event counts when both have it, or when one of them has."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final

from sluicegate.contracts.settings import SinksRule
from sluicegate.gates.events import AuditEvent, begins_something
from sluicegate.gates.forwarding import AttendedStore
from sluicegate.gates.ports import AuditStore, AuditUnavailable, HeldBack
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.stores.following import Following
from sluicegate.stores.second_sink import SecondSink, SinkUnwritten

PATIENCE_S: Final = 10.0
_LOG: Final = logging.getLogger("sluicegate")


class TwoSinksStore(AttendedStore):
    """``all``: no answer before both have the event. ``any``: one of them is enough.

    With ``any`` the second one takes alone only what has no terms: whether a write is open, a quota
    is spent or a key is held is judged in the record's own commit. Source: docs/decisions/0018.
    """

    def __init__(
        self,
        store: AuditStore,
        sink: SecondSink,
        rule: SinksRule,
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        super().__init__(store)
        self._sink = sink
        self._rule = rule
        self._patience_s = patience_s
        self._asked = 0
        self._copied = 0
        self._taking: dict[str, asyncio.Task[Sequence[str]]] = {}  # intents, by their request
        self._following = Following(
            self._copy,
            foreseen=SinkUnwritten,
            failed="the second sink took no event",
            then=self._go_on,
        )

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        """As ``AuditStore.record``. Raises: AuditUnavailable also for a sink that counts.

        With ``all`` that may be after the record's commit: an intent is then closed by whoever
        asked for it. HeldBack: before it.
        """
        if self._rule == "all" and self._following.problem is not None and begins_something(events):
            try:
                await self._follow()  # before the commit, so that no intent is left open
            except AuditUnavailable as error:
                raise HeldBack(str(error)) from error
        if terms.if_intended and await self._has_taken(events):
            terms = NO_TERMS  # the record knows no intent that the sink took alone
        try:
            ids = await super().record(events, terms=terms)
        except AuditUnavailable as error:
            if self._rule == "all" or terms != NO_TERMS:
                raise
            ids = await self._take(events, error)
        else:
            await self._follow()
        if not begins_something(events):
            for event in events:
                self._taking.pop(event.request_id, None)  # what it began has its end
        return ids

    async def _attend(self) -> None:
        """With ``all`` the act stands in both before it yields; with ``any`` the sink follows."""
        await self._follow()

    async def close(self) -> None:
        """Copy what is left, then close the record. Raises: AuditUnavailable."""
        self._asked += 1
        try:
            await self._catch_up()
        finally:
            await super().close()

    async def _follow(self) -> None:
        """See that the sink has what the record has; with ``any`` without waiting for it."""
        self._asked += 1
        if self._rule == "any":
            self._following.begin()
            return
        try:
            await asyncio.wait_for(self._catch_up(), self._patience_s)
        except TimeoutError:
            raise AuditUnavailable(
                f"the second sink took nothing within {self._patience_s} s"
            ) from None
        if self._following.problem is not None:
            raise AuditUnavailable(f"the second sink: {self._following.problem}")

    async def _catch_up(self) -> None:
        """One copying serves all that wait; who asks while it runs waits for the next."""
        mine = self._asked
        while self._copied < mine:
            await asyncio.shield(self._following.begin())

    async def _copy(self) -> None:
        serves = self._asked
        try:
            await asyncio.to_thread(self._sink.copy)
        finally:
            self._copied = serves

    def _go_on(self) -> None:
        if self._asked > self._copied and self._following.problem is None:
            self._following.begin()  # what came meanwhile may be the last for a long time

    async def _take(self, events: Sequence[AuditEvent], error: AuditUnavailable) -> Sequence[str]:
        """Let the sink have alone what the record cannot; it ends whether or not somebody waits."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._sink.take, events))
        taking.add_done_callback(_hear)
        if begins_something(events):
            self._taking |= dict.fromkeys((event.request_id for event in events), taking)
        try:
            ids = await asyncio.shield(taking)
        except SinkUnwritten as unwritten:
            self._following.tell(str(unwritten))
            raise error from unwritten
        _LOG.error("the record took no event, the second sink did: %s", error)
        return ids

    async def _has_taken(self, events: Sequence[AuditEvent]) -> bool:
        """Whether the sink has alone what ``events`` close, once it has or could not.

        It is known until their end stands: an end that failed is tried again.
        """
        for name in {event.request_id for event in events}:
            taking = self._taking.get(name)
            if taking is not None:
                await asyncio.wait([taking])
                return taking.exception() is None
        return False


def _hear(taking: asyncio.Task[Sequence[str]]) -> None:
    """Whoever waited may have gone: that it failed is asked for when its intent is closed."""
    if not taking.cancelled():
        taking.exception()
