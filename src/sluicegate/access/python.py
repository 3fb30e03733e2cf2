"""A Python function as the decision point (SPEC ACC-2).

A synchronous function runs in a daemon thread of its own, so that the gate's time limit bites and
one that hangs holds up nothing else. A thread cannot be stopped: past the limit it runs on and its
answer is ignored; at most ``MAX_RUNNING`` of them, then questions are refused unasked.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, cast

from sluicegate.access.decision_ids import new_decision_id
from sluicegate.gates.foreign_functions import DaemonThreads, is_async, run_async
from sluicegate.gates.ports import AccessQuery, Decision

MAX_RUNNING: Final = 64


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


class FunctionAuthorizer:
    """Asks ``function(query)``, which returns ``True``, ``False`` or a ``Decision``.

    Anything else is handed on as it is, and what it raises is raised: the gate takes both for
    PDP_UNAVAILABLE.
    """

    def __init__(
        self,
        function: Callable[[AccessQuery], object],
        *,
        name: str,
        new_id: Callable[[], str] = new_decision_id,
    ) -> None:
        """``name`` stands as the policy version: ``module:attribute``."""
        self._function = function
        self._is_async: Final = is_async(function)
        self._name: Final = name
        self._new_id = new_id
        self._threads: Final = DaemonThreads(name, MAX_RUNNING)

    async def decide(self, query: AccessQuery) -> Decision:
        """Return the function's decision.

        Raises: NoRoom where ``MAX_RUNNING`` earlier questions still run.
        """
        decided = self._function(query) if self._is_async else await self._ask_apart(query)
        if inspect.isawaitable(decided):
            awaitable: Awaitable[object] = decided
            decided = await run_async(lambda: awaitable, self._raised)
        if isinstance(decided, _Raised):
            raise decided.error
        if decided is True or decided is False:
            return Decision(
                allow=decided,
                decision_id=self._new_id(),
                reason=f"{self._name} decided",
                policy_version=self._name,
            )
        return cast("Decision", decided)

    async def _ask_apart(self, query: AccessQuery) -> object:
        return await self._threads.start(lambda: self._function(query), self._raised)

    def _raised(self, error: BaseException) -> object:
        if isinstance(error, Exception):
            return _Raised(error)
        # An exit or a cancellation of the function's is not ours.
        return _Raised(RuntimeError(f"{self._name} raised {type(error).__name__}"))
