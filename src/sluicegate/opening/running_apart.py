"""Coroutines that are run to their end by code which may itself stand inside a running loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` in a loop and a thread of its own, and return what it returns."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()
