"""What a gate serves by: a set and its means, opened, swapped and closed whole (CON-3)."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeAlias

from sluicegate.contracts.problems import Problem
from sluicegate.errors import ContractFolderError, MisuseError
from sluicegate.gates.announcing import Announcer, record_kept, record_swapped, tell_unopened
from sluicegate.gates.failures import is_failure
from sluicegate.gates.means import Means
from sluicegate.gates.serving import Line, Serving, close_all

_LOG: Final = logging.getLogger("sluicegate")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Opened:
    """A set that was opened, and the means that its settings ask for."""

    serving: Serving
    means: Means


Reopen: TypeAlias = Callable[[Opened], Opened | tuple[Problem, ...]]
"""Opens the folder anew, beside what is served now; the problems where it does not load."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InForce:
    """What one call keeps from its begin to its end; ``places`` are those of calls in flight."""

    serving: Serving
    means: Means
    places: asyncio.Semaphore


class Tenure:
    """What is in force, and who is still judged by what was before.

    Bound to the event loop that first uses it. Contracts that are written beside their functions
    outlive every set: an operator may put them back.
    """

    def __init__(self, opened: Opened, reopen: Reopen | None) -> None:
        limit = opened.serving.contracts.settings.limits.in_flight
        self._folder = opened.serving  # without what is written beside functions
        self._now = InForce(
            serving=opened.serving, means=opened.means, places=asyncio.Semaphore(limit)
        )
        self._reopen = reopen
        self._authored: dict[str, Line] = {}
        self._in_flight: dict[InForce, int] = {}
        self._idle = asyncio.Event()
        self._changing = asyncio.Lock()
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._binding = threading.Lock()
        self.announcer = Announcer()

    @property
    def now(self) -> InForce:
        """What new calls begin with."""
        return self._now

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[InForce]:
        """Hold what the call begins with; release it after the last call that holds it.

        Raises: MisuseError once closed, and in another event loop.
        """
        self._demand_open()
        self._demand_own_loop()
        held = self._now
        self._in_flight[held] = self._in_flight.get(held, 0) + 1
        try:
            yield held
        finally:
            self._in_flight[held] -= 1
            if not self._in_flight[held]:
                del self._in_flight[held]
                self._idle.set()
                if held is not self._now:
                    await self._release(held.serving, held.means)

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
        self._replace(serving, self._now.means)
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
                await self._release(opened.serving, opened.means)
                raise

    async def close(self) -> None:
        """Let nothing begin, wait for what is in flight, then release adapters and store.

        What an adapter, the notifier or the store raises while closing is raised once all of them
        were told.
        """
        if self._closed:
            return
        self._closed = True
        async with self._changing:
            while self._in_flight:
                self._idle.clear()
                await self._idle.wait()
        means = self._now.means
        while means.unfinished:
            await asyncio.gather(*means.unfinished, return_exceptions=True)
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

    async def _open_anew(self, reopen: Reopen) -> Opened | tuple[Problem, ...]:
        before = Opened(serving=self._now.serving, means=self._now.means)
        opening = asyncio.ensure_future(asyncio.to_thread(reopen, before))
        try:
            return await asyncio.shield(opening)
        except BaseException as error:  # an engine's panic keeps the old set as well
            if is_failure(error):
                return (tell_unopened(error),)
            self._now.means.finish_later(self._discard(opening))
            raise

    async def _discard(self, opening: asyncio.Future[Opened | tuple[Problem, ...]]) -> None:
        """Of a reload that was cancelled: the thread goes on, and what it opens is released."""
        opened = await opening
        if isinstance(opened, Opened):
            await self._release(opened.serving, opened.means)

    async def _swap(self, opened: Opened) -> tuple[Problem, ...]:
        while True:
            authored = self._authored
            serving = opened.serving.with_lines(authored)
            if isinstance(serving, tuple):
                await record_kept(self._now.means, self._now.serving, serving)
                await self._release(opened.serving, opened.means)
                return serving
            await record_swapped(self._now.means, serving)
            if authored is self._authored:
                break  # no function was registered while that was recorded
        old, self._folder = self._now, opened.serving
        self._replace(serving, opened.means)
        if old not in self._in_flight:
            await self._release(old.serving, old.means)
        return ()

    def _replace(self, serving: Serving, means: Means) -> None:
        """Where the limit changed, calls that run hold places of the old one to their end."""
        before = self._now.serving.contracts.settings.limits.in_flight
        limit = serving.contracts.settings.limits.in_flight
        places = self._now.places if limit == before else asyncio.Semaphore(limit)
        self._now = InForce(serving=serving, means=means, places=places)

    def _demand_open(self) -> None:
        if self._closed:
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

    async def _release(self, serving: Serving, means: Means) -> None:
        """Close what is not in force (any more): what that raises changes no answer.

        What is in force as well, or held by a call, stays, and adapters written beside a function.
        """
        held = [self._now, *self._in_flight]
        kept = [line for each in held for line in each.serving.every_line()]
        closings = [lambda: serving.close(but_for=[*kept, *self._authored.values()])]
        if all(means.notifier is not each.means.notifier for each in held):
            closings.append(lambda: asyncio.to_thread(means.notifier.close))
        try:
            await close_all(*closings)
        except BaseException as error:
            if not is_failure(error):
                raise
            _LOG.warning("what is served no more did not close: %s", type(error).__name__)
