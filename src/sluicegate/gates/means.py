"""What every call of a gate works with: the filled ports, and the settings that govern them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from sluicegate.contracts.contract import QuotaRule
from sluicegate.contracts.settings import RetentionSettings
from sluicegate.gates.ports import AuditStore, Authorizer, Clock, Notifier, Quota, Replays
from sluicegate.gates.repetition import Repetition
from sluicegate.gates.watching import UNOBSERVED, Observer
from sluicegate.values.requests import RequestId


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """``new_request_id`` and ``draw`` (a number in [0, 1)) are the only sources of randomness.

    ``quotas`` are the folder's own; ``quota`` None: the record counts, with each intent.
    ``running`` are the calls that have not returned; ``unfinished`` is what outlives its call.
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

    def finish_later(self, work: Coroutine[Any, Any, object]) -> None:
        """Let ``work`` outlive a cancelled call; ``close`` waits for it."""
        task = asyncio.get_running_loop().create_task(work)
        self.unfinished.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[object]) -> None:
        self.unfinished.discard(task)
        if not task.cancelled():
            task.exception()  # the intent stays open and shows as such: nothing more to do
