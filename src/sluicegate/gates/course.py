"""The course of one call: from its text to its answer, with every attempt recorded.

Each attempt climbs the call ladder again, records its intent, fetches new bytes, climbs the whole
result ladder, and records its outcome before anything is answered. Whatever is unexpected ends
as a closed failure. Source: SPEC ARG-5, RES-9, RET-1 to RET-3, AUD-1.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Generic, TypeVar, cast

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import Effect
from sluicegate.gates.admission import admit
from sluicegate.gates.answers import Answer
from sluicegate.gates.authorizing import DECISION_LIFETIME_S, Permitted, authorize
from sluicegate.gates.envelopes import Failure, Success
from sluicegate.gates.events import Kept
from sluicegate.gates.keeping import keep_answer, keep_arguments
from sluicegate.gates.means import Means
from sluicegate.gates.ports import AuditUnavailable, Dispatch, Notice
from sluicegate.gates.recording import Subject, record_intent, record_outcome, record_refusal
from sluicegate.gates.refusing import fail, refuse
from sluicegate.gates.retrying import Tally, is_outcome_open, may_retry, pause_s
from sluicegate.gates.serving import Line
from sluicegate.values.codes import CODES, Actor, AgentCode, Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.instants import instant_of
from sluicegate.values.json import JsonValue
from sluicegate.values.receipts import Fault, Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

T = TypeVar("T")

_LOG: Final = logging.getLogger("sluicegate")
_GRACE_S: Final = 1.0
"""An adapter keeps its own deadline; the gate's watchdog bites this much later."""

_BAD_ARGUMENT: Final = Finding(
    code=Code.FORMAT,
    hint="a value of the arguments cannot stand in the upstream's address or command: "
    "empty, '.', '..' and a leading '-' are refused",
)


