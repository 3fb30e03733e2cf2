"""Each dependency, down, slow, lying, raising: the published table, cell by cell, each a denial.

What is tested where the dependency has a suite of its own is named in the table by file and test.
"""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.gates.job_status import ARGUMENTS, answer, contracts

from sluicegate.access.python import FunctionAuthorizer
from sluicegate.contracts.problems import Problem
from sluicegate.errors import ConfigurationError
from sluicegate.gates.events import AuditEvent
from sluicegate.gates.gate import Gate
from sluicegate.gates.ports import AccessQuery, AuditUnavailable, Authorizer, Clock
from sluicegate.gates.tenure import Opened, Reopen
from sluicegate.stores.keys import draw_keys
from sluicegate.stores.memory import MemoryStore
from sluicegate.stores.sqlite import SqliteStore
from sluicegate.testing import FixedClock, RecordedUpstream, gate_of
from sluicegate.values.callers import Caller
from sluicegate.values.codes import Code

pytestmark = pytest.mark.requirement("RES-9", "ACC-1", "AUD-1")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "failures.md"
CALLER = Caller(subject="svc-deploy")
KINDS = ("down", "slow", "lying", "raising")


class PanicError(BaseException):
    """What native code raises when it panics: no Exception."""


def decided_by(function: Callable[[AccessQuery], object]) -> dict[str, Any]:
    return {"authorizer": FunctionAuthorizer(function, name="test:decide")}


def raises(error: BaseException) -> Callable[..., Any]:
    def function(*args: object, **named: object) -> object:
        raise error

    return function


async def hang(query: AccessQuery) -> object:
    await asyncio.sleep(30)
    return True


class Broken(MemoryStore):
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error

    async def record(self, events: Sequence[AuditEvent], **how: Any) -> tuple[str, ...]:
        raise self.error


class OddClock(FixedClock):
    """A clock that is at fault once a call has begun."""

    def __init__(self, now: Callable[[FixedClock], Any]) -> None:
        super().__init__()
        self._odd = now
        self.begun = False

    def now(self) -> datetime:
        odd: datetime = self._odd(self) if self.begun else super().now()
        return odd


class LateClock(FixedClock):
    """Each look at it takes a minute."""

    def monotonic(self) -> float:
        self.advance(60)
        return super().monotonic()


async def call(
    *,
    authorizer: Authorizer | None = None,
    store: MemoryStore | SqliteStore | None = None,
    clock: Clock | None = None,
) -> tuple[str, str | None, int]:
    """Make one call; return what the agent saw of it, and how often the upstream was sent to."""
    upstream = RecordedUpstream(answer())
    gate = gate_of(
        contracts(), {"job_status": upstream}, authorizer=authorizer, store=store, clock=clock
    )
    if isinstance(clock, OddClock):
        clock.begun = True
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    return given.outcome, given.code, len(upstream.dispatches)


