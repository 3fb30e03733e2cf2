"""Numbers as a person reads them."""

from __future__ import annotations


def count_of(count: int, noun: str) -> str:
    """Return ``1 answer``, ``2 answers``: for nouns that take an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
