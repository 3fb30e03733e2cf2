"""One span a call, and its metrics, through the OpenTelemetry API (AUD-6)."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from importlib.metadata import version
from typing import Final

from opentelemetry import metrics, trace

from sluicegate.gates.envelopes import Envelope, Failure, Success
from sluicegate.gates.events import AuditEvent, EventKind
from sluicegate.gates.failures import is_failure
from sluicegate.gates.forwarding import ForwardingStore
from sluicegate.gates.ports import AuditStore
from sluicegate.gates.recording import Subject
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.gates.watching import UNOBSERVED, Watch
from sluicegate.telemetry import names
from sluicegate.values.codes import Code, Stage

_LOG: Final = logging.getLogger("sluicegate")
_OF_ATTEMPTS: Final = frozenset({EventKind.INTENT, EventKind.OUTCOME, EventKind.REFUSED})
_UNRECORDED: Final = {
    names.STAGE: str(Stage.AUDIT),
    names.CODE: str(Code.AUDIT_UNAVAILABLE),
}
"""What is told of an answer that no event speaks of: it was given because there is none."""

_DURATION_BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class TracingObserver:
    """Watches calls with a tracer and a meter; what these raise changes no answer.

    ``is_heard`` says whether anybody would hear of a call: else nobody watches it.
    """

    def __init__(
        self,
        tracer: trace.Tracer,
        meter: metrics.Meter,
        is_heard: Callable[[], bool] = lambda: True,
    ) -> None:
        self._tracer = tracer
        self._is_heard = is_heard
        self._calls = meter.create_counter(
            names.CALLS, unit="{call}", description="Calls that were answered."
        )
        self._active = meter.create_up_down_counter(
            names.CALLS_ACTIVE, unit="{call}", description="Calls that have not returned."
        )
        self._duration = meter.create_histogram(
            names.CALL_DURATION,
            unit="s",
            description="From the first rung to the answer.",
            explicit_bucket_boundaries_advisory=_DURATION_BOUNDS_S,
        )
        self._refusals = meter.create_counter(
            names.REFUSALS,
            unit="{refusal}",
            description="Attempts that a stage refused, or that could not be recorded.",
        )

    def watch(self, subject: Subject) -> AbstractContextManager[Watch]:
        """Watch one call: its span is the current one as long as it runs."""
        heard = False
        with _quietly():
            heard = self._is_heard()
        return self._watch(subject) if heard else UNOBSERVED.watch(subject)

    @contextmanager
    def _watch(self, subject: Subject) -> Iterator[_TracedCall]:
        call = _TracedCall(subject)
        began = time.monotonic()
        with _quietly():
            self._active.add(1, {names.GEN_AI_TOOL_NAME: subject.tool})
        span: trace.Span = trace.INVALID_SPAN
        with _quietly():
            span = self._tracer.start_span(
                f"{names.OPERATION} {subject.tool}",
                kind=trace.SpanKind.INTERNAL,
                attributes=_describe(subject),
            )
        token = _watched.set(call)
        try:
            with trace.use_span(
                span, end_on_exit=False, record_exception=False, set_status_on_exception=False
            ):
                yield call
        finally:
            _watched.reset(token)
            with _quietly():
                self._active.add(-1, {names.GEN_AI_TOOL_NAME: subject.tool})
            with _quietly():
                self._count(call, time.monotonic() - began)
            with _quietly():
                _end(span, call)

    def see(self, event: AuditEvent) -> None:
        """Hear of an event that was committed. Never raises."""
        if event.kind not in _OF_ATTEMPTS or "unheard" in event.detail:
            return  # the latter stand for an attempt that nobody made
        call = _watched.get()
        if call is not None and call.subject.request_id == event.request_id:
            if call.is_unrecorded and event.code == Code.AUDIT_UNAVAILABLE:
                return  # told when the call was answered: this closes its intent behind it
            call.last = event
        with _quietly():
            if event.code is not None:
                told = {names.STAGE: event.stage or "", names.CODE: event.code}
                self._refusals.add(1, {names.GEN_AI_TOOL_NAME: event.tool, **told})

    def _count(self, call: _TracedCall, seconds: float) -> None:
        told = {
            names.GEN_AI_TOOL_NAME: call.subject.tool,
            names.OUTCOME: call.outcome,
            names.CODE: call.code,
        }
        if call.is_unrecorded:
            self._refusals.add(1, {names.GEN_AI_TOOL_NAME: call.subject.tool, **_UNRECORDED})
        self._calls.add(1, told)
        self._duration.record(seconds, told)


class _TracedCall:
    """What became of a call: ``code`` is what the agent saw, empty where it was given data.

    ``last`` is the last of its events that was recorded. ``is_unrecorded``: it was answered, and
    none of them says how it ended.
    """

    __slots__ = ("code", "is_unrecorded", "last", "outcome", "subject")

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.last: AuditEvent | None = None
        self.outcome = "abandoned"
        self.code = ""
        self.is_unrecorded = False

    def answered(self, envelope: Envelope | None) -> None:
        """As ``Watch.answered``."""
        if envelope is None:
            self.outcome = "outstanding"
        elif isinstance(envelope, Success):
            self.outcome = "success"
        else:
            self.outcome = "failure" if isinstance(envelope, Failure) else "refused"
            self.code = str(envelope.code)
            self.is_unrecorded = not _is_end(self.last)


_watched: Final[ContextVar[_TracedCall | None]] = ContextVar("watched", default=None)


class ObservedStore(ForwardingStore):
    """Lets every event bear the trace that it belongs to, and tells of it once it is committed."""

    def __init__(self, store: AuditStore, see: Callable[[AuditEvent], None]) -> None:
        super().__init__(store)
        self._see = see

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        """As ``AuditStore.record``."""
        trace_id = _current_trace()
        if trace_id is not None:
            events = [replace(event, trace_id=trace_id) for event in events]
        ids = await super().record(events, terms=terms)
        if ids:
            for event in events:
                self._see(event)
        return ids


def open_observer() -> TracingObserver:
    """Return what watches through the providers that the host has set, or sets later."""
    release = version("sluicegate")
    tracer = trace.get_tracer(names.SCOPE, release)
    return TracingObserver(tracer, metrics.get_meter(names.SCOPE, release), _has_provider)


def _has_provider() -> bool:
    """Whether a provider is set that is none of the API's own, which record nothing."""
    return not (
        type(trace.get_tracer_provider()).__module__.startswith(trace.__name__)
        and type(metrics.get_meter_provider()).__module__.startswith(metrics.__name__)
    )


