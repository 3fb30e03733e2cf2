"""What the key store is told of a call: what the record says of it, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.ports import AuditStore
from sluicegate.gates.record_queries import AnswerQuery
from sluicegate.stores.shared_keys_fates import (
    Became,
    Fate,
    find_end_of_key,
    find_fate,
    find_selected,
    judge_outcome,
)
from sluicegate.stores.shared_keys_scripts import SPOKEN
from sluicegate.stores.shared_keys_secrets import Bond, SharedSecrets, seal_answer
from sluicegate.stores.shared_keys_table import Claim, KeyTable
from sluicegate.values.callers import Caller


class Telling:
    """Between one record and the key store. Each method raises AuditUnavailable for either."""

    def __init__(
        self,
        record: AuditStore,
        table: KeyTable,
        secrets: SharedSecrets,
        now: Callable[[], datetime],
    ) -> None:
        self._record = record
        self._table = table
        self._secrets = secrets
        self._now = now

    async def tell(self, claim: Claim, last: AuditEvent) -> None:
        """Tell what the call of ``claim`` came to; ``last`` is its outcome, and in the record."""
        caller = Caller(subject=last.caller_subject or "", tenant=last.caller_tenant)
        told = replace(claim, attempt=max(claim.attempt, last.attempt))
        await self._put(told, judge_outcome(last.outcome), last.tool, caller, last.time)

    async def settle(self, request_id: str) -> bool:
        """Tell what the record says of a request; False where that is nothing yet."""
        fate = await self._find_fate(request_id)
        if fate is None or fate.became is Became.PENDING:
            return False
        claim = Claim(
            entry=self._secrets.name_entry(fate.key),
            request_id=request_id,
            attempt=fate.attempt + (SPOKEN if fate.is_operators else 0),
            arguments=self._secrets.mark_arguments(fate.arguments_hmac),
            runs_until=fate.kept_until,
            kept_until=fate.kept_until,
        )
        await self._put(claim, fate.became, fate.tool, fate.caller, self._now())
        return True

    async def is_own(self, request_id: str) -> bool:
        """Whether the record knows the request: then it alone says what is kept of it."""
        found = await asyncio.to_thread(
            lambda: list(self._record.events(request_id=request_id, limit=1))
        )
        return bool(found)

    async def forget_destroyed(self, now: datetime) -> None:
        """Tell of each request that still holds its key, and whose answer is not kept any more."""
        for asked in await asyncio.to_thread(self._list_kept, now):
            if await self._record.answer_of(asked, now=now) is None:
                await self.settle(asked.request_id)

    def _list_kept(self, now: datetime) -> list[AnswerQuery]:
        """Ask for each answer that was kept under a key that is held still."""
        held: set[str] = set()
        kept: dict[str, AnswerQuery] = {}
        for event in self._record.events():
            request_id = event.request_id
            if event.kind == EventKind.INTENT:
                until = find_end_of_key(event)
                if until is not None and until > now:
                    held.add(request_id)
            elif event.kind == EventKind.OUTCOME and request_id in held and find_selected(event):
                caller = Caller(subject=event.caller_subject or "", tenant=event.caller_tenant)
                kept[request_id] = AnswerQuery(
                    request_id=request_id, tool=event.tool, caller=caller
                )
        return list(kept.values())

    async def _put(
        self, claim: Claim, became: Became, tool: str, caller: Caller, now: datetime
    ) -> None:
        sealed = b""
        if became is Became.DONE:
            # What the record itself would answer a replay with; nothing where it keeps none.
            asked = AnswerQuery(request_id=claim.request_id, tool=tool, caller=caller)
            kept = await self._record.answer_of(asked, now=now)
            bond = Bond(entry=claim.entry, request_id=claim.request_id, tool=tool, caller=caller)
            if kept is not None:
                sealed = seal_answer(self._secrets, bond, kept, claim.kept_until)
        await self._table.settle(claim, became, now, sealed)

    async def _find_fate(self, request_id: str) -> Fate | None:
        return await asyncio.to_thread(
            lambda: find_fate(self._record.events(request_id=request_id))
        )
