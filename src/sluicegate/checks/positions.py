"""Where a byte stands in a received text."""

from __future__ import annotations


def locate_byte(raw: bytes, offset: int) -> tuple[int, int]:
    """Return (line, column) of the byte at ``offset``: both count from 1, columns in bytes."""
    return raw.count(b"\n", 0, offset) + 1, offset - raw.rfind(b"\n", 0, offset)
