"""One gate from its first call to its end: one loop, a set that is kept, everything closed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.contracts.problems import Problem
from sluicegate.errors import ConfigurationError, MisuseError
from sluicegate.gates.gate import Gate
from sluicegate.gates.serving import close_all
from sluicegate.gates.tenure import Opened
from sluicegate.stores.memory import MemoryStore
from sluicegate.testing import Notices, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller

CALLER = Caller(subject="svc-deploy")


class Panic(BaseException):
    """As an engine written in Rust raises it: no Exception."""


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("method", ["call", "check_call"])
async def test_a_gate_that_is_used_from_another_loop_says_so_at_once(method: str) -> None:
    gate = gate_of(contracts(), {"job_status": RecordedUpstream(answer())})
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).outcome == "success"
    raised: list[BaseException] = []

    def use_elsewhere() -> None:
        try:
            asyncio.run(getattr(gate, method)("job_status", ARGUMENTS, caller=CALLER))
        except MisuseError as error:
            raised.append(error)

    thread = threading.Thread(target=use_elsewhere)
    thread.start()
    await asyncio.to_thread(thread.join)
    assert ["open_blocking" in str(error) for error in raised] == [True]
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).outcome == "success"


@pytest.mark.requirement("CON-3", "RES-9")
@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Panic("a secret"), "the folder could not be opened: Panic"),
        (ValueError("a secret"), "the folder could not be opened: ValueError"),
        (OSError("disk gone"), "disk gone"),
        (ConfigurationError("no such key"), "no such key"),
    ],
    ids=["panic", "defect", "disk", "configuration"],
)
async def test_a_reload_that_cannot_open_the_folder_keeps_the_old_set(
    error: BaseException, message: str
) -> None:
    def reopen(_: Opened) -> Opened | tuple[Problem, ...]:
        raise error

    notices = Notices()
    made = gate_of(contracts(), {"job_status": RecordedUpstream(answer())}, notices=notices)
    gate = Gate(made._means, made._serving, reopen=reopen)
    (problem,) = await gate.reload()
    assert (problem.code, problem.message) == ("CONTRACT_INVALID", message)
    assert [(e.kind, e.outcome) for e in gate.audit.events()] == [("contracts", "refused")]
    (notice,) = notices.taken
    assert (notice.code, notice.says) == ("CONTRACT_INVALID", notice.findings[0].hint)
    assert (await gate.call("job_status", ARGUMENTS, caller=CALLER)).outcome == "success"


@pytest.mark.requirement("RES-9")
@pytest.mark.parametrize("error", [Panic("stuck"), OSError("stuck")], ids=["panic", "disk"])
async def test_an_adapter_that_cannot_close_keeps_nothing_else_open(error: BaseException) -> None:
    closed: list[str] = []

    class Stuck(RecordedUpstream):
        async def close(self) -> None:
            raise error

    class Told(Notices):
        def close(self) -> None:
            closed.append("notifier")

    class Store(MemoryStore):
        async def close(self) -> None:
            closed.append("store")
            await super().close()

    gate = gate_of(contracts(), {"job_status": Stuck()}, store=Store(), notices=Told())
    with pytest.raises(type(error), match="stuck"):
        await gate.close()
    assert closed == ["notifier", "store"]


def raising(error: BaseException, seen: list[str]) -> Callable[[], object]:
    async def close() -> None:
        seen.append(str(error))
        raise error

    return close


@pytest.mark.requirement("RES-9")
async def test_the_first_failure_of_closing_is_raised_and_names_the_others() -> None:
    seen: list[str] = []
    closings = [raising(OSError("1"), seen), raising(Panic("2"), seen)]
    with pytest.raises(OSError, match="1") as raised:
        await close_all(*closings)  # type: ignore[arg-type]
    assert (seen, raised.value.__notes__) == (["1", "2"], ["and then: Panic"])
