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


def test_quick_work_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(terminal=True)
    monkeypatch.setattr(sys, "stderr", screen)
    with tell_progress("checking"):
        pass
    assert screen.getvalue() == ""


class Prompt(threading.Timer):
    """A timer that is due as soon as it is started."""

    def start(self) -> None:
        self.function(*self.args, **self.kwargs)


@pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "no terminal"])
def test_long_work_is_told_to_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    screen = Screen(terminal=terminal)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress.threading, "Timer", Prompt)
    with tell_progress("checking"):
        assert screen.flushed.is_set() is terminal
    assert screen.getvalue() == ("checking …\n" if terminal else "")
