"""The course of one call: from its text to its answer, with every attempt recorded.

Each attempt climbs the call ladder again, records its intent, fetches new bytes, climbs the whole
result ladder, and records its outcome before anything is answered. Every other way out is that of
``closing``. Source: SPEC ARG-5, RES-9, RET-1 to RET-3, AUD-1.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from sluicegate.checks.selection import Selected
from sluicegate.contracts.contract import Effect
from sluicegate.gates.admission import Admitted, Moment, admit, refuse_term, tell_holder
from sluicegate.gates.answers import Answer
from sluicegate.gates.authenticating import find_trust, read_keys
from sluicegate.gates.authorizing import DECISION_LIFETIME_S, Permitted, authorize
from sluicegate.gates.closing import Closing
from sluicegate.gates.drift import notice_of
from sluicegate.gates.envelopes import Failure, Refused, Success, succeed
from sluicegate.gates.evidence import NOTHING_PROVEN, Witnesses, find_staleness
from sluicegate.gates.failures import is_failure
from sluicegate.gates.journal import Journal
from sluicegate.gates.masking import hide_in_answer
from sluicegate.gates.means import Means
from sluicegate.gates.outstanding import Outstanding, PendingCall
from sluicegate.gates.places import Places
from sluicegate.gates.ports import Dispatch, Notice
from sluicegate.gates.record_queries import AnswerQuery
from sluicegate.gates.recording import Subject
from sluicegate.gates.refusing import fail
from sluicegate.gates.retrying import hosted_s, is_outcome_open, may_retry, pause_s
from sluicegate.gates.serving import Line
from sluicegate.gates.terms import AlreadyDone, TermRefused
from sluicegate.values.codes import Code, Stage
from sluicegate.values.findings import Finding
from sluicegate.values.json import JsonValue
from sluicegate.values.receipts import Fault, Receipt
from sluicegate.values.rejections import Rejected
from sluicegate.values.requests import Request

_LOG: Final = logging.getLogger("sluicegate")
_GRACE_S: Final = 1.0
"""An adapter keeps its own deadline; the gate's watchdog bites this much later."""

