"""A record whose idempotency keys are shared with gates that have other records (ACC-4).

The key is reserved in Redis before the intent is recorded, and marked as dispatched after it and
before anything is sent. So a key that was only reserved was never sent, and whoever reserved it and
came too late finds that it is another's. Source: docs/decisions/0020.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, TypeVar

from sluicegate.gates.debts import Debts
from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.failures import is_failure, tell_failure
from sluicegate.gates.forwarding import ForwardingStore
from sluicegate.gates.ports import AuditStore, AuditUnavailable, HeldBack
from sluicegate.gates.record_queries import AnswerQuery, CallQuery
from sluicegate.gates.terms import (
    NO_TERMS,
    Accepted,
    AlreadyDone,
    Reservation,
    TermRefused,
    Terms,
)
from sluicegate.stores.custody import SealBroken
from sluicegate.stores.encoding import hmac_of_arguments
from sluicegate.stores.keys import AuditKeys
from sluicegate.stores.record_terms import hide_reservation
from sluicegate.stores.shared_keys_fates import last_of
from sluicegate.stores.shared_keys_secrets import Bond, derive_secrets, open_answer
from sluicegate.stores.shared_keys_table import Claim, KeyStoreUnavailable, KeyTable, Said
from sluicegate.stores.shared_keys_telling import Telling
from sluicegate.values.codes import Code

_LOG: Final = logging.getLogger("sluicegate")
_REMEMBERED: Final = 100_000
"""As many as may be in flight. Whose claim is forgotten is settled when its key is met again."""

_DOUBTED: Final = 1_000
"""Of so many calls that ended last it may still be recorded that nobody heard of their success."""

V = TypeVar("V")


class SharedKeysStore(ForwardingStore):
    """Two fences: the key in Redis, for every gate, and the record's own, in the intent's commit.

    What became of a call is what the record says of it; Redis is told after the commit. Where that
    fails the answer stands, and the key stays dispatched until Redis takes it: it is told again.
    """

    def __init__(
        self, store: AuditStore, table: KeyTable, keys: AuditKeys, now: Callable[[], datetime]
    ) -> None:
        super().__init__(store)
        self._table = table
        self._keys = keys
        self._secrets = derive_secrets(keys)
        self._telling = Telling(store, table, self._secrets, now)
        self._claims: dict[str, Claim] = {}  # of calls that have no end yet
        self._ended: dict[str, Claim] = {}  # of calls whose end may still be doubted
        self._debts: Debts[Claim] = Debts(
            self._pay, most=_REMEMBERED, silent=KeyStoreUnavailable, say=_say_unsettled
        )
        self._met: dict[str, str] = {}  # done requests, and the entries that they hold

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        """As ``AuditStore.record``. Raises: HeldBack where no key could be reserved.

        Where the key was lost to another meanwhile, AuditUnavailable after the commit of the
        intent: whoever asked for it closes it, and nothing is sent.
        """
        if terms.reservation is None:
            try:
                ids = await super().record(events, terms=terms)
            except BaseException:
                self._owe_ends(events)  # they may be in the record, or come into it yet
                raise
            await (self._tell(events) if ids else self._give_back_all(events))
            return ids
        intent = next(event for event in events if event.kind is EventKind.INTENT)
        claim = self._claim(
            terms.reservation,
            request_id=intent.request_id,
            attempt=intent.attempt,
            arguments=intent.arguments if isinstance(intent.arguments, Mapping) else {},
        )
        _remember(self._claims, claim.request_id, claim)
        await self._reserve(claim, intent.time)
        try:
            ids = await super().record(events, terms=terms)
        except (TermRefused, AlreadyDone, HeldBack):
            await self._give_back(claim)
            raise
        if not await self._table.dispatch(claim):
            raise KeyStoreUnavailable(
                "the key was taken over before anything was sent: this gate was too slow"
            )
        self._debts.begin()
        return ids

    async def demand_key(self, reservation: Reservation, call: CallQuery, *, now: datetime) -> None:
        """As ``AuditStore.demand_key``, in Redis and in the record."""
        claim = self._claim(
            reservation, request_id=call.request_id, attempt=1, arguments=call.arguments
        )
        try:
            await self._judge(claim, now, keep=False)
        except AuditUnavailable as error:
            raise HeldBack(str(error)) from error
        await super().demand_key(reservation, call, now=now)

    async def answer_of(self, query: AnswerQuery, *, now: datetime) -> Accepted | None:
        """As ``AuditStore.answer_of``; of the call of another gate what that one sealed."""
        kept = await super().answer_of(query, now=now)
        entry = self._met.get(query.request_id)
        if kept is not None or entry is None or await self._telling.is_own(query.request_id):
            return kept
        try:
            sealed = await self._table.read_sealed(entry)
        except AuditUnavailable as error:
            raise HeldBack(str(error)) from error
        if sealed is None:
            return None
        bond = Bond(entry=entry, request_id=query.request_id, tool=query.tool, caller=query.caller)
        try:
            return open_answer(self._secrets, bond, sealed, now)
        except SealBroken as error:
            raise HeldBack(str(error)) from error

    async def purge(
        self,
        *,
        now: datetime,
        who: str,
        refs: Sequence[str] | None = None,
        expired_by: datetime | None = None,
    ) -> int:
        """As ``AuditStore.purge``; what is destroyed no other gate gives again either.

        Raises: AuditUnavailable also where Redis could not be told: the act is recorded then, and
        another purge tells it.
        """
        count = await super().purge(now=now, who=who, refs=refs, expired_by=expired_by)
        await self.forget_destroyed(now)
        return count

    async def forget_destroyed(self, now: datetime) -> None:
        """Take out of Redis the answers that the record gives no more; the whole record is read.

        Raises: AuditUnavailable.
        """
        await self._telling.forget_destroyed(now)

    async def demand_ring(self) -> None:
        """See that Redis answers and is the one that this began with. Raises: AuditUnavailable."""
        await self._table.demand_ring()

    async def reconcile(self) -> None:
        """Tell Redis what the record knows of the calls that are open there.

        Raises: AuditUnavailable.
        """
        for request_id in await self._table.list_open():
            await self._telling.settle(request_id)

    async def settle(self, request_id: str) -> bool:
        """Tell Redis what the record says of a request; False where that is nothing yet.

        Raises: AuditUnavailable.
        """
        return await self._telling.settle(request_id)

    async def close(self) -> None:
        """Tell Redis what it was not told, then close the record. Raises: AuditUnavailable."""
        await self._debts.close()
        try:
            await super().close()
        finally:
            await self._table.close()

    def _claim(
        self,
        reservation: Reservation,
        *,
        request_id: str,
        attempt: int,
        arguments: Mapping[str, object],
    ) -> Claim:
        hidden = hide_reservation(reservation, self._keys)
        return Claim(
            entry=self._secrets.name_entry(hidden.key),
            request_id=request_id,
            attempt=attempt,
            arguments=self._secrets.mark_arguments(hmac_of_arguments(self._keys, arguments)),
            runs_until=reservation.runs_until,
            kept_until=reservation.kept_until,
        )

    async def _reserve(self, claim: Claim, now: datetime) -> None:
        """Reserve the key. Raises: TermRefused, AlreadyDone, HeldBack."""
        try:
            await self._judge(claim, now, keep=True)
        except (TermRefused, AlreadyDone):
            self._forget(claim)
            raise
        except AuditUnavailable as error:
            # The reply may be what was lost: then the key is held for nothing until it is freed.
            self._owe(claim)
            self._forget(claim)
            raise HeldBack(str(error)) from error

    async def _judge(self, claim: Claim, now: datetime, *, keep: bool) -> None:
        said = await self._table.reserve(claim, now, keep=keep)
        if said.word in ("running", "unknown") and await self._bring_up(said.holder):
            said = await self._table.reserve(claim, now, keep=keep)
        self._debts.begin()
        self._refuse(said, claim)

    async def _bring_up(self, request_id: str) -> bool:
        """Tell Redis what this gate knows of a key that it met; False where that is nothing."""
        if self._debts.find(request_id) is None:
            return await self._telling.settle(request_id)
        return await self._debts.pay(request_id)

    def _refuse(self, said: Said, claim: Claim) -> None:
        if said.word == "done":
            _remember(self._met, said.holder, claim.entry)
            raise AlreadyDone(said.holder)
        if said.word != "reserved":
            raise TermRefused(_REFUSALS[said.word], said.holder)

    async def _give_back(self, claim: Claim) -> None:
        """Undo a reservation whose intent was certainly not recorded; what fails is tried later."""
        self._forget(claim)
        try:
            await self._table.undo(claim)
        except BaseException as error:
            self._owe(claim)  # also where whoever waited has gone
            if not isinstance(error, AuditUnavailable):
                raise
            _LOG.warning("the key of call %s is held for nothing: %s", claim.request_id, error)

    async def _give_back_all(self, events: Sequence[AuditEvent]) -> None:
        """Of calls whose events were not written: no intent of theirs stands, or their end does."""
        for request_id in dict.fromkeys(event.request_id for event in events):
            claim = self._claims.get(request_id)
            if claim is not None:
                await self._give_back(claim)

    async def _tell(self, events: Sequence[AuditEvent]) -> None:
        """Tell Redis how far the calls of ``events`` came, which are in the record by now.

        The answer stands whether or not that succeeds: what fails is tried later.
        """
        for claim, last in self._ends(events):
            self._claims.pop(claim.request_id, None)
            _remember(self._ended, claim.request_id, claim, _DOUBTED)
            try:
                await self._telling.tell(claim, last)
                self._debts.begin()
            except BaseException as error:
                self._owe(claim)  # also where whoever waited has gone
                if not is_failure(error):
                    raise
                _LOG.warning(
                    "call %s: its key stays as it was until Redis is told again: %s",
                    claim.request_id,
                    tell_failure(error),
                )

    def _owe(self, claim: Claim) -> None:
        self._debts.owe(claim.request_id, claim)

    def _owe_ends(self, events: Sequence[AuditEvent]) -> None:
        for claim, _ in self._ends(events):
            self._owe(claim)

    def _ends(self, events: Sequence[AuditEvent]) -> list[tuple[Claim, AuditEvent]]:
        """Return the claims of the calls that ``events`` end, each with what stands last of it."""
        found = []
        for request_id in dict.fromkeys(event.request_id for event in events):
            claim = self._claims.get(request_id) or self._ended.get(request_id)
            last = last_of(events, request_id)
            if claim is not None and last is not None and last.kind is not EventKind.INTENT:
                found.append((claim, last))
        return found

    def _forget(self, claim: Claim) -> None:
        """Of a call that was sent before an outcome is still to come."""
        if claim.attempt == 1:
            self._claims.pop(claim.request_id, None)

    async def _pay(self, claim: Claim) -> bool:
        """Settle what the record says, or give back what was only reserved; False: neither yet."""
        return await self._telling.settle(claim.request_id) or await self._table.undo(claim)


def _say_unsettled(count: int) -> str:
    keys = "key is" if count == 1 else "keys are"
    return f"{count} {keys} not settled in the key store yet"


def _remember(among: dict[str, V], name: str, value: V, most: int = _REMEMBERED) -> None:
    among[name] = value
    if len(among) > most:
        del among[next(iter(among))]


_REFUSALS: Final = {
    "reused": Code.KEY_REUSED,
    "running": Code.IN_PROGRESS,
    "unknown": Code.OUTCOME_UNKNOWN,
}
