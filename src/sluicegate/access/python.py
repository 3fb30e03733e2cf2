"""A Python function as the decision point (SPEC ACC-2)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Final, cast

from sluicegate.access.table import new_decision_id
from sluicegate.gates.ports import AccessQuery, Decision


class FunctionAuthorizer:
    """Asks ``function(query)``, which returns ``True``, ``False`` or a ``Decision``.

    Anything else is handed on as it is, and what it raises is raised: the gate takes both for
    PDP_UNAVAILABLE. A synchronous function runs in a thread, so that the gate's time limit bites;
    past it the thread runs on and its answer is ignored.
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

    async def decide(self, query: AccessQuery) -> Decision:
        """Return the function's decision."""
        if self._is_async:
            decided = self._function(query)
        else:
            decided = await asyncio.to_thread(self._function, query)
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
