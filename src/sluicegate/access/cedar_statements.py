"""Cedar policy text taken apart into its statements, so that a fault can be told with its line.

The engine names a faulty policy by its number, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.json_reading import locate

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|//[^\n]*+|;', re.DOTALL)
_LEADING: Final = re.compile(r"(?:\s|//[^\n]*+)*+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One policy of one document; ``line`` and ``column`` are where its first word stands."""

    document: str
    text: str
    line: int
    column: int


def split_statements(document: str, text: str) -> Iterator[Statement]:
    """Yield what stands between the semicolons, comments and strings left whole.

    What follows the last semicolon is a statement too, unless it is blank or a comment.
    """
    start = 0
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            yield _statement(document, text, start, token.end())
            start = token.end()
    if _LEADING.match(text, start).end() < len(text):  # type: ignore[union-attr]  # it may be empty
        yield _statement(document, text, start, len(text))


def _statement(document: str, text: str, start: int, end: int) -> Statement:
    leading = _LEADING.match(text, start, end)
    begins = start if leading is None else leading.end()
    line, column = locate(text, begins)
    return Statement(document=document, text=text[begins:end], line=line, column=column)
