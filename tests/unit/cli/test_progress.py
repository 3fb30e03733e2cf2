"""Progress: one line, after a while, and only where a person watches."""

from __future__ import annotations

import io
import sys
import threading

import pytest

from sluicegate.cli import progress
from sluicegate.cli.progress import tell_progress


class Screen(io.StringIO):
    """A terminal that tells when something was written to it."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal
        self.flushed = threading.Event()

    def isatty(self) -> bool:
        return self._terminal

    def flush(self) -> None:
        self.flushed.set()


@pytest.mark.requirement("CLI")
def test_long_work_is_told_once_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(terminal=True)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    with tell_progress("checking \x1b[31m"):
        assert screen.flushed.wait(10)
    assert screen.getvalue() == "checking ␛[31m …\n"


@pytest.mark.parametrize("terminal", [True, False], ids=["quick", "no terminal"])
def test_quick_work_and_piped_work_are_silent(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    screen = Screen(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    if not terminal:
        monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    with tell_progress("checking"):
        pass
    assert screen.getvalue() == ""
