"""What may hang while it is read: a file, a keyring. It holds up who waits for it, and nobody else.

A thread cannot be stopped: whoever stops waiting leaves it running. So there is one at a time, and
never one of the loop's own, which everything else shares. Source: SPEC RES-6, RES-9.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, Generic, TypeVar

from sluicegate.checks.authentication_keys import TrustedKeys
from sluicegate.gates.ports import SigningKeys

T = TypeVar("T")


class SharedReading(Generic[T]):
    """Calls ``read`` in a daemon thread, one call at a time, for all who wait for it.

    Who asks while one runs is given what the next one yields: what began before the question
    may have seen what no longer stands.
    """

    def __init__(self, name: str, read: Callable[[], T]) -> None:
        self._name: Final = name
        self._read: Final = read
        self._lock: Final = threading.Lock()
        self._is_running = False
        self._next: Future[T] | None = None

    async def read(self) -> T:
        """Return what a call yields that began after the question; the caller sets the deadline.

        Cancelling ends the waiting alone. Raises: what ``read`` raises; RuntimeError where no
        thread starts.
        """
        return await asyncio.shield(asyncio.wrap_future(self._ask()))

    def _ask(self) -> Future[T]:
        with self._lock:
            if self._is_running:
                self._next = self._next or Future()
                return self._next
            reading: Future[T] = Future()
            threading.Thread(
                target=self._run, args=(reading,), name=f"sluicegate {self._name}", daemon=True
            ).start()
            self._is_running = True
            return reading

    def _run(self, asked: Future[T]) -> None:
        reading: Future[T] | None = asked
        while reading is not None:
            try:
                found = self._read()
            except BaseException as error:  # noqa: BLE001  (it is raised where it is awaited)
                reading.set_exception(error)
            else:
                reading.set_result(found)
            with self._lock:
                reading, self._next = self._next, None
                self._is_running = reading is not None


class KeyReading:
    """The keys of one signed contract, as the calls of a gate wait for them."""

    def __init__(self, source: SigningKeys) -> None:
        self.source: Final = source
        self._reading: Final = SharedReading(f"keys of {source.scope}", lambda: source.read())

    @property
    def scope(self) -> str:
        """What shares one memory of replays."""
        return self.source.scope

    async def read(self) -> TrustedKeys:
        """Return the keys as they are now. Raises: what the source raises; RuntimeError."""
        return await self._reading.read()