def _end(span: trace.Span, call: _TracedCall) -> None:
    span.set_attribute(names.OUTCOME, call.outcome)
    if call.last is not None:
        span.set_attribute(names.ATTEMPT, call.last.attempt)
        # What an earlier attempt failed at is counted; it is not what became of the call.
        if call.outcome != "success":
            span.set_attributes(_describe_refusal(call.last))
    if call.is_unrecorded:
        span.set_attributes(_UNRECORDED)
    if call.code:
        span.set_attribute(names.ERROR_TYPE, call.code)
        span.set_status(trace.StatusCode.ERROR)
    span.end()


def _is_end(event: AuditEvent | None) -> bool:
    """Whether it says how a call ended: another attempt may have followed on one that failed."""
    if event is None or event.kind is EventKind.INTENT:
        return False
    return "retry_in_s" not in event.detail


def _current_trace() -> str | None:
    with _quietly():
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            return trace.format_trace_id(context.trace_id)
    return None


def _describe(subject: Subject) -> Mapping[str, str]:
    attributes = {
        names.GEN_AI_OPERATION_NAME: names.OPERATION,
        names.GEN_AI_TOOL_NAME: subject.tool,
        names.GEN_AI_TOOL_TYPE: "function",
        names.REQUEST_ID: str(subject.request_id),
    }
    if subject.call_id is not None:
        attributes[names.GEN_AI_TOOL_CALL_ID] = subject.call_id
    if subject.contract is not None:
        attributes[names.CONTRACT_VERSION] = subject.contract.version
        attributes[names.CONTRACT_DIGEST] = str(subject.contract.fingerprints.digest)
    return attributes


def _describe_refusal(event: AuditEvent) -> Mapping[str, str]:
    if event.code is None:
        return {}
    return {names.CODE: event.code, names.STAGE: event.stage or str(Stage.INTERNAL)}


@contextmanager
def _quietly() -> Iterator[None]:
    """Whatever a provider or exporter raises ends here and is told; it changes nothing.

    An order to stop the program is obeyed. A GeneratorExit is none here: nothing is suspended.
    """
    try:
        yield
    except BaseException as error:
        if not (is_failure(error) or isinstance(error, GeneratorExit)):
            raise
        _LOG.warning("telemetry failed: %s", type(error).__name__)
