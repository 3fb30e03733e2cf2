"""The record of one call as it goes: each method returns only after a durable commit (AUD-1)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from typing import Final

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import Effect
from sluicegate.gates.admission import Admitted
from sluicegate.gates.authorizing import Permitted
from sluicegate.gates.envelopes import Failure, Refused, Success
from sluicegate.gates.events import AuditEvent, Kept
from sluicegate.gates.keeping import (
    keep_answer,
    keep_arguments,
    keep_engine_text,
    keep_operator_fields,
    keep_selected,
)
from sluicegate.gates.masking import hide_in_call
from sluicegate.gates.means import Means
from sluicegate.gates.ports import HeldBack
from sluicegate.gates.recording import (
    Subject,
    record_intent,
    record_outcome,
    record_refusal,
    record_replay,
)
from sluicegate.gates.refusing import fail
from sluicegate.gates.serving import Line
from sluicegate.gates.terms import IF_INTENDED, NO_TERMS, AlreadyDone, TermRefused
from sluicegate.values.codes import Code, Stage
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

_LOG: Final = logging.getLogger("sluicegate")
_UNHEARD: Final = Rejected(stage=Stage.RETRY, code=Code.OUTCOME_UNKNOWN)


class _Waiting(Enum):
    """Whether an intent waits for its end: ``PERHAPS`` where recording it, or its end, failed.

    Either may be in the record then, and the record is asked when it is closed.
    """

    NO = auto()
    PERHAPS = auto()
    SURELY = auto()


class Journal:
    """Writes the events of one call. ``attempt`` is that of the newest intent.

    ``last_outcome`` is the event id of the last attempt's outcome.

    ``kept_s``: so long the selected data of an accepted answer is kept, as evidence or to be
    replayed; 0: not at all.

    Every method raises AuditUnavailable when the event is not certainly on disk.
    """

    def __init__(
        self, means: Means, line: Line, subject: Subject, raw: bytes, *, kept_s: float
    ) -> None:
        self._means = means
        self._kept_s = kept_s
        self._line = line
        self._subject = subject
        self._raw = raw
        self._arguments: Mapping[str, object] = {}
        self._waiting = _Waiting.NO
        self.attempt = 1
        self.last_outcome: str | None = None

    @property
    def waits(self) -> bool:
        """Whether an intent waits, or may wait, for its end."""
        return self._waiting is not _Waiting.NO

    def resume(self, permitted: Permitted) -> None:
        """Go on after an intent that was recorded before, by ``check_call``."""
        self._arguments = permitted.prepared.arguments
        self._waiting = _Waiting.SURELY

    async def refused(self, rejected: Rejected, refused: Refused) -> None:
        """Record that nothing ran."""
        if self.waits:
            closed = await self._close(self._refusal(rejected, refused, closes=True))
            if closed or await self._is_known():
                return
        await self._means.store.record([self._refusal(rejected, refused, closes=False)])

    def _refusal(self, rejected: Rejected, refused: Refused, *, closes: bool) -> AuditEvent:
        contract, retention = self._line.contract, self._means.retention
        masked = contract.masked_arguments
        return record_refusal(
            self._subject,
            hide_in_call(rejected, contract, raw=self._raw),
            refused,
            time=self._means.clock.now(),
            # A call that does not fit may hold a masked value under a name that nobody declared.
            kept=()
            if closes or masked
            else keep_arguments(self._raw, masked, retention)
            + keep_engine_text(rejected, contract, retention),
            closes_intent=closes,
            raw=self._raw,
        )

    async def _close(self, event: AuditEvent) -> bool:
        """Record what ends the intent; False where nothing was written.

        As where the intent never came into the record: its caller had gone before it was taken up,
        or a key was waited for. Or where its end is there, of which nobody was told.
        """
        return bool(await self._end(event))

    async def _end(self, event: AuditEvent) -> Sequence[str]:
        """Record what ends the intent. Where that fails it may be there, and may still wait."""
        # Before the wait: the event is written whether or not its caller still waits for it.
        before, self._waiting = self._waiting, _Waiting.NO
        terms = NO_TERMS if before is _Waiting.SURELY else IF_INTENDED
        try:
            return await self._means.store.record([event], terms=terms)
        except BaseException:
            if before is not _Waiting.NO:
                self.end_anew()
            raise

    def end_anew(self) -> None:
        """See that the end is tried again. What was tried may be there: the record is asked."""
        self._waiting = _Waiting.PERHAPS

    async def _is_known(self) -> bool:
        """Whether the record holds anything of this call."""
        events, request_id = self._means.store.events, self._subject.request_id
        return bool(await asyncio.to_thread(lambda: list(events(request_id=request_id, limit=1))))

    async def intend(self, admitted: Admitted, attempt: int) -> None:
        """Record that something is about to run; the call's text is kept with the first intent.

        Raises: TermRefused, AlreadyDone where the terms do not hold; nothing is recorded then.
        HeldBack where a write may not begin before the record has what it is owed.
        """
        if self._line.contract.effect is not Effect.READ:
            await self._means.owing.demand_no_doubt()
        adapter, permitted = self._line.adapter, admitted.permitted
        prepared = permitted.prepared
        self._arguments = prepared.arguments
        detail: dict[str, object] = {}
        if prepared.added:
            detail["added"] = list(prepared.added)
        if len(permitted.decision_ids) > 1:
            detail["decisions"] = list(permitted.decision_ids)
        if admitted.proven.event_ids:
            detail["evidence"] = list(admitted.proven.event_ids)
        event = record_intent(
            self._subject,
            prepared.arguments,
            time=self._means.clock.now(),
            attempt=attempt,
            decision_id=permitted.decision_id,
            policy_version=permitted.policy_version,
            adapter=(adapter.name, adapter.version, adapter.endpoint),
            kept=keep_arguments(
                self._raw, self._line.contract.masked_arguments, self._means.retention
            )
            if attempt == 1
            else (),
            detail=detail,
        )
        # Before the wait: a call that is cancelled in it may have left its intent in the record.
        self._waiting = _Waiting.PERHAPS
        self.attempt = attempt
        try:
            await self._means.store.record([event], terms=admitted.terms)
        except (TermRefused, AlreadyDone, HeldBack):
            self._waiting = _Waiting.NO
            raise
        self._waiting = _Waiting.SURELY

    async def replayed(self, envelope: Success, of: str) -> None:
        """Record that a kept answer, that of request ``of``, is given again; nothing ran."""
        event = record_replay(
            self._subject, envelope, time=self._means.clock.now(), detail={"replays": of}
        )
        await self._means.store.record([event])

    async def concluded(
        self,
        receipt: Receipt,
        envelope: Success | Failure,
        judged: Selected | Rejected,
        *,
        attempt: int,
        outcome_open: bool,
        pause_s: float | None,
        arguments: Mapping[str, object],
    ) -> None:
        """Record what an attempt came to, before anything of it is given to anybody."""
        detail: dict[str, object] = {}
        if pause_s is not None:
            detail["retry_in_s"] = round(pause_s, 3)
        if receipt.from_cache:
            detail["from_cache"] = True
        rejected = judged if isinstance(judged, Rejected) else None
        if not isinstance(judged, Rejected):
            *_, notes = judged
            if notes:
                detail["new_members"] = [finding.pointer for finding in notes]
        event = record_outcome(
            self._subject,
            receipt,
            envelope,
            time=self._means.clock.now(),
            attempt=attempt,
            rejected=rejected,
            outcome_open=outcome_open,
            arguments=arguments,
            kept=self._kept(receipt, judged, arguments),
            detail=detail,
        )
        try:
            (self.last_outcome,) = await self._end(event)
        except BaseException:
            if self._line.contract.effect is not Effect.READ and rejected is None:
                self._leave_open(attempt)
                # One turn of the loop puts it into the queue, before the caller can ask again.
                await asyncio.sleep(0)
            raise

    def _leave_open(self, attempt: int) -> None:
        """Owe the record, behind a success that its caller never heard, that it is open (RET-2).

        The commit of that success may still come, or may have come: a caller who was told
        OUTCOME_UNKNOWN, or nothing, would make the write again. The two events stand for a
        further attempt that nobody made, so that no outcome before them closes it. Of what an
        operator resolved meanwhile no attempt is recorded: then there is no doubt.
        """

        async def tell() -> None:
            try:
                await self._means.store.record(self._unheard(attempt), terms=IF_INTENDED)
            except TermRefused as refused:
                if refused.request_id != self._subject.request_id:
                    raise

        self._means.owing.owe_doubt(self._subject.request_id, tell)

    def _unheard(self, attempt: int) -> list[AuditEvent]:
        adapter, subject, now = self._line.adapter, self._subject, self._means.clock.now()
        nothing = Receipt(
            adapter=adapter.name, adapter_version=adapter.version, endpoint=adapter.endpoint
        )
        detail = {"unheard": attempt}
        intent = record_intent(
            subject,
            self._arguments,
            time=now,
            attempt=attempt + 1,
            decision_id="",
            adapter=(adapter.name, adapter.version, adapter.endpoint),
            kept=(),
            detail=detail,
        )
        outcome = record_outcome(
            subject,
            nothing,
            fail(
                _UNHEARD,
                tool=subject.tool,
                request_id=subject.request_id,
                errors={},
                outcome_open=True,
            ),
            time=now,
            attempt=attempt + 1,
            rejected=_UNHEARD,
            outcome_open=True,
            arguments=self._arguments,
            kept=(),
            detail=detail,
        )
        return [intent, outcome]

    def _kept(
        self, receipt: Receipt, judged: Selected | Rejected, arguments: Mapping[str, object]
    ) -> tuple[Kept, ...]:
        contract, retention = self._line.contract, self._means.retention
        kept = keep_answer(
            receipt,
            judged if isinstance(judged, Rejected) else None,
            contract,
            arguments=arguments,
            retention=retention,
            draw=self._means.draw,
        )
        if isinstance(judged, Rejected):
            return kept
        data, _, operator, _ = judged
        if not contract.masked_data:
            kept += keep_operator_fields(operator, retention)
        if self._kept_s and not receipt.from_cache:
            kept += keep_selected(data, contract.masked_data, self._kept_s)
        return kept

    async def abandoned(
        self, rejected: Rejected, failure: Failure, *, attempt: int, outcome_open: bool
    ) -> None:
        """Record that an attempt, or the next one, ended without an answer of its own."""
        adapter = self._line.adapter
        nothing = Receipt(
            adapter=adapter.name, adapter_version=adapter.version, endpoint=adapter.endpoint
        )
        event = record_outcome(
            self._subject,
            nothing,
            failure,
            time=self._means.clock.now(),
            attempt=attempt,
            rejected=hide_in_call(rejected, self._line.contract, raw=self._raw),
            outcome_open=outcome_open,
            arguments=self._arguments,
            kept=keep_engine_text(rejected, self._line.contract, self._means.retention),
            detail={"abandoned": True, **(rejected.told or {})},
        )
        await self._close(event)