_BAD_ARGUMENT: Final = Rejected.because(
    Stage.CONFORM,
    Finding(
        code=Code.FORMAT,
        hint="a value of the arguments cannot stand in the upstream's address or command: "
        "empty, '.', '..' and a leading '-' are refused",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """``deadline`` (monotonic) ends the call; ``witnesses`` may be asked for its evidence;
    ``kept_s``: so long its selected data is kept once it is accepted."""

    deadline: float
    witnesses: Witnesses
    kept_s: float


class Course:
    """One call. Not shared, not used twice."""

    def __init__(
        self,
        means: Means,
        line: Line,
        subject: Subject,
        raw: bytes,
        bounds: Bounds,
    ) -> None:
        self._means = means
        self._line = line
        self._subject = subject
        self._raw = raw
        self._deadline = bounds.deadline
        self._runs_until = bounds.deadline  # later where the host fetches: what is recorded of it
        self._witnesses = bounds.witnesses
        self._journal = Journal(means, line, subject, raw, kept_s=bounds.kept_s)
        self._closing = Closing(means, line, subject, raw, self._journal)
        self._progress = self._closing.progress
        self._tally = self._progress.tally

    async def run(self) -> Answer[JsonValue]:
        """Return the answer. Raises only asyncio.CancelledError."""
        return await self._ended(self._run)

    async def give_up(self, rejected: Rejected) -> Answer[JsonValue]:
        """End a call that found no place to run in."""
        return await self._ended(lambda: self._stop(rejected))

    async def ask(self, gate: object) -> Outstanding | Answer[JsonValue]:
        """Climb the call ladder and record the intent; the host fetches for itself (ARG-9).

        ``gate`` alone will take the answer. What the contract grants for fetching runs from here,
        and never past the end that the intent tells: behind that the call is over for everybody.
        """
        granted_s, monotonic = hosted_s(self._line.contract), self._means.clock.monotonic

        async def climb() -> Outstanding | Answer[JsonValue]:
            self._runs_until = max(self._deadline, monotonic() + granted_s)
            started = await self._start()
            if isinstance(started, Rejected):
                return await self._stop(started)
            if isinstance(started, Answer):
                return started
            self._closing.end_row()
            return Outstanding(
                _gate=gate,
                _call=PendingCall(
                    line=self._line,
                    subject=self._subject,
                    admitted=started,
                    deadline=min(self._runs_until, monotonic() + granted_s),
                ),
            )

        ended = await self._closing.run(climb)
        return Answer(envelope=ended) if isinstance(ended, Failure | Refused) else ended

    async def answer(
        self, admitted: Admitted, receipt: Receipt, places: Places
    ) -> Answer[JsonValue]:
        """Climb the result ladder with what the host fetched, and record the outcome (ARG-9).

        What comes after the deadline is no answer. The wait for one of ``places`` comes after
        that question, and ends with the calls that hold them.
        """
        permitted = admitted.permitted
        self._tally.attempts = 1
        self._journal.resume(permitted)
        self._progress.sent = True
        self._progress.open = self._line.contract.effect is not Effect.READ

        async def conclude() -> Answer[JsonValue]:
            received = receipt
            if received.fault is None and self.remaining_s() < 0:
                received = replace(received, fault=Fault.TIMEOUT)
            await places.take()
            try:
                answer = await self._conclude(received, permitted, pause=None)
            finally:
                places.give_back()
            assert answer is not None  # noqa: S101  (without a pause there is no other attempt)
            return answer

        return await self._ended(conclude)

    async def _ended(self, work: Callable[[], Awaitable[Answer[JsonValue]]]) -> Answer[JsonValue]:
        ended = await self._closing.run(work)
        return Answer(envelope=ended) if isinstance(ended, Failure | Refused) else ended

    async def _stop(self, rejected: Rejected) -> Answer[JsonValue]:
        return Answer(envelope=await self._closing.stop(rejected))

    async def _run(self) -> Answer[JsonValue]:
        while True:
            started = await self._start()
            if isinstance(started, Rejected):
                return await self._stop(started)
            if isinstance(started, Answer):
                return started
            dispatch = self._dispatch(started)
            receipt = await self._fetch(dispatch)
            if receipt.fault is Fault.BAD_ARGUMENT and self._tally.attempts == 1:
                self._progress.sent = self._progress.open = (
                    False  # refused before anything was sent
                )
                return await self._stop(_BAD_ARGUMENT)
            self._closing.end_row()
            answer = await self._conclude(receipt, started.permitted, pause=self._pause_s)
            if answer is None:
                continue
            if isinstance(answer.envelope, Success):
                await self._keep(dispatch, receipt)
            return answer

    async def _keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Let the cache keep what was accepted; the answer is on record and stays as it is."""
        try:
            await self._line.adapter.keep(dispatch, receipt)
        except BaseException as error:
            if not is_failure(error):
                raise
            self._warn("the accepted answer was not kept", error)

    def _notify(self, notice: Notice | None) -> None:
        """Tell the owner of drift; as with keeping, what this raises changes no answer."""
        try:
            if notice is not None:
                self._means.notifier.notify(notice)
        except BaseException as error:
            if not is_failure(error):
                raise
            self._warn("the owner was not notified", error)

    def _warn(self, what: str, error: BaseException) -> None:
        _LOG.warning("call %s: %s: %s", self._subject.request_id, what, type(error).__name__)

    async def _permit(self) -> Permitted | Rejected:
        prepared = self._line.call.climb(self._raw, self._subject.caller)
        if isinstance(prepared, Rejected):
            return prepared
        self._progress.valid = True
        return await authorize(
            prepared,
            self._line.contract,
            self._subject.caller,
            self._means.authorizer,
            self._means.clock,
        )

    async def _start(self) -> Admitted | Rejected | Answer[JsonValue]:
        """Climb, admit and record the intent; take an old decision anew. Then it may run.

        An Answer is that of the same call, made before under the same key.
        """
        permitted = await self._permit()
        if isinstance(permitted, Rejected):
            return permitted
        if self.remaining_s() <= 0:
            return Rejected(stage=Stage.RETRY, code=Code.BUDGET_SPENT)
        if self._line.keys is not None:
            await read_keys(self._line.keys)  # nothing is sent whose answer nobody could verify
        moment = Moment(
            now=self._means.clock.now(),
            runs_s=self._runs_until - self._means.clock.monotonic(),
            after=self._journal.last_outcome,
        )
        proven = NOTHING_PROVEN
        try:
            admitted = await admit(
                permitted,
                self._line.contract,
                self._subject,
                moment,
                means=self._means,
                witnesses=self._witnesses,
            )
            if isinstance(admitted, Rejected):
                return admitted
            proven = admitted.proven
            await self._journal.intend(admitted, self._tally.attempts + 1)
        except TermRefused as refused:
            return refuse_term(
                refused,
                proven,
                asker=self._subject.request_id,
                running=self._means.running,
            )
        except AlreadyDone as done:
            return await self._replay(done.request_id, permitted)
        if self.remaining_s() <= 0:  # evidence and the commit take time too
            return Rejected(stage=Stage.RETRY, code=Code.BUDGET_SPENT)
        current = await self._permit_anew(permitted)
        if isinstance(current, Rejected):
            return current
        return admitted if current is permitted else admitted.decided_anew(current)

    async def _permit_anew(self, permitted: Permitted) -> Permitted | Rejected:
        """Return the permission, taken anew where its decision is too old to act on (ARG-5)."""
        if self._means.clock.monotonic() - permitted.decided_at <= DECISION_LIFETIME_S:
            return permitted
        return await self._permit()

    async def _replay(self, request_id: str, permitted: Permitted) -> Answer[JsonValue] | Rejected:
        """Give the kept answer of the same call again, while the contract would (ACC-4).

        What is given is judged, and allowed, after all that had to be waited for.
        """
        subject, clock = self._subject, self._means.clock
        query = AnswerQuery(
            request_id=request_id,
            tool=subject.tool,
            caller=subject.caller,
            arguments=permitted.prepared.arguments,
        )
        kept = await self._means.store.answer_of(query, now=clock.now())
        current = await self._permit_anew(permitted)
        if isinstance(current, Rejected):
            return current
        why = find_staleness(kept, self._line.contract, clock.now())
        if kept is None or why is not None:
            told = tell_holder(request_id, f"it is done, and {why}")
            return Rejected(stage=Stage.ADMIT, code=Code.KEY_REUSED, told=told)
        envelope = Success(subject.tool, subject.request_id, kept.data, replayed=True)
        await self._journal.replayed(envelope, request_id)
        self._closing.end_row()
        return Answer(envelope=envelope)

    def _dispatch(self, admitted: Admitted) -> Dispatch:
        contract, permitted = self._line.contract, admitted.permitted
        self._tally.attempts += 1
        return Dispatch(
            tool=contract.tool,
            request_id=self._subject.request_id,
            arguments=permitted.prepared.arguments,
            arguments_text=permitted.prepared.text,
            caller=self._subject.caller,
            attempt=self._tally.attempts,
            timeout_s=min(
                math.inf if contract.fetch.timeout_s is None else contract.fetch.timeout_s,
                max(self.remaining_s(), 0.001),
            ),
            max_bytes=contract.limits.max_bytes,
            contract_digest=contract.fingerprints.digest,
            idempotency_key=admitted.key,
        )

    async def _fetch(self, dispatch: Dispatch) -> Receipt:
        adapter = self._line.adapter
        self._progress.sent = True
        self._progress.left_open = self._progress.open
        self._progress.open = self._line.contract.effect is not Effect.READ
        try:
            async with asyncio.timeout(dispatch.timeout_s + _GRACE_S):
                return await adapter.fetch(dispatch)
        except TimeoutError:
            return Receipt(
                adapter=adapter.name,
                adapter_version=adapter.version,
                endpoint=adapter.endpoint,
                fault=Fault.TIMEOUT,
            )

    async def _conclude(
        self,
        receipt: Receipt,
        permitted: Permitted,
        *,
        pause: Callable[[Receipt, Rejected], float | None] | None,
    ) -> Answer[JsonValue] | None:
        """Judge the receipt and record the outcome; None means that another attempt follows."""
        means, contract = self._means, self._line.contract
        now, request = means.clock.now(), self.request(permitted)
        trust = await find_trust(self._line, receipt, request, now, means.replays)
        judged = hide_in_answer(
            self._line.result.climb(receipt, request, now, trust),
            contract,
            arguments=permitted.prepared.arguments,
            raw=receipt.raw,
        )
        wait = None
        if not isinstance(judged, Rejected):
            answer = self._succeed(judged)
        else:
            self._progress.open = is_outcome_open(
                contract, receipt, judged, before=self._progress.left_open
            )
            answer = Answer(envelope=self._closing.failure(judged))
            wait = None if pause is None else pause(receipt, judged)
        envelope = answer.envelope
        assert isinstance(envelope, Success | Failure)  # noqa: S101  (narrows for the checker)
        await self._journal.concluded(
            receipt,
            envelope,
            judged,
            attempt=self._tally.attempts,
            outcome_open=self._progress.open and isinstance(judged, Rejected),
            pause_s=wait,
            arguments=permitted.prepared.arguments,
        )
        self._notify(notice_of(judged, contract, request_id=self._subject.request_id, time=now))
        if wait is None:
            return answer
        await means.clock.sleep(wait)
        return None

    def request(self, permitted: Permitted) -> Request:
        """Return the question that an answer must be the answer to."""
        return Request(
            tool=self._subject.tool,
            request_id=self._subject.request_id,
            arguments=permitted.prepared.arguments,
            caller=self._subject.caller,
        )

    def _succeed(self, selected: Selected) -> Answer[JsonValue]:
        data, display, _, _ = selected
        envelope = succeed(self._subject.tool, self._subject.request_id, data)
        return Answer(envelope=envelope, display=display)

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
            remaining_s=self.remaining_s(),
            jitter=self._means.draw,
        )

    def remaining_s(self) -> float:
        """Return the seconds to the deadline; less than none behind it."""
        return self._deadline - self._means.clock.monotonic()
