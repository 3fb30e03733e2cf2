"""One loop drives every child process: what a child did not finish has no line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

from sluicegate.contracts.schemas import compiling
from sluicegate.opening import child_limits, children, deciding_child, proving_child, trial_child
from sluicegate.opening.children import Ended, run_through
from sluicegate.values.json import JsonValue

pytestmark = pytest.mark.requirement("CON-2", "LIF-3")

SCRIPT = Path("child.py")


def ended(*lines: str, succeeded: bool = False, by_itself: bool = True) -> Ended:
    return Ended(
        lines=tuple(line.encode() for line in lines), succeeded=succeeded, by_itself=by_itself
    )


CUT = {"by_itself": False}
RUNS: dict[str, tuple[list[Ended], list[list[str]], list[bytes | None]]] = {
    "all in one": ([ended("A", "B", "C", succeeded=True)], [["a", "b", "c"]], [b"A", b"B", b"C"]),
    "one ends its child": (
        [ended("A"), ended("C", succeeded=True)],
        [["a", "b", "c"], ["c"]],
        [b"A", None, b"C"],
    ),
    "the first ends its child": (
        [ended(), ended("B", "C", succeeded=True)],
        [["a", "b", "c"], ["b", "c"]],
        [None, b"B", b"C"],
    ),
    "the last ends its child, whatever it wrote": (
        [ended("A", "B", "C")],
        [["a", "b", "c"]],
        [b"A", b"B", None],
    ),
    "the clock ends a child that others kept busy": (
        [ended("A", **CUT), ended("B", "C", succeeded=True)],
        [["a", "b", "c"], ["b", "c"]],
        [b"A", b"B", b"C"],
    ),
    "the clock ends a child at its first": (
        [ended(**CUT), ended("B", "C", succeeded=True)],
        [["a", "b", "c"], ["b", "c"]],
        [None, b"B", b"C"],
    ),
    "a child that succeeds and leaves some out": (
        [ended("A", succeeded=True), ended("C", succeeded=True)],
        [["a", "b", "c"], ["c"]],
        [b"A", None, b"C"],
    ),
    "a child that says more than it was asked": (
        [ended("A", "B", "C", "D", "E", succeeded=True)],
        [["a", "b", "c"]],
        [b"A", b"B", b"C"],
    ),
    "none can be started": (
        [ended(), ended(), ended()],
        [["a", "b", "c"], ["b", "c"], ["c"]],
        [None, None, None],
    ),
}


@pytest.mark.parametrize(("ends", "given", "lines"), RUNS.values(), ids=RUNS)
def test_the_next_child_goes_on_behind_what_ended_the_last(
    monkeypatch: pytest.MonkeyPatch,
    ends: list[Ended],
    given: list[list[str]],
    lines: list[bytes | None],
) -> None:
    asked: list[list[JsonValue]] = []

    def run(script: Path, entries: Sequence[JsonValue], wall_s: float) -> Ended:
        assert (script, wall_s) == (SCRIPT, 2.0)
        asked.append(list(entries))
        return ends[len(asked) - 1]

    monkeypatch.setattr(children, "run_child", run)
    assert run_through(SCRIPT, ["a", "b", "c"], 2.0, pack=list) == lines
    assert asked == given


def test_no_more_children_are_started_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def run(script: Path, entries: Sequence[JsonValue], wall_s: float) -> Ended:
        asked.append(len(entries))
        return ended()

    monkeypatch.setattr(children, "run_child", run)
    assert run_through(SCRIPT, ["a", "b", "c"], 2.0, most=2, pack=list) == [None, None, None]
    assert asked == [3, 2]
    assert run_through(SCRIPT, [], 2.0, pack=list) == []
    assert asked == [3, 2]


@pytest.mark.parametrize(
    "child", [trial_child, proving_child, deciding_child], ids=lambda child: child.__name__
)
def test_a_child_compiles_and_is_limited_by_the_one_code_there_is(child: ModuleType) -> None:
    assert child.limit_process is child_limits.limit_process
    assert child.limit_processor_time is child_limits.limit_processor_time
    text = Path(str(child.__file__)).read_text()
    assert not re.search(r"RegexOptions|size_limit|validate_formats=|setrlimit", text)


def test_the_trial_compiles_as_a_gate_does() -> None:
    assert trial_child.compile_validator is compiling.compile_validator