async def call_while_the_disk_hangs(tmp_path: Path) -> tuple[str, str | None, int]:
    """Another process holds the record's lock longer than the gate waits."""
    import fcntl

    store = SqliteStore(tmp_path / "a.db", draw_keys(), patience_s=0.2)
    with (tmp_path / "a.db.lock").open("r+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fcntl.lockf(lock, fcntl.LOCK_EX)
        seen = await call(store=store)
    await store.close()
    return seen


def reload_with(
    reopen: Reopen,
) -> Callable[[], Awaitable[tuple[str, str | None, int]]]:
    """Reload through ``reopen``, and see that the old set judges on."""

    async def run() -> tuple[str, str | None, int]:
        upstream = RecordedUpstream(answer())
        old = gate_of(contracts(), {"job_status": upstream})
        gate = Gate(old._means, old._serving, reopen=reopen)
        problems = await gate.reload()
        assert problems
        assert gate.contracts is old.contracts
        kept = [event for event in gate.audit.events() if event.kind == "contracts"][-1]
        assert kept.outcome == "refused"
        return "kept", str(problems[0].code), len(upstream.dispatches)

    return run


async def call_while_the_folder_hangs() -> tuple[str, str | None, int]:
    """The folder is read for as long as the old set takes to answer a call."""
    begun, answered = threading.Event(), threading.Event()

    def reopen(before: Opened) -> tuple[Problem, ...]:
        begun.set()
        assert answered.wait(20), "no call was answered while the folder was read"
        return (Problem(code=Code.CONTRACT_INVALID, document="d", message="late", mend=""),)

    upstream = RecordedUpstream(answer())
    old = gate_of(contracts(), {"job_status": upstream})
    gate = Gate(old._means, old._serving, reopen=reopen)
    reloading = asyncio.create_task(gate.reload())
    assert await asyncio.to_thread(begun.wait, 20)
    given = await gate.call("job_status", ARGUMENTS, caller=CALLER)
    assert (given.outcome, len(upstream.dispatches)) == ("success", 1)
    assert not reloading.done()
    answered.set()
    (problem,) = await reloading
    assert problem.message == "late"
    assert gate.contracts is old.contracts
    return "kept", str(problem.code), 0


def keys_at(text: str) -> Callable[[Path], Awaitable[tuple[str, str | None, int]]]:
    """Open the record with keys that ``text`` stands for: nothing opens, nothing is served."""

    async def run(tmp_path: Path) -> tuple[str, str | None, int]:
        from sluicegate.contracts.settings import AuditSettings, RetentionSettings
        from sluicegate.stores.stores import open_store

        (tmp_path / "state").mkdir()
        (tmp_path / "keys").mkdir(mode=0o700)
        if text:
            for path in ("keys", "bad"):
                (tmp_path / path).mkdir(exist_ok=True)
            (tmp_path / "bad" / "audit.keys").write_text(text)
        with pytest.raises(ConfigurationError):
            open_store(
                AuditSettings(keys="env:NO_SUCH_VARIABLE" if not text else "file:bad/"),
                RetentionSettings(),
                tmp_path,
            )
        return "not opened", "exit 2", 0

    return run


Cell = Callable[..., Awaitable[tuple[str, str | None, int]]]

CELLS: dict[tuple[str, str], Cell] = {
    ("decision function", "down"): lambda: call(**decided_by(raises(ConnectionError("down")))),
    ("decision function", "slow"): lambda: call(**decided_by(hang)),
    ("decision function", "lying"): lambda: call(**decided_by(lambda query: "yes")),
    ("decision function", "raising"): lambda: call(**decided_by(raises(ValueError("odd")))),
    ("record", "down"): lambda: call(store=Broken(AuditUnavailable("gone"))),
    ("record", "slow"): call_while_the_disk_hangs,
    ("record", "raising"): lambda: call(store=Broken(PanicError("at the disco"))),
    ("clock", "down"): lambda: call(clock=OddClock(lambda clock: raises(OSError("no clock"))())),
    ("clock", "slow"): lambda: call(clock=LateClock()),
    ("clock", "lying"): lambda: call(
        clock=OddClock(lambda clock: FixedClock.now(clock) + timedelta(days=400))
    ),
    ("clock", "raising"): lambda: call(clock=OddClock(raises(PanicError("tick")))),
    ("contract folder", "down"): reload_with(raises(FileNotFoundError("gone"))),
    ("contract folder", "slow"): call_while_the_folder_hangs,
    ("contract folder", "raising"): reload_with(raises(PanicError("at the disco"))),
    ("audit keys", "down"): keys_at(""),
    ("audit keys", "lying"): keys_at("not a key\n"),
}
"""(dependency, how it fails) → the scenario, for the cells that no suite of its own holds."""


def rows() -> dict[tuple[str, str], str]:
    """The rows of the page: (dependency, how) → what stands there. A row may be for several."""
    found: dict[tuple[str, str], str] = {}
    for section in PAGE.read_text("utf-8").split("\n### ")[1:]:
        dependency, _, text = section.split("\n## ")[0].partition("\n")
        for line in text.splitlines():
            how, *told = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if line.startswith("| ") and how.strip("|- "):
                assert len(told) == 5, line
                found.update({(dependency, kind): " ".join(told) for kind in how.split(", ")})
    return found


@pytest.mark.parametrize(("dependency", "how"), CELLS, ids=str)
async def test_the_cell_says_what_happens_and_nothing_passes(
    dependency: str, how: str, tmp_path: Path
) -> None:
    cell = CELLS[dependency, how]
    outcome, code, sent = await (cell(tmp_path) if _takes_folder(cell) else cell())
    assert outcome != "success"
    told = rows()[dependency, how]
    assert f"`{code}`" in told
    assert (outcome == "failure") is (sent > 0)


def _takes_folder(cell: Cell) -> bool:
    return "tmp_path" in inspect.signature(cell).parameters


def test_every_cell_of_the_page_is_held_here_or_names_the_test_that_holds_it() -> None:
    for (dependency, how), told in rows().items():
        named = re.findall(r"\[[^\]]*\]\(\.\./\.\./(tests/[^)#]+)#(test_\w+)\)", told)
        if (dependency, how) in CELLS:
            assert named == [], (dependency, how)
            continue
        assert named, (dependency, how)
        for file, test in named:
            assert f"def {test}(" in (ROOT / file).read_text("utf-8"), (file, test)


def test_every_scenario_has_its_cell() -> None:
    assert set(CELLS) - set(rows()) == set()


def test_each_dependency_is_told_down_slow_lying_and_raising() -> None:
    told = rows()
    dependencies = {dependency for dependency, _ in told}
    assert len(dependencies) == 20
    assert {(each, kind) for each in dependencies for kind in KINDS} - set(told) == set()


def test_each_link_within_the_page_leads_to_a_heading() -> None:
    page = PAGE.read_text("utf-8")
    headings = re.findall(r"(?m)^#+ (.*)$", page)
    anchors = {re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= anchors
