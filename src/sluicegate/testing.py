"""A kit for tests of hosts and contracts: a clock that stands still, a recorded upstream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from sluicegate.checks.meaning import ResultCheck
from sluicegate.checks.soundness import ArgumentCheck
from sluicegate.contracts.contract import PythonName
from sluicegate.contracts.loading import load
from sluicegate.contracts.served import ContractSet
from sluicegate.errors import ContractFolderError
from sluicegate.gates.answers import Answer
from sluicegate.gates.call_gate import CallLadder
from sluicegate.gates.gate import Gate
from sluicegate.gates.means import Means
from sluicegate.gates.ports import (
    Adapter,
    AuditStore,
    Authorizer,
    Decision,
    Dispatch,
    Notice,
    Replays,
    SigningKeys,
)
from sluicegate.gates.readings import KeyReading
from sluicegate.gates.result_gate import ResultLadder
from sluicegate.gates.serving import Line, Serving
from sluicegate.gates.verdicts import Verdict
from sluicegate.gates.watching import UNOBSERVED, Observer
from sluicegate.opening.clock import new_request_id
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.replays_memory import MemoryReplays
from sluicegate.values.json import JsonValue
from sluicegate.values.receipts import Receipt

NOON: Final = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


class FixedClock:
    """A clock that moves only when it is told to, or when somebody sleeps on it."""

    def __init__(self, now: datetime = NOON) -> None:
        self._start = now
        self._elapsed = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        """Return the aware UTC wall time."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return seconds since the clock was made."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Let the time pass at once."""
        self.slept.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass."""
        self._elapsed += seconds


class RecordedUpstream:
    """An adapter that plays receipts in order, the last one for ever, and records what was asked.

    ``received`` items are raw bytes, whole receipts, or exceptions to raise.
    """

    name = "recorded"
    version = "1"
    endpoint = "recorded"

    def __init__(self, *received: bytes | Receipt | Exception) -> None:
        self._received = received or (b"",)
        self.dispatches: list[Dispatch] = []
        self.kept: list[Receipt] = []

    async def fetch(self, dispatch: Dispatch) -> Receipt:
        """Return the next receipt. Raises the exception that stands in its place."""
        index = min(len(self.dispatches), len(self._received) - 1)
        self.dispatches.append(dispatch)
        received = self._received[index]
        if isinstance(received, Exception):
            raise received
        if isinstance(received, Receipt):
            return received
        return Receipt(adapter=self.name, adapter_version="1", endpoint="recorded", raw=received)

    async def keep(self, dispatch: Dispatch, receipt: Receipt) -> None:
        """Remember what was accepted."""
        self.kept.append(receipt)

    async def close(self) -> None:
        """Nothing is held."""


class AllowEverything:
    """A decision point for tests alone: it allows each query and remembers it."""

    def __init__(self) -> None:
        self.queries: list[object] = []

    async def decide(self, query: object) -> Decision:
        """Allow."""
        self.queries.append(query)
        return Decision(allow=True, decision_id=f"test-{len(self.queries)}")


class Notices:
    """A notifier that remembers."""

    def __init__(self) -> None:
        self.taken: list[Notice] = []

    def notify(self, notice: Notice) -> None:
        """Take the notice."""
        self.taken.append(notice)

    def close(self) -> None:
        """Nothing waits."""


def contracts_of(
    documents: Mapping[str, str | bytes],
    *,
    resolve: Callable[[PythonName], object] | None = None,
) -> ContractSet:
    """Load documents given as text. Raises: ContractFolderError with every problem."""
    loaded = load(
        {
            name: text.encode() if isinstance(text, str) else text
            for name, text in documents.items()
        },
        resolve=resolve,
    )
    if isinstance(loaded, tuple):
        raise ContractFolderError(loaded)
    return loaded


def gate_of(
    contracts: ContractSet,
    upstreams: Mapping[str, Adapter],
    *,
    clock: FixedClock | None = None,
    store: AuditStore | None = None,
    authorizer: Authorizer | None = None,
    notices: Notices | None = None,
    keys: Mapping[str, SigningKeys] | None = None,
    replays: Replays | None = None,
    observer: Observer = UNOBSERVED,
    argument_checks: Sequence[ArgumentCheck] = (),
    result_checks: Sequence[ResultCheck] = (),
) -> Gate:
    """Return a gate over ``upstreams`` by tool, with its record in memory and no jitter.

    ``keys`` by tool verify signed answers; ``replays`` is in memory as well where none is given.
    """
    lines = {
        tool: Line(
            contract=contracts.contracts[tool],
            call=CallLadder(contracts.contracts[tool], argument_checks),
            result=ResultLadder(contracts.contracts[tool], result_checks),
            adapter=adapter,
            keys=KeyReading(keys[tool]) if keys and tool in keys else None,
        )
        for tool, adapter in upstreams.items()
    }
    means = Means(
        clock=clock or FixedClock(),
        store=store or MemoryStore(),
        authorizer=authorizer or AllowEverything(),
        notifier=notices or Notices(),
        retention=contracts.settings.retention,
        new_request_id=new_request_id,
        draw=lambda: 0.5,
        quotas=contracts.settings.limits.quotas,
        replays=replays or MemoryReplays(),
        observer=observer,
    )
    return Gate(means, Serving(contracts=contracts, lines=lines, withdrawn={}))


def assert_rejected(outcome: Verdict | Answer[JsonValue], *, code: str) -> None:
    """Assert that a verdict, or what the agent sees of an answer, is a refusal with ``code``."""
    seen = outcome.code
    assert seen is not None, "was accepted"  # noqa: S101  (that is this function's work)
    assert str(seen) == code, f"was refused with {seen}"  # noqa: S101


def receipts(*raws: bytes, status: int = 200) -> Iterable[Receipt]:
    """Yield HTTP receipts of JSON bodies, for RecordedUpstream."""
    for raw in raws:
        yield Receipt(
            adapter="http",
            adapter_version="1",
            endpoint="recorded",
            raw=raw,
            status=status,
            content_type="application/json",
        )
