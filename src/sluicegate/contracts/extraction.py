"""The linear-time expression that takes a declared text apart (SPEC RES-10, ``extract``).

RE2, because the pattern engine of the schemas hands out no groups and Python's own ``re`` can take
exponential time. Look-around and back references are refused, as schema patterns refuse them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import re2  # type: ignore[import-untyped]  # ships no types

MAX_PROGRAM_BYTES: Final = 1 << 20
"""What one compiled expression may take; a greedy counter like ``(a{999}){999}`` does not load."""


class Extraction:
    """A compiled expression. ``names`` are its named groups, in the order of the pattern."""

    __slots__ = ("_fullmatch", "names")

    def __init__(self, compiled: Any) -> None:
        self._fullmatch = compiled.fullmatch
        self.names: tuple[str, ...] = tuple(
            sorted(compiled.groupindex, key=compiled.groupindex.__getitem__)
        )

    def match_whole(self, text: str) -> dict[str, str] | None:
        """Return the named groups that took part, or None unless all of ``text`` matches."""
        matched = self._fullmatch(text)
        if matched is None:
            return None
        return {name: found for name, found in matched.groupdict().items() if found is not None}


_GROUP_NAME: Final = re.compile(r"\(\?P?<([^>]*)>")


@lru_cache(maxsize=256)
def compile_extraction(pattern: str) -> Extraction:
    """Compile ``pattern``; the same pattern is compiled once.

    Raises: ValueError, saying what is wrong, for what RE2 refuses, where no group has a name or
    two have the same (RE2 would drop one), and for ``\\C``, which can cut a character in two.
    """
    if "\\C" in pattern:
        raise ValueError(r"the expression matches single bytes: write (?s:.) for \C")
    options = re2.Options()
    options.max_mem = MAX_PROGRAM_BYTES
    options.log_errors = False
    try:
        extraction = Extraction(re2.compile(pattern, options))
    except re2.error as error:
        raise ValueError(f"the expression is not one that RE2 takes: {_text_of(error)}") from None
    written = _GROUP_NAME.findall(pattern)
    if len(set(written)) < len(written):
        raise ValueError("the expression gives two groups the same name")
    if not extraction.names:
        raise ValueError("the expression names no group: write (?P<member>…) for each member")
    return extraction


def _text_of(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
