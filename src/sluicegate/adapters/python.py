"""A Python function as an upstream: called in this process, its value encoded and parsed again.

Source: SPEC ADP-4 (last sentence). A synchronous function runs in a daemon thread of its own.
A thread cannot be stopped: past the deadline, or when the call is cancelled, its result is
ignored and the thread runs on; at most ``MAX_RUNNING`` of them per tool, then calls are refused
before they start. An asynchronous function runs as a task that is cancelled, and not waited for.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, cast

import jiter

from sluicegate.adapters.encoding import NotJson, encode_value
from sluicegate.adapters.provenance import PACKAGE_VERSION, Provenance
from sluicegate.contracts.contract import PythonFetch
from sluicegate.errors import ConfigurationError
from sluicegate.gates.foreign_functions import DaemonThreads, NoRoom, is_async, run_async
from sluicegate.gates.ports import Dispatch
from sluicegate.values.receipts import Fault, Receipt

MAX_RUNNING: Final = 64


class PythonAdapter:
    """Calls ``function`` with the arguments as keywords, on objects that nobody else holds."""

    name: Final = "python"
    version: Final = PACKAGE_VERSION

    def __init__(self, fetch: PythonFetch, function: Callable[..., object]) -> None:
        """Raises: ConfigurationError where ``function`` cannot be called by keywords."""
        self._function = function
        self._is_async: Final = is_async(function)
        try:
            self._signature: Final = inspect.signature(function)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"{fetch.function} has no readable signature") from error
        self.endpoint: Final = str(fetch.function)
        self._provenance: Final = Provenance(self.name, self.version, self.endpoint)
        self._limit: Final = MAX_RUNNING
        self._threads: Final = DaemonThreads(self.endpoint, self._limit)
        self._tasks: Final[set[asyncio.Task[Receipt]]] = set()

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Call the function once within ``dispatch.timeout_s``; its encoded value is the answer."""
        # Parsed anew: the function may change what it gets, and the gate's object stays as it is.
        arguments = jiter.from_json(dispatch.arguments_text, cache_mode="keys")
        try:
            self._signature.bind(**arguments)
        except TypeError as error:
            return self._fail(Fault.RAISED, f"the arguments do not fit: {error}", dispatched=False)
        start = self._start_task if self._is_async else self._start_thread
        try:
            running = start(arguments, dispatch.max_bytes)
        except NoRoom as refused:
            return self._fail(Fault.UNREACHABLE, str(refused), dispatched=False)
        try:
            done, _ = await asyncio.wait({running}, timeout=dispatch.timeout_s)
        except asyncio.CancelledError:
            running.cancel()
            raise
        if not done:
            running.cancel()
            return self._fail(Fault.TIMEOUT, "the deadline passed")
        return running.result()

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Nothing is kept."""

    async def close(self) -> None:
        """Cancel asynchronous calls that outlived their deadline."""
        for task in tuple(self._tasks):
            task.cancel()

    def _start_task(
        self, arguments: Mapping[str, object], max_bytes: int
    ) -> asyncio.Future[Receipt]:
        if len(self._tasks) >= self._limit:
            raise NoRoom(f"{self._limit} earlier calls of {self.endpoint} still run")
        work = run_async(lambda: self._await(arguments, max_bytes), self._raised)
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # the loop itself holds tasks weakly
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Receipt]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    async def _await(self, arguments: Mapping[str, object], max_bytes: int) -> Receipt:
        work = cast("Coroutine[Any, Any, object]", self._function(**arguments))
        return self._encode(await work, max_bytes)

    def _start_thread(
        self, arguments: Mapping[str, object], max_bytes: int
    ) -> asyncio.Future[Receipt]:
        return self._threads.start(lambda: self._call(arguments, max_bytes), self._raised)

    def _call(self, arguments: Mapping[str, object], max_bytes: int) -> Receipt:
        value = self._function(**arguments)
        if inspect.iscoroutine(value):
            value.close()  # nobody awaits it here; it is refused as a value
        return self._encode(value, max_bytes)

    def _encode(self, value: object, max_bytes: int) -> Receipt:
        try:
            raw = encode_value(value)
        except NotJson as error:
            return self._fail(Fault.NOT_JSON, str(error))
        if len(raw) > max_bytes:
            return self._fail(Fault.TOO_LARGE, f"the value takes {len(raw)} bytes")
        return Receipt(
            adapter=self.name,
            adapter_version=self.version,
            endpoint=self.endpoint,
            raw=raw,
            content_type="application/json",
        )

    def _raised(self, error: BaseException) -> Receipt:
        try:
            text = "".join(traceback.format_exception(error))
        except BaseException:  # noqa: BLE001  (an exception whose own text raises)
            text = type(error).__name__
        return self._fail(Fault.RAISED, text)

    def _fail(self, fault: Fault, diagnostics: str, *, dispatched: bool = True) -> Receipt:
        return self._provenance.fail(fault, dispatched=dispatched, diagnostics=diagnostics)
