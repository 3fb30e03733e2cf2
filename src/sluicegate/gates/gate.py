"""The gate: what a host holds. Every call goes through it, and every answer comes out of it."""

from __future__ import annotations

import asyncio
import logging
import math
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self, TypeAlias, TypeVar, overload

from sluicegate.contracts.problems import Problem
from sluicegate.contracts.served import ContractSet
from sluicegate.errors import ContractFolderError, MisuseError
from sluicegate.gates.announcing import Announcer, record_kept, record_swapped, tell_unopened
from sluicegate.gates.answers import Answer
from sluicegate.gates.asking import ServedWitnesses, name_subject
from sluicegate.gates.course import Bounds, Course
from sluicegate.gates.definitions import AGENT_INSTRUCTIONS, define_tools, envelope_of
from sluicegate.gates.failures import is_failure
from sluicegate.gates.means import Means
from sluicegate.gates.outstanding import Outstanding
from sluicegate.gates.ports import AuditStore
from sluicegate.gates.recording import Subject
from sluicegate.gates.retrying import granted_s
from sluicegate.gates.serving import Line, Serving, close_all
from sluicegate.gates.turning_away import guard, refuse_unknown
from sluicegate.gates.typed import decoder_for
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code, Stage
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.receipts import Receipt
from sluicegate.values.rejections import Rejected

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., object])

_LOG: Final = logging.getLogger("sluicegate")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a turn: the model's own text, byte for byte, and the vendor's call id."""

    tool: str
    arguments: str | bytes
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A set that was opened anew, and the means that its settings ask for."""

    serving: Serving
    means: Means


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """One call as it came, and what serves it; ``line`` is None where nothing does."""

    serving: Serving
    line: Line | None
    subject: Subject
    tool: str
    raw: bytes


