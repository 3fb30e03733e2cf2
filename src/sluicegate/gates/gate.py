"""The gate: what a host holds. Every call goes through it, and every answer comes out of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.errors import MisuseError
from sluicegate.gates.answers import Answer
from sluicegate.gates.asking import ServedWitnesses, name_subject
from sluicegate.gates.course import Bounds, Course
from sluicegate.gates.definitions import AGENT_INSTRUCTIONS, define_tools, envelope_of
from sluicegate.gates.handed_in import (
    demand_call_id,
    demand_caller,
    demand_receipt,
    demand_text,
)
from sluicegate.gates.means import Means
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AuditStore
from sluicegate.gates.recording import Subject
from sluicegate.gates.retrying import granted_s
from sluicegate.gates.serving import Line, Serving
from sluicegate.gates.tenure import Opened, Reopen, Tenure
from sluicegate.gates.turning_away import guard, refuse_unknown
from sluicegate.gates.typed import decoder_for, give_as
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a turn: the model's own text, byte for byte, and the vendor's call id."""

    tool: str
    arguments: str | bytes
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _HostCall:
    """One call as it came, and what serves it; ``line`` is None where nothing does."""

    held: Opened
    line: Line | None
    subject: Subject
    tool: str
    raw: bytes
    deadline_s: float | None = None


