"""Colour, applied last: texts are built and escaped first, then painted or left as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_RESET: Final = "\x1b[0m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """Paints already escaped text; with ``colour`` false every method returns it unchanged."""

    colour: bool = False

    def strong(self, text: str) -> str:
        """A heading or a name."""
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        """What stands beside the point."""
        return self._paint("2", text)

    def bad(self, text: str) -> str:
        """A refusal."""
        return self._paint("1;31", text)

    def good(self, text: str) -> str:
        """An acceptance."""
        return self._paint("1;32", text)

    def warn(self, text: str) -> str:
        """Something open, that a person must look at."""
        return self._paint("1;33", text)

    def place(self, text: str) -> str:
        """A file, line and column, or a gutter."""
        return self._paint("36", text)

    def _paint(self, style: str, text: str) -> str:
        return f"\x1b[{style}m{text}{_RESET}" if self.colour and text else text


PLAIN: Final = Paint()