_Begun: TypeAlias = "tuple[Course[T], float] | Answer[Any]"
"""A course and the seconds that it has; the answer of a call without one."""


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
        reopen: Callable[[Means], Opened | tuple[Problem, ...]] | None = None,
        author: Callable[[Callable[..., object], Mapping[str, Any]], Line] | None = None,
    ) -> None:
        self._means = means
        self._opened = serving  # what the folder holds, without what is written beside functions
        self._serving = serving
        self._reopen = reopen
        self._author = author
        self._authored: dict[str, Line] = {}
        self._places = asyncio.Semaphore(serving.contracts.settings.limits.in_flight)
        self._in_flight: dict[int, int] = {}
        self._announcer = Announcer()
        self._idle = asyncio.Event()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._binding = threading.Lock()

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
        raw = as_bytes(arguments)
        async with self._entered() as serving:
            asked = self._take(serving, tool, raw, caller, call_id)

            async def answer() -> Answer[T]:
                begun = await self._begin(asked, deadline_s, decode)
                if isinstance(begun, Answer):
                    return begun
                course, granted = begun
                return await self._placed(course, granted, course.run)

            return await guard(self._means, asked.subject, answer)

    def _take(
        self, serving: Serving, tool: str, raw: bytes, caller: Caller, call_id: str | None
    ) -> _Asked:
        line = serving.line_for(tool, _demand_caller(caller))
        subject = name_subject(self._means, line, tool, caller, _demand_call_id(call_id))
        return _Asked(serving=serving, line=line, subject=subject, tool=tool, raw=raw)

    async def _begin(
        self,
        asked: _Asked,
        deadline_s: float | None = None,
        decode: Callable[[JsonValue], T] | None = None,
    ) -> _Begun[T]:
        """Return the course of a call, unless the set cannot be announced or nothing serves it."""
        serving, line, subject = asked.serving, asked.line, asked.subject
        opening = await self._announcer.announce(self._means, lambda: self._serving, subject)
        if opening is not None:
            return Answer(envelope=opening)
        if line is None:
            why = serving.why_not(asked.tool)
            return await refuse_unknown(self._means, subject, asked.tool, why)
        granted = granted_s(line.contract, deadline_s)
        bounds = self._bounds(serving, line, subject.caller, granted)
        return Course(self._means, line, subject, asked.raw, bounds, decode=decode), granted

    def _bounds(self, serving: Serving, line: Line, caller: Caller, granted: float) -> Bounds:
        deadline = self._means.clock.monotonic() + granted
        return Bounds(
            deadline=deadline,
            witnesses=ServedWitnesses(self._means, serving, caller, deadline),
            kept_s=serving.kept_s(line),
        )

    async def _placed(
        self, course: Course[T], granted: float, run: Callable[[], Awaitable[R]]
    ) -> R | Answer[T]:
        """Run ``course`` in one of the places in flight; the wait counts against its deadline."""
        places = self._places
        try:
            async with asyncio.timeout(max(granted, 0.0)):
                await places.acquire()
        except TimeoutError:
            return await course.give_up(Rejected(stage=Stage.RETRY, code=Code.BUDGET_SPENT))
        try:
            return await run()
        finally:
            places.release()

    async def call_all(
        self, calls: Sequence[ToolCall], *, caller: Caller, deadline_s: float | None = None
    ) -> list[Answer[JsonValue]]:
        """Run the calls of one turn at once; the answers stand in the order of the calls."""
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
                    for call in calls
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
        raw = as_bytes(arguments)
        async with self._entered() as serving:
            asked = self._take(serving, tool, raw, caller, call_id)

            async def ask() -> Outstanding | Answer[JsonValue]:
                begun: _Begun[JsonValue] = await self._begin(asked)
                if isinstance(begun, Answer):
                    return begun
                course, granted = begun
                return await self._placed(course, granted, lambda: course.ask(self))

            return await guard(self._means, asked.subject, ask)

    async def check_result(
        self, outstanding: Outstanding, received: bytes | Receipt
    ) -> Answer[JsonValue]:
        """Climb the result ladder with what the host fetched for ``outstanding``.

        ``received`` is the raw answer, or a Receipt where status, exit code or media type are to
        be held to the contract as well. What comes later than the contract's ``timeout_s`` after
        ``check_call`` is no answer (UPSTREAM_TIMEOUT). It holds a place in flight while it runs.
        Raises: MisuseError for a closed gate, for what is neither of the two, and if
        ``outstanding`` is another gate's or was used before; the first three spend nothing.
        """
        if not isinstance(outstanding, Outstanding):
            raise MisuseError("`outstanding` is what check_call returned for a call that may run")
        if not isinstance(received, bytes | Receipt):
            raise MisuseError(
                "`received` is the raw answer as bytes, or a Receipt; encode no text and parse"
                " nothing before the gate has judged it"
            )
        async with self._entered() as serving:
            line, subject, admitted, deadline = outstanding.spend(self)
            receipt = received
            if not isinstance(receipt, Receipt):
                receipt = Receipt(
                    adapter="host", adapter_version="1", endpoint=line.adapter.endpoint, raw=receipt
                )
            course: Course[JsonValue] = Course(
                self._means,
                line,
                subject,
                admitted.permitted.prepared.text,
                Bounds(
                    deadline=math.inf if deadline is None else deadline,
                    witnesses=ServedWitnesses(self._means, serving, subject.caller, 0.0),
                    kept_s=serving.kept_s(line),
                ),
            )
            with self._means.observer.watch(subject) as watch:
                answer = await course.answer(admitted, receipt, self._places)
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
            line = author(function, parts)
            taken = self._serving.taken(line.contract.tool)
            if taken is not None:
                raise MisuseError(taken)
            if line.keys is not None and self._means.replays is None:
                raise MisuseError(
                    "this gate remembers no signed answers, since no contract of its folder demands"
                    " a signature: write this contract into the folder"
                )
            authored = {**self._authored, line.contract.tool: line}
            serving = self._opened.with_lines(authored)
            if isinstance(serving, tuple):
                raise ContractFolderError(serving)
            self._authored, self._serving = authored, serving
            self._announcer.renew()
            return function

        return register

    def tool_definitions(self, *, caller: Caller | None = None) -> list[dict[str, JsonValue]]:
        """Return name, description and schemas of every served tool, for the model (CON-8).

        A tool that is served in several versions is told as the one that will judge the calls of
        ``caller``; without a caller as the one of the greatest share, which may not be the one
        that judges. Raises: MisuseError for what is no Caller.
        """
        lines = self._serving.lines_for(None if caller is None else _demand_caller(caller))
        return define_tools({tool: line.contract for tool, line in lines.items()})

    def agent_instructions(self) -> str:
        """Return the sentences that tell an agent what the three outcomes mean (CON-8)."""
        return AGENT_INSTRUCTIONS

    def envelope_schema(self, tool: str, *, caller: Caller | None = None) -> JsonObject:
        """Return the one document that describes every answer of ``tool``. Raises: KeyError.

        ``caller`` as in ``tool_definitions``.
        """
        lines = self._serving.lines_for(None if caller is None else _demand_caller(caller))
        return envelope_of(lines[tool].contract)

    async def reload(self) -> tuple[Problem, ...]:
        """Swap the whole set for what the folder holds now, or keep the old one (CON-3).

        Returns the problems that kept the old set in place; none when it was swapped.
        Raises: AuditUnavailable when the change cannot be recorded; then nothing is swapped.
        """
        if self._reopen is None:
            raise MisuseError("this gate was not opened from a folder, so it cannot reload")
        try:
            opened = await asyncio.to_thread(self._reopen, self._means)
        except BaseException as error:  # an engine's panic keeps the old set as well
            if not is_failure(error):
                raise
            opened = (tell_unopened(error),)
        if isinstance(opened, tuple):
            return await self._keep_old(opened)
        serving = opened.serving.with_lines(self._authored)
        if isinstance(serving, tuple):
            await self._release(opened.serving)
            return await self._keep_old(serving)
        await record_swapped(self._means, serving)
        old, self._serving, self._opened = self._serving, serving, opened.serving
        self._means = opened.means
        self._places = asyncio.Semaphore(serving.contracts.settings.limits.in_flight)
        if not self._in_flight.get(id(old)):
            await self._release(old)
        return ()

    async def _keep_old(self, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
        await record_kept(self._means, self._serving, problems)
        return problems

    async def close(self) -> None:
        """Take no further call, wait for those in flight, then release adapters and store.

        In flight is every ``call``, ``check_call`` and ``check_result`` that has not returned;
        an ``Outstanding`` that waits for its answer is not, and shows as an open intent. The wait
        is bounded by the deadlines of the calls themselves. What an adapter, the notifier or the
        store raises while closing is raised once all of them were told.
        """
        if self._closed:
            return
        self._closed = True
        while self._in_flight:
            self._idle.clear()
            await self._idle.wait()
        while self._means.unfinished:
            await asyncio.gather(*self._means.unfinished, return_exceptions=True)
        outside = [
            line.adapter.close
            for tool, line in self._authored.items()
            if tool not in self._serving.lines
        ]
        await close_all(
            self._serving.close,
            *outside,
            lambda: asyncio.to_thread(self._means.notifier.close),
            *(() if self._means.quota is None else (self._means.quota.close,)),
            *(() if self._means.replays is None else (self._means.replays.close,)),
            self._means.store.close,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @asynccontextmanager
    async def _entered(self) -> AsyncIterator[Serving]:
        """Hold the set that the call began with; close it after the last call that uses it."""
        if self._closed:
            raise MisuseError("this gate is closed; open a new one")
        self._demand_own_loop()
        serving = self._serving
        self._in_flight[id(serving)] = self._in_flight.get(id(serving), 0) + 1
        try:
            yield serving
        finally:
            self._in_flight[id(serving)] -= 1
            if not self._in_flight[id(serving)]:
                del self._in_flight[id(serving)]
                self._idle.set()
                if serving is not self._serving:
                    await self._release(serving)

    def _demand_own_loop(self) -> None:
        loop = asyncio.get_running_loop()
        with self._binding:
            if self._loop is None:
                self._loop = loop
        if loop is not self._loop:
            raise MisuseError(
                "this gate is bound to the event loop that used it first: open a gate in each"
                " loop, or use open_blocking for code without one"
            )

    async def _release(self, serving: Serving) -> None:
        """Close a set that is not served (any more): what its adapters raise changes no answer.

        A contract beside its function outlives every set: an operator may put it back.
        """
        try:
            await serving.close(but_for=[*self._serving.every_line(), *self._authored.values()])
        except BaseException as error:
            if not is_failure(error):
                raise
            _LOG.warning(
                "an adapter that is served no more did not close: %s", type(error).__name__
            )


def _demand_caller(caller: Caller) -> Caller:
    if not isinstance(caller, Caller):
        raise MisuseError('`caller` is a Caller, for instance Caller(subject="svc-deploy")')
    for name, text in (
        ("subject", caller.subject),
        ("tenant", caller.tenant),
        ("session", caller.session),
    ):
        if (name == "subject" and not text) or (text is not None and not _is_plain(text)):
            raise MisuseError(
                f"`{name}` of a Caller is a text without NUL and lone surrogates: two callers"
                " would be written alike in the record"
            )
    return caller


def _demand_call_id(call_id: str | None) -> str | None:
    if call_id is not None and not _is_plain(call_id):
        raise MisuseError("`call_id` is the host's own id of the call, as a text without NUL")
    return call_id or None


def _is_plain(text: object) -> bool:
    if not isinstance(text, str) or "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_bytes(arguments: str | bytes) -> bytes:
    """Return the text of a call as bytes; a lone surrogate becomes bytes that are not UTF-8.

    So ``parse`` refuses it as it refuses every bad byte: nothing is replaced.
    """
    if isinstance(arguments, bytes):
        return arguments
    if not isinstance(arguments, str):
        raise MisuseError(
            "`arguments` is the model's own text, str or bytes; for an object use json.dumps"
        )
    return arguments.encode("utf-8", "surrogatepass")