class Gate:
    """Two ladders, the record, and nothing that lets a call or an answer round them.

    Made by ``open_gate``. Bound to the event loop that first uses it: a call in another one is
    MisuseError. See ``open_blocking`` for code without a loop.
    """

    def __init__(
        self,
        means: Means,
        serving: Serving,
        *,
        reopen: Reopen | None = None,
        author: Callable[[Callable[..., object], Mapping[str, Any]], Line] | None = None,
    ) -> None:
        self._tenure = Tenure(Opened(serving=serving, means=means), reopen)
        self._author = author

    @property
    def contracts(self) -> ContractSet:
        """The immutable set that new calls are judged by."""
        return self._serving.contracts

    @property
    def withdrawn(self) -> Mapping[str, str]:
        """Tools that loaded and are not served, and why: a fixture that fails, an operator."""
        return self._serving.withdrawn

    @property
    def audit(self) -> AuditStore:
        """The record that this gate writes."""
        return self._means.store

    @property
    def _serving(self) -> Serving:
        return self._tenure.now.serving

    @property
    def _means(self) -> Means:
        return self._tenure.now.means

    @overload
    async def call(
        self,
        tool: str,
        arguments: str | bytes,
        *,
        caller: Caller,
        call_id: str | None = None,
        deadline_s: float | None = None,
        as_: None = None,
    ) -> Answer[JsonValue]: ...

    @overload
    async def call(
        self,
        tool: str,
        arguments: str | bytes,
        *,
        caller: Caller,
        call_id: str | None = None,
        deadline_s: float | None = None,
        as_: type[T],
    ) -> Answer[T]: ...

    async def call(
        self,
        tool: str,
        arguments: str | bytes,
        *,
        caller: Caller,
        call_id: str | None = None,
        deadline_s: float | None = None,
        as_: type[T] | None = None,
    ) -> Answer[T] | Answer[JsonValue]:
        """Run one tool call, if it may run, and return its answer, if it is one.

        ``arguments`` is the model's text as it came, never a parsed object. ``deadline_s`` can
        only shorten what the contract grants. ``as_`` gives the data as a type of yours in
        ``Answer.typed``. Never raises for what the model or the upstream sent; raises
        MisuseError for a closed gate. Source: SPEC sections 3 to 6.
        """
        decode = None if as_ is None else decoder_for(as_)
        raw = demand_text(arguments)
        async with self._tenure.entered() as held:
            came = self._take(held, tool, raw, caller, call_id, deadline_s)

            async def answer() -> Answer[JsonValue]:
                begun = await self._begin(came)
                if isinstance(begun, Answer):
                    return begun
                return await self._placed(begun, begun.run)

            given = await guard(held.means, came.subject, answer)
            # Behind the record: what the host makes of an answer changes nothing of it.
            return given if decode is None else give_as(given, decode)

    def _take(
        self,
        held: Opened,
        tool: str,
        raw: bytes,
        caller: Caller,
        call_id: str | None,
        deadline_s: float | None = None,
    ) -> _HostCall:
        line = held.serving.line_for(tool, demand_caller(caller))
        subject = name_subject(held.means, line, tool, caller, demand_call_id(call_id))
        return _HostCall(
            held=held, line=line, subject=subject, tool=tool, raw=raw, deadline_s=deadline_s
        )

    async def _begin(self, came: _HostCall) -> Course | Answer[JsonValue]:
        """Return the course of a call, unless the set cannot be announced or nothing serves it."""
        held, line, subject = came.held, came.line, came.subject
        opening = await self._tenure.announcer.announce(held.means, lambda: self._serving, subject)
        if opening is not None:
            return Answer(envelope=opening)
        if line is None:
            why = held.serving.why_not(came.tool)
            return await refuse_unknown(held.means, subject, came.tool, why)
        granted = granted_s(line.contract, came.deadline_s)
        deadline = held.means.clock.monotonic() + granted
        bounds = Bounds(
            deadline=deadline,
            witnesses=ServedWitnesses(held.means, held.serving, subject.caller, deadline),
            kept_s=held.serving.kept_s(line),
        )
        return Course(held.means, line, subject, came.raw, bounds)

    async def _placed(
        self, course: Course, run: Callable[[], Awaitable[R]]
    ) -> R | Answer[JsonValue]:
        """Run ``course`` in one of the places in flight; the wait counts against its deadline."""
        try:
            async with asyncio.timeout(max(course.remaining_s(), 0.0)):
                await self._tenure.places.take()
        except TimeoutError:
            return await course.give_up(Rejected(stage=Stage.RETRY, code=Code.BUDGET_SPENT))
        try:
            return await run()
        finally:
            self._tenure.places.give_back()

    async def call_all(
        self, calls: Sequence[ToolCall], *, caller: Caller, deadline_s: float | None = None
    ) -> list[Answer[JsonValue]]:
        """Run the calls of one turn at once; the answers stand in the order of the calls.

        Raises: MisuseError, before any of them runs, for what is no ToolCall; else as ``call``.
        """
        return list(
            await asyncio.gather(
                *(
                    self.call(
                        call.tool,
                        call.arguments,
                        caller=caller,
                        call_id=call.call_id,
                        deadline_s=deadline_s,
                    )
                    for call in _demand_calls(calls)
                )
            )
        )

    async def check_call(
        self, tool: str, arguments: str | bytes, *, caller: Caller, call_id: str | None = None
    ) -> Outstanding | Answer[JsonValue]:
        """Climb the call ladder alone, for a host that fetches for itself (ARG-9).

        Returns the one-use ``Outstanding`` that ``check_result`` demands, or the refusal. It
        holds a place in flight while it runs; the host's own fetching holds none. Raises:
        MisuseError for a closed gate.
        """
        raw = demand_text(arguments)
        async with self._tenure.entered() as held:
            came = self._take(held, tool, raw, caller, call_id)

            async def ask() -> Outstanding | Answer[JsonValue]:
                begun = await self._begin(came)
                if isinstance(begun, Answer):
                    return begun
                return await self._placed(begun, lambda: begun.ask(self))

            return await guard(held.means, came.subject, ask)

    async def check_result(
        self, outstanding: Outstanding, received: bytes | Receipt
    ) -> Answer[JsonValue]:
        """Climb the result ladder with what the host fetched for ``outstanding``.

        ``received`` is the raw answer, or a Receipt where status, exit code or media type are to
        be held to the contract as well. What comes later than the contract's ``timeout_s`` after
        ``check_call``, an hour where it says none, is no answer (UPSTREAM_TIMEOUT). It holds a
        place in flight while it runs. Raises: MisuseError for a closed gate, for what is neither of
        the two, and if ``outstanding`` is another gate's or was used before; the first three spend
        nothing.
        """
        if not isinstance(outstanding, Outstanding):
            raise MisuseError("`outstanding` is what check_call returned for a call that may run")
        receipt = demand_receipt(received)
        async with self._tenure.entered() as held:
            spent = outstanding.spend(self)
            if receipt is not received:
                receipt = replace(receipt, endpoint=spent.line.adapter.endpoint)
            course = Course(
                held.means,
                spent.line,
                spent.subject,
                spent.admitted.permitted.prepared.text,
                Bounds(
                    deadline=spent.deadline,
                    witnesses=ServedWitnesses(
                        held.means, held.serving, spent.subject.caller, deadline=0.0
                    ),
                    kept_s=held.serving.kept_s(spent.line),
                ),
            )
            with held.means.observer.watch(spent.subject) as watch:
                answer = await course.answer(spent.admitted, receipt, self._tenure.places)
                watch.answered(answer.envelope)
                return answer

    def tool(self, **parts: Any) -> Callable[[F], F]:
        """Write a contract beside its function: a decorator that leaves the function as it is.

        ``parts`` are those of ``Contract.of``: ``owner``, ``agent``, ``bind``, ``fresh``,
        ``result`` and the keys of contract.yaml. The contract climbs through the same loader
        and is served from now on; a reload of the folder keeps it. Raises: ContractFolderError
        where it does not load, MisuseError where its name stands in the folder, is served, or was
        withdrawn by an operator, and where it is signed and nothing of the folder is. SPEC CON-7.
        """
        if self._author is None:
            raise MisuseError("this gate forbids Python: open it with python=True")
        author = self._author

        def register(function: F) -> F:
            self._tenure.add(author(function, parts))
            return function

        return register

    def tool_definitions(self, *, caller: Caller | None = None) -> list[dict[str, JsonValue]]:
        """Return name, description and schemas of every served tool, for the model (CON-8).

        A tool that is served in several versions is told as the one that will judge the calls of
        ``caller``; without a caller as the one of the greatest share, which may not be the one
        that judges. Raises: MisuseError for what is no Caller.
        """
        lines = self._serving.lines_for(None if caller is None else demand_caller(caller))
        return define_tools({tool: line.contract for tool, line in lines.items()})

    def agent_instructions(self) -> str:
        """Return the sentences that tell an agent what the three outcomes mean (CON-8)."""
        return AGENT_INSTRUCTIONS

    def envelope_schema(self, tool: str, *, caller: Caller | None = None) -> JsonObject:
        """Return the one document that describes every answer of ``tool``. Raises: KeyError.

        ``caller`` as in ``tool_definitions``.
        """
        lines = self._serving.lines_for(None if caller is None else demand_caller(caller))
        return envelope_of(lines[tool].contract)

    async def reload(self) -> tuple[Problem, ...]:
        """Swap the whole set for what the folder holds now, or keep the old one (CON-3).

        Returns the problems that kept the old set in place; none when it was swapped.
        Raises: AuditUnavailable when the change cannot be recorded; then nothing is swapped.
        """
        return await self._tenure.reload()

    async def close(self) -> None:
        """Take no further call, wait for those in flight, then release adapters and store.

        In flight is every ``call``, ``check_call`` and ``check_result`` that has not returned;
        an ``Outstanding`` that waits for its answer is not, and shows as an open intent. The wait
        is bounded by the deadlines of the calls themselves. What an adapter, the notifier or the
        store raises while closing is raised once all of them were told.
        """
        await self._tenure.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _demand_calls(calls: object) -> list[ToolCall]:
    """Return the calls of one turn. Raises: MisuseError for what is none."""
    listed = list(calls) if isinstance(calls, Iterable) else [calls]
    found = [call for call in listed if isinstance(call, ToolCall)]
    if len(found) != len(listed):
        raise MisuseError(
            "`calls` is a list of ToolCall, for instance"
            ' [ToolCall(tool="job_status", arguments="{}", call_id="toolu_1")]'
        )
    return found
