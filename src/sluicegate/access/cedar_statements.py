"""Cedar policy text taken apart into its statements, so that a fault can be told with its line.

The engine names a faulty policy by its number, or not at all. It also parses by recursion without
a limit: a thousand nested parentheses end the process. So a text is bounded before it is parsed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sluicegate.contracts.json_reading import locate

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|//[^\n]*+|;', re.DOTALL)
_PARTS: Final = re.compile(
    r'"(?:[^"\\]|\\.)*+"|//[^\n]*+|(?P<open>[(\[{])|(?P<close>[)\]}])'
    r"|(?P<operator>\b(?:if|when|unless)\b|&&|\|\||[.+*!-])",
    re.DOTALL,
)
_LEADING: Final = re.compile(r"(?:\s|//[^\n]*+)*+")


_TOKEN_OF_SCHEMA: Final = re.compile(
    r'"(?:[^"\\]|\\.)*+"|//[^\n]*+|(?P<open>[(\[{<])|(?P<close>[)\]}>])', re.DOTALL
)
MAX_NESTING: Final = 64
MAX_OPERATORS: Final = 500
"""In one policy. From 1,000 on the engine may crash, or pass what it did not judge to the end."""


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


def find_excess(text: str) -> str | None:
    """Return what of a policy is more than the engine can be trusted with, or None."""
    depth = operators = 0
    for part in _PARTS.finditer(text):
        if part["open"]:
            depth += 1
            operators += part["open"] == "["
        elif part["close"]:
            depth -= 1
        elif part["operator"]:
            operators += 1
        if depth > MAX_NESTING:
            return f"nests deeper than {MAX_NESTING} levels"
    if operators > MAX_OPERATORS:
        return f"has more than {MAX_OPERATORS} operators"
    return None


def nests_too_deep(schema: str) -> bool:
    """Whether the text of a schema nests deeper than ``MAX_NESTING``; ``<`` is a bracket there."""
    depth = 0
    for part in _TOKEN_OF_SCHEMA.finditer(schema):
        if part["open"]:
            depth += 1
        elif part["close"]:
            depth -= 1
        if depth > MAX_NESTING:
            return True
    return False
