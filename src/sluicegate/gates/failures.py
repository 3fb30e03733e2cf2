"""Which exceptions a gate closes, and which are orders that it obeys (SPEC RES-9)."""

from __future__ import annotations

import asyncio

from sluicegate.gates.ports import AuditUnavailable
from sluicegate.values.failures import INTERRUPTIONS


def is_failure(error: BaseException) -> bool:
    """Whether ``error`` says that something went wrong, and so must end closed.

    False for ``INTERRUPTIONS`` and, here where a loop runs, for a cancellation of the running
    task. A CancelledError that nobody asked this task for is somebody else's: a port awaited what
    was cancelled. ``except Exception`` is not enough: an engine in native code panics with a
    BaseException.
    """
    if isinstance(error, asyncio.CancelledError):
        return not _is_being_cancelled()
    return not isinstance(error, INTERRUPTIONS)


def _is_being_cancelled() -> bool:
    """Whether the running task is; where no task runs, there is no telling: yes."""
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return True
    return task is None or task.cancelling() > 0


def tell_failure(error: BaseException) -> str:
    """Return what the log says of ``error``: the text of the gate's own, the type of another's."""
    return str(error) if isinstance(error, AuditUnavailable) else type(error).__name__


def text_of(error: BaseException) -> str:
    """Return what ``error`` says, for custody only; its type where even its text raises."""
    try:
        return repr(error)
    except BaseException as failed:
        if not is_failure(failed):
            raise
        return type(error).__name__
