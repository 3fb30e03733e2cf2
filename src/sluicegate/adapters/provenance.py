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


def bound_text(text: str) -> bytes:
    """Return ``text`` as at most ``MAX_DIAGNOSTICS`` bytes; the end is kept, where errors stand."""
    return text[-MAX_DIAGNOSTICS:].encode("utf-8", "backslashreplace")[-MAX_DIAGNOSTICS:]
