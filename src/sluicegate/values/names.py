"""Attacker-made names: cut at 64 characters, and every character that is not plain is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MAX_SHOWN_NAME: Final = 64
MAX_SHOWN_SENTENCE: Final = 400


def show_name(name: str) -> str:
    """Return ``name`` fit for a finding: at most 64 characters, non-printing ones as ``\\uXXXX``.

    Source: SPEC ARG-3, AUD-5. ``str.isprintable`` is false for control, format, surrogate,
    private-use and separator characters other than the blank.
    """
    return _show(name, MAX_SHOWN_NAME)


def show_sentence(text: str) -> str:
    """Return a sentence of an operator's own document, escaped as a name, cut at 400 characters."""
    return _show(text, MAX_SHOWN_SENTENCE)


def find_near(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to ``name``, case aside, or None where none is near."""
    lowered = {each.lower(): each for each in sorted(known, reverse=True)}
    found = get_close_matches(name[:200].lower(), lowered, n=1)
    return lowered[found[0]] if found else None


def say_near(name: str, known: Iterable[str], *, ending: str = "") -> str:
    """Return ``; did you mean NAME?`` of the known name nearest to ``name``, empty without one.

    ``ending`` is what every known name goes on with where it is shown.
    """
    near = find_near(name, known)
    return "" if near is None else f"; did you mean {show_name(near)}{ending}?"


def _show(text: str, most: int) -> str:
    shown = "".join(
        character if character.isprintable() else _escape(character) for character in text[:most]
    )
    return shown if len(text) <= most else shown + "…"


def _escape(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\u{{{point:x}}}"
