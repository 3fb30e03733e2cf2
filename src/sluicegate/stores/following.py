"""What follows a record off its callers' path: one run at a time, and a failure is told once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from sluicegate.gates.failures import is_failure

_LOG: Final = logging.getLogger("sluicegate")


class Following:
    """Runs ``work``, never twice at once; bound to the event loop that begins it first.

    A failure that is ``foreseen`` is told by its text, any other by its type: as ``failed`` in the
    log, where it is another one than before. ``mended`` is told when it is over. ``then`` is done
    behind each run, when the next one may begin.
    """

    def __init__(
        self,
        work: Callable[[], Awaitable[None]],
        *,
        foreseen: type[Exception],
        failed: str,
        then: Callable[[], None],
        mended: str | None = None,
    ) -> None:
        self.problem: str | None = None
        """Why the last run failed; None where it did not."""
        self._work = work
        self._foreseen = foreseen
        self._failed = failed
        self._mended = mended
        self._then = then
        self._task: asyncio.Task[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a run has begun and not ended."""
        return self._task is not None

    def begin(self) -> asyncio.Task[None]:
        """Return the run that goes on, or begin one: there is never a second beside it."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())
        return self._task

    async def rest(self) -> None:
        """Return once nothing runs, whatever became of it."""
        while self._task is not None:
            await asyncio.wait([self._task])

    def tell(self, problem: str) -> None:
        """Take note of a failure, and log it unless it is the one that is known."""
        if problem != self.problem:
            _LOG.error("%s: %s", self._failed, problem)
        self.problem = problem

    async def _run(self) -> None:
        try:
            await self._work()
        except self._foreseen as error:
            self.tell(str(error))
        except BaseException as error:
            if not is_failure(error):
                raise
            self.tell(type(error).__name__)
        else:
            if self.problem is not None and self._mended is not None:
                _LOG.warning(self._mended)
            self.problem = None
        finally:
            self._task = None
        self._then()
