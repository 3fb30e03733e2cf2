"""A Python function as the decision point (SPEC ACC-2).

A synchronous function runs in a daemon thread of its own, so that the gate's time limit bites and
one that hangs holds up nothing else. A thread cannot be stopped: past the limit it runs on and its
answer is ignored; at most ``MAX_RUNNING`` of them, then questions are refused unasked.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Callable
from typing import Final, TypeAlias, cast

from sluicegate.access.table import new_decision_id
from sluicegate.gates.ports import AccessQuery, Decision

MAX_RUNNING: Final = 64

_Ended: TypeAlias = "tuple[object, Exception | None]"


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
        self._is_async: Final = inspect.iscoroutinefunction(
            function
        ) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  (an object with an async __call__)
        )
        self._name: Final = name
        self._new_id = new_id
        self._running: Final = threading.Semaphore(MAX_RUNNING)

    async def decide(self, query: AccessQuery) -> Decision:
        """Return the function's decision.

        Raises: RuntimeError where ``MAX_RUNNING`` earlier questions still run.
        """
        decided = self._function(query) if self._is_async else await self._ask_apart(query)
        if inspect.isawaitable(decided):
            decided = await decided
        if decided is True or decided is False:
            return Decision(
                allow=decided,
                decision_id=self._new_id(),
                reason=f"{self._name} decided",
                policy_version=self._name,
            )
        return cast("Decision", decided)

    async def _ask_apart(self, query: AccessQuery) -> object:
        if not self._running.acquire(blocking=False):
            raise RuntimeError(f"{MAX_RUNNING} earlier questions to {self._name} still run")
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[_Ended] = loop.create_future()
        context = contextvars.copy_context()

        def run() -> None:
            try:
                ended = context.run(self._ask, query)
            finally:
                self._running.release()
            try:
                loop.call_soon_threadsafe(_deliver, answered, ended)
            except RuntimeError:
                return  # the loop was closed: nobody waits any more

        try:
            threading.Thread(target=run, name=f"sluicegate {self._name}", daemon=True).start()
        except RuntimeError:  # the system gives no more threads
            self._running.release()
            raise
        decided, error = await answered
        if error is not None:
            raise error
        return decided

    def _ask(self, query: AccessQuery) -> _Ended:
        try:
            return self._function(query), None
        except Exception as error:  # noqa: BLE001  (handed on to whoever asked)
            return None, error
        except BaseException as error:  # noqa: BLE001  (an exit or a cancellation is not ours)
            return None, RuntimeError(f"{self._name} raised {type(error).__name__}")


def _deliver(answered: asyncio.Future[_Ended], ended: _Ended) -> None:
    if not answered.done():
        answered.set_result(ended)
