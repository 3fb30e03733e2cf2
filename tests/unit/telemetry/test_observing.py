"""One span a call and its metrics, into the SDK's own exporters; nothing of a payload in either."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts
from tests.unit.gates.restart import DONE, PROOF, folder

from sluicegate.contracts.served import ContractSet
from sluicegate.gates.asking import name_subject
from sluicegate.gates.envelopes import Success
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.gate import Gate
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AuditUnavailable, Dispatch
from sluicegate.gates.terms import NO_TERMS, Terms
from sluicegate.gates.watching import UNOBSERVED
from sluicegate.opening.observing import observe
from sluicegate.stores.memory import MemoryStore
from sluicegate.telemetry import names
from sluicegate.telemetry.observing import ObservedStore, TracingObserver
from sluicegate.testing import RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.receipts import Fault, Receipt
from sluicegate.values.requests import RequestId

pytestmark = pytest.mark.requirement("AUD-6")

CALLER = Caller(subject="svc", tenant="acme")
RETRY = {"attempts": 2, "budget_s": 10, "on": ["UPSTREAM_UNAVAILABLE"]}
LOST = Receipt(adapter="case", adapter_version="1", endpoint="", fault=Fault.UNREACHABLE)
UNSENT = replace(LOST, dispatched=False)


@dataclass(frozen=True, slots=True)
class Watched:
    """A gate whose spans and metrics stay in memory."""

    gate: Gate
    store: MemoryStore
    provider: TracerProvider
    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader

    def span(self) -> ReadableSpan:
        (span,) = self.exporter.get_finished_spans()
        return span

    def points(self, name: str) -> list[tuple[dict[str, object], float]]:
        data = self.reader.get_metrics_data()
        assert data is not None
        return [
            (dict(point.attributes or {}), getattr(point, "value", getattr(point, "count", None)))
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


def watched(
    upstream: RecordedUpstream,
    *processors: SpanProcessor,
    store: MemoryStore | None = None,
    **changes: object,
) -> Watched:
    tools = contracts(**changes)
    return watch_tools(tools, {"job_status": upstream}, *processors, store=store)


def watch_tools(
    tools: ContractSet,
    upstreams: Mapping[str, RecordedUpstream],
    *processors: SpanProcessor,
    store: MemoryStore | None = None,
) -> Watched:
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    for processor in (*processors, SimpleSpanProcessor(exporter)):
        provider.add_span_processor(processor)
    meter = MeterProvider([reader]).get_meter("test")
    observer = TracingObserver(provider.get_tracer("test"), meter)
    store = store or MemoryStore()
    gate = gate_of(
        tools,
        upstreams,
        store=ObservedStore(store, observer.see),
        observer=observer,
    )
    return Watched(gate, store, provider, exporter, reader)


async def test_an_accepted_call_is_one_span_with_tool_contract_and_attempt() -> None:
    seen = watched(RecordedUpstream(answer()))
    given = await seen.gate.call("job_status", ARGUMENTS, caller=CALLER, call_id="call_7")
    span = seen.span()
    contract = seen.gate.contracts.contracts["job_status"]
    assert (span.name, span.kind) == ("execute_tool job_status", trace.SpanKind.INTERNAL)
    assert span.status.status_code is trace.StatusCode.UNSET
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "job_status",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_7",
        "sluicegate.request_id": given.request_id,
        "sluicegate.contract.version": "1.0.0",
        "sluicegate.contract.digest": str(contract.fingerprints.digest),
        "sluicegate.attempt": 1,
        "sluicegate.outcome": "success",
    }


ENDS: dict[str, tuple[RecordedUpstream, str, dict[str, object]]] = {
    "refused": (
        RecordedUpstream(answer()),
        "{}",
        {
            "sluicegate.outcome": "refused",
            "sluicegate.stage": "conform",
            "sluicegate.code": "MISSING",
            "error.type": "INVALID_ARGUMENTS",
            "sluicegate.attempt": 1,
        },
    ),
    "answer refused": (
        RecordedUpstream(answer(state="exploded")),
        ARGUMENTS,
        {
            "sluicegate.outcome": "failure",
            "sluicegate.stage": "conform",
            "sluicegate.code": "ENUM",
            "error.type": "INVALID_RESPONSE",
            "sluicegate.attempt": 1,
        },
    ),
    "lost twice": (
        RecordedUpstream(LOST, LOST),
        ARGUMENTS,
        {
            "sluicegate.outcome": "failure",
            "sluicegate.stage": "fetch",
            "sluicegate.code": "UPSTREAM_UNAVAILABLE",
            "error.type": "UPSTREAM_UNAVAILABLE",
            "sluicegate.attempt": 2,
        },
    ),
}


@pytest.mark.parametrize(("upstream", "arguments", "expected"), ENDS.values(), ids=ENDS)
async def test_what_went_wrong_stands_on_the_span_and_in_the_counts(
    upstream: RecordedUpstream, arguments: str, expected: dict[str, object]
) -> None:
    seen = watched(upstream, retry=RETRY)
    await seen.gate.call("job_status", arguments, caller=CALLER)
    span = seen.span()
    assert span.status.status_code is trace.StatusCode.ERROR
    assert {name: (span.attributes or {}).get(name) for name in expected} == expected
    told = {"gen_ai.tool.name": "job_status", "sluicegate.code": expected["error.type"]}
    ((counted, count),) = seen.points("sluicegate.calls")
    assert (counted, count) == ({**told, "sluicegate.outcome": expected["sluicegate.outcome"]}, 1)
    ((timed, count),) = seen.points("sluicegate.call.duration")
    assert (timed, count) == (counted, 1)
    refused = {**told, "sluicegate.code": expected["sluicegate.code"]}
    refused["sluicegate.stage"] = expected["sluicegate.stage"]
    assert seen.points("sluicegate.refusals") == [(refused, expected["sluicegate.attempt"])]
    assert [count for _, count in seen.points("sluicegate.calls.active")] == [0]


class Failing(MemoryStore):
    """A record that takes the first ``taken`` commits, then ``lost`` fail, then it takes again.

    Every commit takes ``turns`` of the loop.
    """

    def __init__(self, taken: int, lost: int = 1_000, turns: int = 0) -> None:
        super().__init__()
        self._fates = [True] * taken + [False] * lost
        self._turns = turns

    async def record(
        self, events: Sequence[AuditEvent], *, terms: Terms = NO_TERMS
    ) -> Sequence[str]:
        if self._fates and not self._fates.pop(0):
            raise AuditUnavailable("full")
        for _ in range(self._turns):
            await asyncio.sleep(0)
        return await super().record(events, terms=terms)


UNRECORDED: dict[str, tuple[tuple[int, ...], bytes | Receipt, str, str, int | None]] = {
    "the set": ((0,), answer(), ARGUMENTS, "refused", None),
    "a refusal": ((1,), answer(), "{}", "refused", None),
    "an intent": ((1,), answer(), ARGUMENTS, "refused", None),
    "an intent, told behind the answer": ((1, 1), answer(), ARGUMENTS, "refused", None),
    "an intent, closed behind the answer": ((1, 1, 9), answer(), ARGUMENTS, "refused", None),
    "an outcome": ((2,), answer(), ARGUMENTS, "failure", 1),
    "an outcome, the record is back": ((2, 1), answer(), ARGUMENTS, "failure", 1),
    "an outcome, told behind the answer": ((2, 1, 9), answer(), ARGUMENTS, "failure", 1),
    "a further intent": ((3,), UNSENT, ARGUMENTS, "failure", 1),
}


@pytest.mark.requirement("AUD-1")
@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("case", UNRECORDED)
async def test_a_call_whose_end_is_not_recorded_is_counted_once_and_its_span_says_so(
    case: str, effect: str
) -> None:
    fates, first, arguments, outcome, attempt = UNRECORDED[case]
    upstream = RecordedUpstream(first, answer())
    seen = watched(upstream, store=Failing(*fates), retry=RETRY, effect=effect)
    await seen.gate.call("job_status", arguments, caller=CALLER)
    await seen.gate._means.owing.settle()  # what closes an intent may come behind the answer
    attributes = dict(seen.span().attributes or {})
    told = [attributes.get(name) for name in (names.OUTCOME, names.ATTEMPT)]
    assert told == [outcome, attempt]
    down = {"sluicegate.stage": "audit", "sluicegate.code": "AUDIT_UNAVAILABLE"}
    assert {name: attributes.get(name) for name in down} == down
    counted = [
        count
        for point, count in seen.points("sluicegate.refusals")
        if point["sluicegate.code"] == "AUDIT_UNAVAILABLE"
    ]
    assert counted == [1]


async def test_what_an_earlier_attempt_failed_at_is_counted_and_not_on_the_span() -> None:
    seen = watched(RecordedUpstream(LOST, answer()), retry=RETRY)
    await seen.gate.call("job_status", ARGUMENTS, caller=CALLER)
    attributes = dict(seen.span().attributes or {})
    assert (attributes["sluicegate.attempt"], attributes["sluicegate.outcome"]) == (2, "success")
    assert not attributes.keys() & {"sluicegate.code", "sluicegate.stage", "error.type"}
    assert [count for _, count in seen.points("sluicegate.refusals")] == [1]


async def test_a_call_that_ended_in_success_bears_no_code_whatever_was_heard_of_it_last() -> None:
    heard: list[AuditEvent] = []
    lost = gate_of(
        contracts(),
        {"job_status": RecordedUpstream(LOST)},
        store=ObservedStore(MemoryStore(), heard.append),
    )
    await lost.call("job_status", ARGUMENTS, caller=CALLER)
    failed = heard[-1]
    assert failed.code == "UPSTREAM_UNAVAILABLE"
    seen = watched(RecordedUpstream())
    line = seen.gate._serving.lines["job_status"]
    subject = replace(
        name_subject(seen.gate._means, line, "job_status", CALLER, None),
        request_id=RequestId(failed.request_id),
    )
    observer = seen.gate._means.observer
    assert isinstance(observer, TracingObserver)
    with observer.watch(subject) as watch:
        observer.see(failed)
        watch.answered(Success("job_status", RequestId(failed.request_id), {}))
    attributes = dict(seen.span().attributes or {})
    assert (attributes["sluicegate.outcome"], attributes["sluicegate.attempt"]) == ("success", 1)
    assert not attributes.keys() & {"sluicegate.code", "sluicegate.stage", "error.type"}


STATES = {
    "accepted": (answer(), ("success", None), ("success", None)),
    "lost": (
        LOST,
        ("failure", "UPSTREAM_UNAVAILABLE"),
        ("refused", "EVIDENCE_REQUIRED"),
    ),
    "refused": (
        answer(state="exploded"),
        ("failure", "ENUM"),
        ("refused", "EVIDENCE_REQUIRED"),
    ),
}


@pytest.mark.parametrize(("state", "asked", "acted"), STATES.values(), ids=STATES)
async def test_evidence_that_is_taken_anew_is_a_call_with_a_span_of_its_own(
    state: bytes | Receipt, asked: tuple[str, str | None], acted: tuple[str, str | None]
) -> None:
    seen = watch_tools(
        folder(evidence=[{**PROOF, "refetch": True}]),
        {"job_status": RecordedUpstream(state), "job_restart": RecordedUpstream(DONE)},
    )
    await seen.gate.call("job_restart", ARGUMENTS, caller=CALLER)
    inner, outer = seen.exporter.get_finished_spans()
    assert [inner.name, outer.name] == ["execute_tool job_status", "execute_tool job_restart"]
    assert inner.parent is not None
    assert outer.context is not None
    assert inner.parent.span_id == outer.context.span_id
    told = [
        ((span.attributes or {})["sluicegate.outcome"], (span.attributes or {}).get(names.CODE))
        for span in (inner, outer)
    ]
    assert told == [asked, acted]
    counted = {
        (point["gen_ai.tool.name"], point["sluicegate.outcome"], count)
        for point, count in seen.points("sluicegate.calls")
    }
    assert counted == {("job_status", asked[0], 1), ("job_restart", acted[0], 1)}
    assert {count for _, count in seen.points("sluicegate.calls.active")} == {0}


async def test_a_span_is_the_parent_of_what_the_adapter_does_and_the_child_of_the_host() -> None:
    inner: list[trace.SpanContext] = []

    class Spying(RecordedUpstream):
        async def fetch(self, dispatch: Dispatch) -> Receipt:
            inner.append(trace.get_current_span().get_span_context())
            return await super().fetch(dispatch)

    seen = watched(Spying(answer()))
    with seen.provider.get_tracer("host").start_as_current_span("turn") as host:
        await seen.gate.call("job_status", ARGUMENTS, caller=CALLER)
    (span,) = [each for each in seen.exporter.get_finished_spans() if each.name != "turn"]
    assert span.parent is not None
    assert span.parent.span_id == host.get_span_context().span_id
    assert inner == [span.context]


async def test_every_event_bears_the_trace_that_it_belongs_to() -> None:
    seen = watched(RecordedUpstream(answer(), answer()))
    for _ in range(2):
        await seen.gate.call("job_status", ARGUMENTS, caller=CALLER)
    spans = seen.exporter.get_finished_spans()
    borne = {
        (str((span.attributes or {})["sluicegate.request_id"]), trace_of(span)) for span in spans
    }
    told = {(event.request_id, event.trace_id) for event in seen.store.events() if event.tool}
    assert told == borne
    assert len({trace_id for _, trace_id in borne}) == 2


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return trace.format_trace_id(span.context.trace_id)


async def test_a_host_that_fetches_for_itself_has_a_span_for_the_call_and_one_for_the_result() -> (
    None
):
    seen = watched(RecordedUpstream())
    outstanding = await seen.gate.check_call("job_status", ARGUMENTS, caller=CALLER)
    assert isinstance(outstanding, Outstanding)
    await seen.gate.check_result(outstanding, answer())
    spans = seen.exporter.get_finished_spans()
    outcomes = [(span.attributes or {})["sluicegate.outcome"] for span in spans]
    assert outcomes == ["outstanding", "success"]


async def test_a_cancelled_call_ends_its_span() -> None:
    entered = asyncio.Event()

    class Hanging(RecordedUpstream):
        async def fetch(self, dispatch: Dispatch) -> Receipt:
            entered.set()
            await asyncio.Event().wait()
            raise AssertionError

    seen = watched(Hanging())
    task = asyncio.create_task(seen.gate.call("job_status", ARGUMENTS, caller=CALLER))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    span = seen.span()
    assert (span.attributes or {})["sluicegate.outcome"] == "abandoned"
    async with asyncio.timeout(5):
        while seen.store.open_intents():  # its outcome is recorded behind it
            await asyncio.sleep(0)
    assert {event.trace_id for event in seen.store.events()} == {trace_of(span)}


async def test_an_event_that_was_not_committed_is_not_told() -> None:
    class Full(MemoryStore):
        async def record(self, *_: object, **__: object) -> tuple[str, ...]:
            raise AuditUnavailable("full")

    told: list[object] = []
    with pytest.raises(AuditUnavailable):
        await ObservedStore(Full(), told.append).record([])
    assert told == []


class Raising(SpanProcessor):
    """A processor that fails wherever it is asked."""

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error

    def on_start(self, span: Span, parent_context: object = None) -> None:
        raise self._error("PLANTED")

    def on_end(self, span: ReadableSpan) -> None:
        raise self._error("PLANTED")


class EndRaising(Raising):
    """A processor that fails at the end alone."""

    def on_start(self, span: Span, parent_context: object = None) -> None:
        """Say nothing."""


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("error", [RuntimeError, GeneratorExit, asyncio.CancelledError])
@pytest.mark.parametrize("processor", [Raising, EndRaising], ids=["start", "end"])
async def test_a_processor_that_raises_changes_no_answer(
    processor: type[Raising], error: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    seen = watched(RecordedUpstream(answer()), processor(error))
    given = await seen.gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert given.outcome == "success"
    assert f"telemetry failed: {error.__name__}" in caplog.messages
    assert "PLANTED" not in caplog.text


class RaisingMeter(metrics.NoOpMeter):
    """Instruments that fail wherever they are asked."""

    def create_counter(self, *args: object, **named: object) -> metrics.Counter:  # type: ignore[override]
        return _RaisingCounter("raising")


class _RaisingCounter(metrics.NoOpCounter):
    def add(self, *args: object, **named: object) -> None:  # type: ignore[override]
        raise RuntimeError("PLANTED")


@pytest.mark.requirement("RES-9")
async def test_a_meter_that_raises_changes_no_answer_and_ends_the_span(
    caplog: pytest.LogCaptureFixture,
) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    observer = TracingObserver(provider.get_tracer("test"), RaisingMeter("raising"))
    gate = gate_of(
        contracts(),
        {"job_status": RecordedUpstream(answer())},
        store=ObservedStore(MemoryStore(), observer.see),
        observer=observer,
    )
    with caplog.at_level(logging.WARNING):
        refused = await gate.call("job_status", "{}", caller=CALLER)
        given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, refused.outcome) == ("success", "refused")
    assert len(exporter.get_finished_spans()) == 2
    assert "PLANTED" not in caplog.text


async def test_a_provider_that_is_set_after_the_gate_was_opened_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    observed, observer = observe(MemoryStore())
    gate = gate_of(
        contracts(), {"job_status": RecordedUpstream(answer())}, store=observed, observer=observer
    )
    await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert exporter.get_finished_spans() == ()
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert [span.name for span in exporter.get_finished_spans()] == ["execute_tool job_status"]


async def test_without_a_provider_nothing_is_recorded_and_events_bear_no_trace() -> None:
    store = MemoryStore()
    observed, observer = observe(store)
    gate = gate_of(
        contracts(), {"job_status": RecordedUpstream(answer())}, store=observed, observer=observer
    )
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).code is None
    assert {event.trace_id for event in store.events()} == {None}


def hide(monkeypatch: pytest.MonkeyPatch, names: Sequence[str]) -> None:
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_without_the_api_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sluicegate.telemetry.observing")
    hide(monkeypatch, ["opentelemetry"])
    store = MemoryStore()
    assert observe(store) == (store, UNOBSERVED)
