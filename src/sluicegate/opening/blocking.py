"""The blocking twin: the same gate on an event loop of its own, for code without one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from sluicegate.contracts.problems import Problem
from sluicegate.gates.answers import Answer
from sluicegate.gates.gate import Gate, ToolCall
from sluicegate.gates.outstanding import Outstanding
from sluicegate.opening.folder import open_gate
from sluicegate.values.callers import Caller
from sluicegate.values.json import JsonObject, JsonValue
from sluicegate.values.receipts import Receipt

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., object])


class BlockingGate:
    """A ``Gate`` whose methods block. Safe to use from several threads at once."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="sluicegate", daemon=True
        )
        self._thread.start()

    def _wait(self, work: Coroutine[Any, Any, R]) -> R:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupted caller's call is cancelled, not left running
            raise

    def call(
        self,
        tool: str,
        arguments: str | bytes,
        *,
        caller: Caller,
        call_id: str | None = None,
        deadline_s: float | None = None,
    ) -> Answer[JsonValue]:
        """As ``Gate.call``."""
        return self._wait(
            self._gate.call(tool, arguments, caller=caller, call_id=call_id, deadline_s=deadline_s)
        )

    def call_as(
        self,
        wanted: type[T],
        tool: str,
        arguments: str | bytes,
        *,
        caller: Caller,
        call_id: str | None = None,
        deadline_s: float | None = None,
    ) -> Answer[T]:
        """As ``Gate.call`` with ``as_=wanted``."""
        return self._wait(
            self._gate.call(
                tool,
                arguments,
                caller=caller,
                call_id=call_id,
                deadline_s=deadline_s,
                as_=wanted,
            )
        )

    def call_all(
        self, calls: Sequence[ToolCall], *, caller: Caller, deadline_s: float | None = None
    ) -> list[Answer[JsonValue]]:
        """As ``Gate.call_all``."""
        return self._wait(self._gate.call_all(calls, caller=caller, deadline_s=deadline_s))

    def check_call(
        self, tool: str, arguments: str | bytes, *, caller: Caller, call_id: str | None = None
    ) -> Outstanding | Answer[JsonValue]:
        """As ``Gate.check_call``."""
        return self._wait(self._gate.check_call(tool, arguments, caller=caller, call_id=call_id))

    def check_result(
        self, outstanding: Outstanding, received: bytes | Receipt
    ) -> Answer[JsonValue]:
        """As ``Gate.check_result``."""
        return self._wait(self._gate.check_result(outstanding, received))

    def tool(self, **parts: Any) -> Callable[[F], F]:
        """As ``Gate.tool``."""
        return self._gate.tool(**parts)

    def tool_definitions(self, *, caller: Caller | None = None) -> list[dict[str, JsonValue]]:
        """As ``Gate.tool_definitions``."""
        return self._gate.tool_definitions(caller=caller)

    def agent_instructions(self) -> str:
        """As ``Gate.agent_instructions``."""
        return self._gate.agent_instructions()

    def envelope_schema(self, tool: str, *, caller: Caller | None = None) -> JsonObject:
        """As ``Gate.envelope_schema``."""
        return self._gate.envelope_schema(tool, caller=caller)

    def reload(self) -> tuple[Problem, ...]:
        """As ``Gate.reload``."""
        return self._wait(self._gate.reload())

    def close(self) -> None:
        """Close the gate and end its loop."""
        if self._loop.is_closed():
            return
        self._wait(self._gate.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_blocking(folder: str | Path = "contracts", *, python: bool = True) -> BlockingGate:
    """Open a contract folder for code without an event loop. Raises as ``open_gate``."""
    return BlockingGate(open_gate(folder, python=python))
