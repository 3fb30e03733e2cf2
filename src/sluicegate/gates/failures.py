"""Which exceptions a gate closes, and which are orders that it obeys (SPEC RES-9)."""

from __future__ import annotations

import asyncio

from sluicegate.values.failures import INTERRUPTIONS


def is_failure(error: BaseException) -> bool:
    """Whether ``error`` says that something went wrong, and so must end closed.

    False for ``INTERRUPTIONS`` and, here where a loop runs, for a cancellation. ``except
    Exception`` is not enough: an engine in native code panics with a BaseException.
    """
    return not isinstance(error, (*INTERRUPTIONS, asyncio.CancelledError))


def text_of(error: BaseException) -> str:
    """Return what ``error`` says, for custody only; its type where even its text raises."""
    try:
        return repr(error)
    except BaseException as failed:
        if not is_failure(failed):
            raise
        return type(error).__name__
