"""One line on a terminal for work that takes longer than two seconds; nothing otherwise."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sluicegate.rendering.escaping import escape_terminal

PATIENCE_S: Final = 2.0


@contextmanager
def tell_progress(what: str) -> Iterator[None]:
    """Say on stderr, after two seconds, what is going on; only where a person watches."""
    if not sys.stderr.isatty():
        yield
        return
    timer = threading.Timer(PATIENCE_S, _say, (what,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _say(what: str) -> None:
    sys.stderr.write(escape_terminal(f"{what} …") + "\n")
    sys.stderr.flush()
