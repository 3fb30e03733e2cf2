"""What every call of a gate works with: the filled ports, and the settings that govern them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final

from sluicegate.contracts.contract import QuotaRule
from sluicegate.contracts.settings import RetentionSettings
from sluicegate.gates.ports import AuditStore, Authorizer, Clock, Notifier, Quota, Replays
from sluicegate.gates.repetition import Repetition
from sluicegate.gates.watching import UNOBSERVED, Observer
from sluicegate.values.requests import RequestId

_MOST_OWED: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """``new_request_id`` and ``draw`` (a number in [0, 1)) are the only sources of randomness.

    ``quotas`` are the folder's own; ``quota`` None: the record counts, with each intent.
    ``running`` are the calls that have not returned; ``unfinished`` is what outlives its call, and
    ``owed`` what the record did not take of it and is to be tried again.
    """

    clock: Clock
    store: AuditStore
    authorizer: Authorizer
    notifier: Notifier
    retention: RetentionSettings
    new_request_id: Callable[[], RequestId]
    draw: Callable[[], float]
    quota: Quota | None = None
    quotas: tuple[QuotaRule, ...] = ()
    replays: Replays | None = None
    observer: Observer = UNOBSERVED
    repetition: Repetition = field(default_factory=Repetition)
    running: set[RequestId] = field(default_factory=set)
    unfinished: set[asyncio.Task[object]] = field(default_factory=set)
    owed: list[Callable[[], Coroutine[Any, Any, object]]] = field(default_factory=list)

    def finish_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Let ``work`` outlive a cancelled call; ``close`` waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self.unfinished.add(task)
        task.add_done_callback(self._finished)

    def owe(self, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Try ``work`` again once the record takes something; the oldest is let go of many."""
        self.owed.append(work)
        del self.owed[:-_MOST_OWED]

    def pay(self) -> None:
        """Begin what is owed, as where the record is known to take events."""
        owed, self.owed[:] = self.owed[:], []
        for work in owed:
            self.finish_later(work())

    def _finished(self, task: asyncio.Task[object]) -> None:
        self.unfinished.discard(task)
        if not task.cancelled():
            task.exception()  # the intent stays open and shows as such: nothing more to do
