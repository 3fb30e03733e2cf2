"""What a gate serves by: a set and its means, opened, swapped and closed whole (CON-3)."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from sluicegate.contracts.problems import Problem
from sluicegate.errors import ContractFolderError, MisuseError
from sluicegate.gates.announcing import Announcer, record_kept, record_swapped, tell_unopened
from sluicegate.gates.failures import is_failure
from sluicegate.gates.means import Means
from sluicegate.gates.places import Places
from sluicegate.gates.serving import Line, Serving, close_all

_LOG: Final = logging.getLogger("sluicegate")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """A set, and the means that its settings ask for: what a call keeps from begin to end."""

    serving: Serving
    means: Means


Reopen: TypeAlias = Callable[[Opened], Opened | tuple[Problem, ...]]
"""Opens the folder anew, beside what is served now; the problems where it does not load."""


class Tenure:
    """What is in force, and who is still judged by what was before.

    Bound to the event loop that first uses it. Contracts that are written beside their functions
    outlive every set: an operator may put them back.
    """

    def __init__(self, opened: Opened, reopen: Reopen | None) -> None:
        self._folder = opened.serving  # without what is written beside functions
        self._now = opened
        self._reopen = reopen
        self._authored: dict[str, Line] = {}
        self._in_flight: dict[Opened, int] = {}
        self._idle = asyncio.Event()
        self._changing = asyncio.Lock()
        self._releasing: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._binding = threading.Lock()
        self.announcer = Announcer()
        self.places = Places(opened.serving.contracts.settings.limits.in_flight)

    @property
    def now(self) -> Opened:
        """What new calls begin with."""
        return self._now

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[Opened]:
        """Hold what the call begins with; behind the last one that holds it, it is released.

        No call waits for that. Raises: MisuseError once closed, and in another event loop.
        """
        self._demand_open()
        self._demand_own_loop()
        held = self._hold()
        try:
            yield held
        finally:
            self._leave(held)

    def add(self, line: Line) -> None:
        """Serve a contract that was written beside its function, from now on.

        Raises: MisuseError where its name is taken, or where it is signed and nothing of the folder
        is; ContractFolderError.
        """
        taken = self._now.serving.taken(line.contract.tool)
        if taken is not None:
            raise MisuseError(taken)
        if line.keys is not None and self._now.means.replays is None:
            raise MisuseError(
                "this gate remembers no signed answers, since no contract of its folder demands"
                " a signature: write this contract into the folder"
            )
        authored = {**self._authored, line.contract.tool: line}
        serving = self._folder.with_lines(authored)
        if isinstance(serving, tuple):
            raise ContractFolderError(serving)
        self._authored = authored
        self._now = Opened(serving=serving, means=self._now.means)
        self.announcer.renew()

    async def reload(self) -> tuple[Problem, ...]:
        """Swap the whole set for what the folder holds now, or keep the old one.

        One at a time, so that what was read last is in force last. Returns the problems that kept
        the old set in place. Raises: MisuseError once closed, and where there is no folder;
        AuditUnavailable where the change cannot be recorded: nothing is swapped.
        """
        if self._reopen is None:
            raise MisuseError("this gate was not opened from a folder, so it cannot reload")
        self._demand_open()
        self._demand_own_loop()
        async with self._changing:
            self._demand_open()
            opened = await self._open_anew(self._reopen)
            if isinstance(opened, tuple):
                await record_kept(self._now.means, self._now.serving, opened)
                return opened
            try:
                return await self._swap(opened)
            except BaseException:
                self._let_go(opened)
                # The record may say all the same that it was swapped: the next call says what is.
                self.announcer.renew()
                raise

    async def close(self) -> None:
        """Let nothing begin, wait for what is in flight, then release adapters and store.

        It goes on where whoever waits for it leaves, and all that ask wait for the same. What an
        adapter, the notifier or the store raises while closing is raised once all of them were
        told.
        """
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        async with self._changing:
            while self._in_flight:
                self._idle.clear()
                await self._idle.wait()
        means = self._now.means
        await means.owing.close()
        while self._releasing:
            await asyncio.wait(self._releasing)
        outside = [
            line.adapter.close
            for tool, line in self._authored.items()
            if tool not in self._now.serving.lines
        ]
        await close_all(
            self._now.serving.close,
            *outside,
            lambda: asyncio.to_thread(means.notifier.close),
            *(() if means.quota is None else (means.quota.close,)),
            *(() if means.replays is None else (means.replays.close,)),
            means.store.close,
        )

    def _hold(self) -> Opened:
        held = self._now
        self._in_flight[held] = self._in_flight.get(held, 0) + 1
        return held

    def _leave(self, held: Opened) -> None:
        self._in_flight[held] -= 1
        if not self._in_flight[held]:
            del self._in_flight[held]
            if held is not self._now:
                self._let_go(held)
            self._idle.set()

    async def _open_anew(self, reopen: Reopen) -> Opened | tuple[Problem, ...]:
        before = self._hold()  # what is opened beside it may have its notifier, also when cancelled
        opening = asyncio.ensure_future(asyncio.to_thread(reopen, before))
        try:
            opened = await asyncio.shield(opening)
        except BaseException as error:  # an engine's panic keeps the old set as well
            if not is_failure(error):
                self._now.means.owing.finish_later(self._discard(opening, before))
                raise
            opened = (tell_unopened(error),)
        self._leave(before)
        return opened

    async def _discard(
        self, opening: asyncio.Future[Opened | tuple[Problem, ...]], before: Opened
    ) -> None:
        """Of a reload that was cancelled: the thread goes on, and what it opens is released."""
        try:
            opened = await opening
            if isinstance(opened, Opened):
                self._let_go(opened)
        finally:
            self._leave(before)

    async def _swap(self, opened: Opened) -> tuple[Problem, ...]:
        while True:
            authored = self._authored
            serving = opened.serving.with_lines(authored)
            if isinstance(serving, tuple):
                await record_kept(self._now.means, self._now.serving, serving)
                self._let_go(opened)
                return serving
            await record_swapped(self._now.means, serving)
            if authored is self._authored:
                break  # no function was registered while that was recorded
        old, self._folder = self._now, opened.serving
        self._now = Opened(serving=serving, means=opened.means)
        if old not in self._in_flight:
            self._let_go(old)
        await self.places.resize(serving.contracts.settings.limits.in_flight)
        return ()

    def _demand_open(self) -> None:
        if self._closing is not None:
            raise MisuseError("this gate is closed; open a new one")

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

    def _let_go(self, opened: Opened) -> None:
        """Begin to release what is not in force (any more); nobody waits for it but ``close``.

        What is in force as well, or held by a call, stays, and adapters written beside a function.
        That is judged here, while nothing else can be let go: each thing goes with the last that
        has it, once.
        """
        held = [self._now, *self._in_flight]
        kept = [line for each in held for line in each.serving.every_line()]
        kept += self._authored.values()
        closings: list[Callable[[], Awaitable[object]]] = [
            lambda: opened.serving.close(but_for=kept)
        ]
        notifier, replays = opened.means.notifier, opened.means.replays
        if all(notifier is not each.means.notifier for each in held):
            closings.append(lambda: asyncio.to_thread(notifier.close))
        if replays is not None and all(replays is not each.means.replays for each in held):
            closings.append(replays.close)
        releasing = asyncio.get_running_loop().create_task(_release(closings))
        self._releasing.add(releasing)
        releasing.add_done_callback(self._releasing.discard)


async def _release(closings: list[Callable[[], Awaitable[object]]]) -> None:
    """Do each of ``closings``: what one raises changes no answer."""
    try:
        await close_all(*closings)
    except BaseException as error:
        if not is_failure(error):
            raise
        _LOG.warning("what is served no more did not close: %s", type(error).__name__)
