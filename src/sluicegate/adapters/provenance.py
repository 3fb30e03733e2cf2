"""What every receipt of one adapter has in common."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from sluicegate.values.receipts import Fault, Receipt

PACKAGE_VERSION: Final = version("sluicegate")
MAX_DIAGNOSTICS: Final = 16_384
"""Bytes of stderr or exception text that go to custody."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Which adapter speaks to which upstream; ``endpoint`` is never expanded."""

    adapter: str
    version: str
    endpoint: str

    def fail(self, fault: Fault, *, dispatched: bool, diagnostics: str = "") -> Receipt:
        """Return the receipt of an attempt that brought no bytes."""
        return Receipt(
            adapter=self.adapter,
            adapter_version=self.version,
            endpoint=self.endpoint,
            fault=fault,
            dispatched=dispatched,
            diagnostics=bound_text(diagnostics),
        )


class ProgramOutput:
    """What a program writes: its stdout up to ``max_bytes``, and the end of its stderr.

    ``stdout`` holds at most ``max_bytes``; ``stderr`` at most ``MAX_DIAGNOSTICS``, the last ones,
    where errors stand. ``is_too_large``: stdout went on behind its limit, and nothing more of it
    is kept. Source: SPEC ADP-3.
    """

    def __init__(self, max_bytes: int) -> None:
        self.stdout: Final = bytearray()
        self.stderr: Final = bytearray()
        self.is_too_large = False
        self._max_bytes = max_bytes

    def take_stdout(self, chunk: bytes) -> None:
        """Keep what has room."""
        if self.is_too_large:
            return
        room = self._max_bytes - len(self.stdout)
        self.stdout.extend(chunk[:room])
        self.is_too_large = len(chunk) > room

    def take_stderr(self, chunk: bytes) -> None:
        """Keep it as the newest."""
        self.stderr.extend(chunk)
        del self.stderr[:-MAX_DIAGNOSTICS]


def bound_text(text: str) -> bytes:
    """Return ``text`` as at most ``MAX_DIAGNOSTICS`` bytes; the end is kept, where errors stand."""
    return text[-MAX_DIAGNOSTICS:].encode("utf-8", "backslashreplace")[-MAX_DIAGNOSTICS:]
