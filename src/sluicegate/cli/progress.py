"""A line on a terminal for work that takes longer than two seconds; nothing otherwise."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sluicegate.rendering.escaping import escape_terminal

PATIENCE_S: Final = 2.0


class Progress:
    """What is going on: ``tell`` notes how far it is and may be called as often as one likes."""

    __slots__ = ("_count", "_far", "_what")

    def __init__(self, what: str) -> None:
        self._what = what
        self._far = ""
        self._count = 0

    def tell(self, far: str) -> None:
        """Count one more step; ``far`` says where it belongs."""
        self._far, self._count = far, self._count + 1

    @property
    def line(self) -> str:
        """The line for a terminal."""
        far = f" ({self._far}; {self._count:,} tried)" if self._far else ""
        return escape_terminal(f"{self._what}{far} …")


@contextmanager
def tell_progress(what: str) -> Iterator[Progress]:
    """Say on stderr, every two seconds, what is going on; only where a person watches."""
    progress = Progress(what)
    if not sys.stderr.isatty():
        yield progress
        return
    ended = threading.Event()
    teller = threading.Thread(target=_say, args=(progress, ended), daemon=True)
    teller.start()
    try:
        yield progress
    finally:
        ended.set()
        teller.join()


def _say(progress: Progress, ended: threading.Event) -> None:
    """Write the line anew wherever it has changed, and leave the last one standing."""
    said = ""
    while not ended.wait(PATIENCE_S):
        line = progress.line
        if line != said:
            sys.stderr.write(f"\r{line}\x1b[K" if said else line)
            sys.stderr.flush()
            said = line
    if said:
        sys.stderr.write("\n")
        sys.stderr.flush()
