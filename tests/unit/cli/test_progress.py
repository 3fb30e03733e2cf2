"""Progress is told where a person watches, and nowhere else."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from sluicegate.cli import progress
from sluicegate.cli.progress import Progress, tell_progress

pytestmark = pytest.mark.requirement("CLI")


class Terminal(io.StringIO):
    """Says that it is one, and when something was written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def flush(self) -> None:
        self.written.set()


def test_a_line_says_what_is_done_where_and_how_often() -> None:
    told = Progress("testing lx")
    assert told.line == "testing lx …"
    for _ in range(1200):
        told.tell("pull, 2 of 28 fixtures")
    assert told.line == "testing lx (pull, 2 of 28 fixtures; 1,200 tried) …"


def test_a_folder_cannot_write_to_the_terminal_by_its_name() -> None:
    assert Progress("testing \x1b[31m").line == "testing ␛[31m …"


def test_the_line_is_written_anew_while_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE_S", 0.001)
    with tell_progress("testing lx") as told:
        assert terminal.written.wait(10)
        terminal.written.clear()
        told.tell("pull")
        assert terminal.written.wait(10)
    assert terminal.getvalue() == "testing lx …\rtesting lx (pull; 1 tried) …\x1b[K\n"


def test_quick_work_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with tell_progress("testing lx") as told:
        told.tell("pull")
    assert terminal.getvalue() == ""


def test_nobody_watches_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    with tell_progress("testing lx") as told:
        told.tell("pull")
    assert file.getvalue() == ""