class Course(Generic[T]):
    """One call. Not shared, not used twice."""

    def __init__(
        self,
        means: Means,
        line: Line,
        subject: Subject,
        raw: bytes,
        *,
        deadline: float,
        decode: Callable[[JsonValue], T] | None = None,
    ) -> None:
        self._means = means
        self._line = line
        self._subject = subject
        self._raw = raw
        self._deadline = deadline
        self._decode = decode
        self._tally = Tally()
        self._permitted: Permitted | None = None
        self._dispatch: Dispatch | None = None
        self._intended = False  # an intent of the running attempt stands in the record
        self._sent = False  # something was handed to an adapter
        self._open = False  # a write was sent whose effect is not known

    async def run(self) -> Answer[T]:
        """Return the answer. Raises only asyncio.CancelledError."""
        return await self._closed(self._run)

    async def ask(self) -> Permitted | Answer[T]:
        """Climb the call ladder and record the intent; the host fetches for itself (ARG-9)."""
        try:
            permitted = await self._permit()
            if not isinstance(permitted, Rejected):
                permitted = await self._start(permitted)
            if not isinstance(permitted, Rejected):
                self._tally.attempts = 1
                return permitted
            refused = permitted
            return await self._closed(lambda: self._stop(refused))
        except AuditUnavailable as error:
            return self._without_record(error)
        except Exception as error:  # noqa: BLE001  (RES-9: closed, audited where possible)
            return await self._unexpected(error)

    async def answer(self, permitted: Permitted, receipt: Receipt) -> Answer[T]:
        """Climb the result ladder with what the host fetched, and record the outcome (ARG-9)."""
        self._tally.attempts = 1
        self._intended = self._sent = True

        async def conclude() -> Answer[T]:
            answer = await self._conclude(receipt, permitted, last=True)
            return cast("Answer[T]", answer)

        return await self._closed(conclude)

    async def _run(self) -> Answer[T]:
        while True:
            permitted = await self._permit()
            if isinstance(permitted, Rejected):
                return await self._stop(permitted)
            started = await self._start(permitted)
            if isinstance(started, Rejected):
                return await self._stop(started)
            receipt = await self._fetch(started)
            if receipt.fault is Fault.BAD_ARGUMENT and not self._open:
                self._sent = False
                return await self._stop(Rejected.because(Stage.CONFORM, _BAD_ARGUMENT))
            answer = await self._conclude(receipt, started)
            if answer is not None:
                return answer

    async def _permit(self) -> Permitted | Rejected:
        prepared = self._line.call.climb(self._raw, self._subject.caller)
        if isinstance(prepared, Rejected):
            return prepared
        self._means.repetition.forget(self._subject.caller, self._subject.tool)
        return await authorize(
            prepared,
            self._line.contract,
            self._subject.caller,
            self._means.authorizer,
            self._means.clock,
        )

    async def _start(self, permitted: Permitted) -> Permitted | Rejected:
        """Admit, record the intent, and take an old decision anew; then something may run."""
        means, contract = self._means, self._line.contract
        if self._remaining_s() <= 0:
            return Rejected(stage=Stage.RETRY, code=Code.BUDGET_SPENT)
        admitted = await admit(
            permitted, contract, self._subject.caller, store=means.store, quota=means.quota
        )
        if isinstance(admitted, Rejected):
            return admitted
        adapter, prepared = self._line.adapter, permitted.prepared
        first = self._tally.attempts == 0
        intent = record_intent(
            self._subject,
            prepared.arguments,
            time=means.clock.now(),
            attempt=self._tally.attempts + 1,
            decision_id=permitted.decision_id,
            adapter=(adapter.name, adapter.version, adapter.endpoint),
            kept=self._kept_arguments() if first else (),
            detail={"added": list(prepared.added)} if prepared.added else {},
        )
        await means.store.record([intent])
        self._intended = True
        if means.clock.monotonic() - permitted.decided_at > DECISION_LIFETIME_S:
            again = await self._permit()
            if isinstance(again, Rejected):
                return again
            permitted = again
        self._permitted = permitted
        return permitted

    async def _fetch(self, permitted: Permitted) -> Receipt:
        contract, adapter = self._line.contract, self._line.adapter
        self._tally.attempts += 1
        timeout_s = min(contract.fetch.timeout_s, max(self._remaining_s(), 0.001))
        dispatch = self._dispatch = Dispatch(
            tool=contract.tool,
            request_id=self._subject.request_id,
            arguments=permitted.prepared.arguments,
            arguments_text=permitted.prepared.text,
            caller=self._subject.caller,
            attempt=self._tally.attempts,
            timeout_s=timeout_s,
            max_bytes=contract.limits.max_bytes,
            contract_digest=contract.fingerprints.digest,
            idempotency_key=self._subject.call_id or self._subject.request_id,
        )
        self._sent = True
        self._open = contract.effect is not Effect.READ
        try:
            async with asyncio.timeout(timeout_s + _GRACE_S):
                return await adapter.fetch(dispatch)
        except TimeoutError:
            return Receipt(
                adapter=adapter.name,
                adapter_version=adapter.version,
                endpoint=adapter.endpoint,
                fault=Fault.TIMEOUT,
            )

    async def _conclude(
        self, receipt: Receipt, permitted: Permitted, *, last: bool = False
    ) -> Answer[T] | None:
        """Judge the receipt and record the outcome; None means that another attempt follows."""
        means, contract = self._means, self._line.contract
        now = means.clock.now()
        request = self.request(permitted)
        judged = self._line.result.climb(receipt, request, instant_of(now))
        answer: Answer[T] | None = None
        pause = None
        if isinstance(judged, Selected):
            answer = self._succeed(judged)
            rejected, self._open = None, False
            envelope: Success | Failure = cast("Success", answer.envelope)
        else:
            rejected = judged
            self._open = is_outcome_open(contract, receipt, rejected)
            envelope = self._failure(rejected)
            pause = None if last else self._pause_s(receipt, rejected)
        detail: dict[str, object] = {} if pause is None else {"retry_in_s": round(pause, 3)}
        if receipt.from_cache:
            detail["from_cache"] = True
        if isinstance(judged, Selected) and judged.notes:
            detail["new_members"] = [finding.pointer for finding in judged.notes]
        outcome = record_outcome(
            self._subject,
            receipt,
            envelope,
            time=now,
            attempt=self._tally.attempts,
            rejected=rejected,
            outcome_open=self._open,
            arguments=permitted.prepared.arguments,
            kept=self._kept_answer(receipt, judged),
            detail=detail,
        )
        await means.store.record([outcome])
        self._intended = False
        self._notify(judged)
        if answer is not None:
            if self._dispatch is not None:
                await self._line.adapter.keep(self._dispatch, receipt)
            return answer
        if pause is None:
            return Answer(envelope=envelope)
        await means.clock.sleep(pause)
        return None

    def request(self, permitted: Permitted) -> Request:
        """Return the question that an answer must be the answer to."""
        return Request(
            tool=self._subject.tool,
            request_id=self._subject.request_id,
            arguments=permitted.prepared.arguments,
            caller=self._subject.caller,
        )

    def _succeed(self, selected: Selected) -> Answer[T]:
        envelope = Success(
            tool=self._subject.tool, request_id=self._subject.request_id, data=selected.data
        )
        typed = None if self._decode is None else self._decode(selected.data)
        return Answer(envelope=envelope, display=selected.display, typed=typed)

    def _pause_s(self, receipt: Receipt, rejected: Rejected) -> float | None:
        tally, contract = self._tally, self._line.contract
        if rejected.code is Code.UPSTREAM_DENIED:
            tally.denials += 1
        if rejected.stage is not Stage.FETCH:
            tally.refused_answers += 1
        declared = fail(
            rejected,
            tool=contract.tool,
            request_id=self._subject.request_id,
            errors=contract.errors,
            outcome_open=False,
        )
        if not may_retry(contract, tally, receipt, rejected, declared.code):
            return None
        return pause_s(
            tally.attempts,
            retry_after_s=receipt.retry_after_s,
            remaining_s=self._remaining_s(),
            jitter=self._means.draw,
        )

    def _failure(self, rejected: Rejected) -> Failure:
        return fail(
            rejected,
            tool=self._subject.tool,
            request_id=self._subject.request_id,
            errors=self._line.contract.errors,
            outcome_open=self._open,
        )

    async def _stop(self, rejected: Rejected) -> Answer[T]:
        """End a call before, or between, dispatches."""
        means, subject = self._means, self._subject
        if self._sent:
            failure = self._failure(rejected)
            event = record_outcome(
                subject,
                self._nothing_received(),
                failure,
                time=means.clock.now(),
                attempt=self._tally.attempts + 1,
                rejected=rejected,
                outcome_open=self._open,
                arguments=self._arguments(),
                kept=(),
                detail={},
            )
            await means.store.record([event])
            return Answer(envelope=failure)
        refused = refuse(rejected, tool=subject.tool, request_id=subject.request_id)
        if refused.code in (AgentCode.INVALID_ARGUMENTS, AgentCode.CHECK_FAILED):
            if means.repetition.is_repeated(subject.caller, subject.tool, self._raw):
                rejected = Rejected(
                    stage=Stage.CONFORM,
                    code=Code.REPEATED_INVALID_CALL,
                    findings=rejected.findings,
                )
                refused = refuse(rejected, tool=subject.tool, request_id=subject.request_id)
        event = record_refusal(
            subject,
            rejected,
            refused,
            time=means.clock.now(),
            kept=() if self._intended else self._kept_arguments() + self._kept_text(rejected),
            closes_intent=self._intended,
        )
        await means.store.record([event])
        self._intended = False
        return Answer(envelope=refused)

    async def _closed(self, work: Callable[[], Awaitable[Answer[T]]]) -> Answer[T]:
        """Run ``work``; every way out but an answer or a cancellation is a closed failure."""
        try:
            return await work()
        except asyncio.CancelledError:
            self._note_abandoned()
            raise
        except AuditUnavailable as error:
            return self._without_record(error)
        except Exception as error:  # noqa: BLE001  (RES-9: closed, audited where possible)
            return await self._unexpected(error)

    def _without_record(self, error: AuditUnavailable) -> Answer[T]:
        """No event, no answer (AUD-1)."""
        _LOG.error("call %s: the record is unavailable: %s", self._subject.request_id, error)
        return self._envelope_only(Rejected(stage=Stage.AUDIT, code=Code.AUDIT_UNAVAILABLE))

    async def _unexpected(self, error: Exception) -> Answer[T]:
        # The text of an unexpected exception may quote an answer: it goes to custody only.
        _LOG.error(
            "call %s: unexpected %s, closed as INTERNAL",
            self._subject.request_id,
            type(error).__name__,
        )
        rejected = Rejected(stage=Stage.INTERNAL, code=Code.INTERNAL, engine_message=f"{error!r}")
        try:
            if self._sent:
                await self._record_abandoned(rejected)
                return self._envelope_only(rejected)
            return await self._stop(rejected)
        except Exception as failed:  # noqa: BLE001  (the record failed as well: still closed)
            _LOG.error("call %s: not recorded: %s", self._subject.request_id, type(failed).__name__)
            return self._envelope_only(rejected)

    def _envelope_only(self, rejected: Rejected) -> Answer[T]:
        if self._sent:
            return Answer(envelope=self._failure(rejected))
        return Answer(
            envelope=refuse(rejected, tool=self._subject.tool, request_id=self._subject.request_id)
        )

    def _note_abandoned(self) -> None:
        """A cancelled call still closes its intent, without its caller."""
        if self._intended:
            rejected = Rejected(stage=Stage.FETCH, code=Code.UPSTREAM_TIMEOUT)
            self._means.finish_later(self._record_abandoned(rejected))

    async def _record_abandoned(self, rejected: Rejected) -> None:
        if not self._intended:
            return
        event = record_outcome(
            self._subject,
            self._nothing_received(),
            self._failure(rejected),
            time=self._means.clock.now(),
            attempt=max(self._tally.attempts, 1),
            rejected=rejected,
            outcome_open=self._open,
            arguments=self._arguments(),
            kept=self._kept_text(rejected),
            detail={"abandoned": True},
        )
        await self._means.store.record([event])
        self._intended = False

    def _notify(self, judged: Selected | Rejected) -> None:
        """Tell the owner of drift: a refused answer, or a member that is new."""
        contract = self._line.contract
        if isinstance(judged, Selected):
            if not judged.notes:
                return
            code, stage, findings = Code.UPSTREAM_NEW_MEMBER, Stage.NARROW, judged.notes
        else:
            drifted = judged.stage not in (Stage.FETCH, Stage.INTERNAL, Stage.AUDIT)
            if not drifted and CODES[judged.code].actor is not Actor.OWNER:
                return
            code, stage, findings = judged.code, judged.stage, judged.findings
        self._means.notifier.notify(
            Notice(
                owner=contract.owner,
                tool=contract.tool,
                contract_version=contract.version,
                code=str(code),
                stage=str(stage),
                request_id=self._subject.request_id,
                time=self._means.clock.now(),
                findings=findings,
            )
        )

    def _remaining_s(self) -> float:
        return self._deadline - self._means.clock.monotonic()

    def _arguments(self) -> Mapping[str, object]:
        return {} if self._permitted is None else self._permitted.prepared.arguments

    def _kept_arguments(self) -> tuple[Kept, ...]:
        masked = self._line.contract.masked_arguments
        return keep_arguments(self._raw, masked, self._means.retention)

    def _kept_text(self, rejected: Rejected) -> tuple[Kept, ...]:
        days = self._means.retention.rejected_days
        if rejected.engine_message is None or days is None or self._line.contract.masked_arguments:
            return ()
        text = rejected.engine_message.encode("utf-8", "backslashreplace")
        return (Kept(kind="engine", content=text, keep_days=days),)

    def _kept_answer(self, receipt: Receipt, judged: Selected | Rejected) -> tuple[Kept, ...]:
        return keep_answer(
            receipt,
            judged if isinstance(judged, Rejected) else None,
            self._line.contract.masked_data,
            retention=self._means.retention,
            draw=self._means.draw,
        )

    def _nothing_received(self) -> Receipt:
        adapter = self._line.adapter
        return Receipt(
            adapter=adapter.name, adapter_version=adapter.version, endpoint=adapter.endpoint
        )
