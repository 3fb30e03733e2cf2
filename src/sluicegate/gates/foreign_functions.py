"""How a function of somebody else is run: as a coroutine, or in a bounded daemon thread.

A thread cannot be stopped: whoever stops waiting leaves it running, and its ending is ignored.
Whatever the function raises, exits and cancellations of its own included, is its ending and
never ours: each room maps it by ``raised``. Source: SPEC ADP-4, ACC-2.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")


class NoRoom(RuntimeError):  # noqa: N818  (a state, not a defect)
    """The function was certainly not called: too many earlier calls run, or no thread starts."""


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling ``function`` gives a coroutine; an object with an async ``__call__`` too."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004  (the method itself is looked at)
    )


async def run_async(work: Callable[[], Awaitable[T]], raised: Callable[[BaseException], T]) -> T:
    """Await ``work()`` in the running task; raise only a cancellation of that task."""
    try:
        return await work()
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return raised(error)  # the function's own affair, not ours
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever it raises is its ending)
        return raised(error)


class DaemonThreads:
    """At most ``limit`` threads of one function at a time; one that hangs holds up nothing else."""

    def __init__(self, name: str, limit: int) -> None:
        self._name: Final = name
        self._limit: Final = limit
        self._running: Final = threading.Semaphore(limit)

    def start(
        self, work: Callable[[], T], raised: Callable[[BaseException], T]
    ) -> asyncio.Future[T]:
        """Run ``work``, and ``raised`` with what it raises, in a thread and in this context.

        Cancelling the future ends the waiting alone. Raises: NoRoom.
        """
        if not self._running.acquire(blocking=False):
            raise NoRoom(f"{self._limit} earlier calls of {self._name} still run")
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[T] = loop.create_future()
        context = contextvars.copy_context()

        def run() -> None:
            try:
                ending = context.run(_end, work, raised)
            finally:
                self._running.release()
            try:
                loop.call_soon_threadsafe(_deliver, ended, ending)
            except RuntimeError:
                return  # the loop was closed: nobody waits any more

        try:
            threading.Thread(target=run, name=f"sluicegate {self._name}", daemon=True).start()
        except RuntimeError as error:
            self._running.release()
            raise NoRoom(f"no thread could be started for {self._name}") from error
        return ended


def _end(work: Callable[[], T], raised: Callable[[BaseException], T]) -> T:
    try:
        return work()
    except BaseException as error:  # noqa: BLE001  (whatever it raises is its ending)
        return raised(error)


def _deliver(ended: asyncio.Future[T], ending: T) -> None:
    if not ended.done():
        ended.set_result(ending)
