"""Cedar policy text taken apart into its statements, so that a fault can be told with its line.

The engine names a faulty policy by its number, or not at all. It also parses by recursion without
a limit: a thousand nested parentheses end the process. So a text is bounded before it is parsed,
and its words must be the engine's own: what only this module took for a comment would be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

# The words of Cedar's grammar, https://docs.cedarpolicy.com/policies/syntax-grammar.html: a comment
# ends at CR or LF; blank is what Unicode calls White_Space, which is less than Python's \s.
# A string may lack its closing quote: the engine reads nothing behind it, and a search would begin
# anew at each quotation mark in it.
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_COMMENT: Final = r"//[^\n\r]*+"
_BLANK: Final = r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
_WORD: Final = r"[A-Za-z_][A-Za-z0-9_]*+"
_GAP: Final = rf"(?:{_BLANK}|{_COMMENT})*+"

_TOKEN: Final = re.compile(rf"{_STRING}|{_COMMENT}|;", re.DOTALL)
_PARTS: Final = re.compile(
    rf"{_STRING}|{_COMMENT}|(?P<open>[(\[{{])|(?P<close>[)\]}}])"
    r"|(?P<operator>\b(?:if|when|unless|has)\b|&&|\|\||[.+*!-])",
    re.DOTALL,
)
_LEADING: Final = re.compile(_GAP)

_HAS: Final = re.compile(
    rf"{_STRING}|{_COMMENT}|\bhas\b{_GAP}(?P<name>{_WORD}(?:{_GAP}\.{_GAP}{_WORD})*+|{_STRING})",
    re.DOTALL,
)
"""The engine reads no other form of it."""

_MISTAKE: Final = "1 + true == 2"
"""Of the wrong type: the validator tells of it, unless it stands where nothing is ever judged."""

_TOKEN_OF_SCHEMA: Final = re.compile(
    rf"{_STRING}|{_COMMENT}|(?P<open>[(\[{{<])|(?P<close>[)\]}}>])", re.DOTALL
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
    line, line_start, seen = 1, 0, 0
    for begins, end in _find_bounds(text):
        line += text.count("\n", seen, begins)
        line_start = text.rfind("\n", seen, begins) + 1 or line_start
        seen = begins
        column = begins - line_start + 1
        yield Statement(document=document, text=text[begins:end], line=line, column=column)


def _find_bounds(text: str) -> Iterator[tuple[int, int]]:
    begins = _skip_gap(text, 0)
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            yield begins, token.end()
            begins = _skip_gap(text, token.end())
    if begins < len(text):
        yield begins, len(text)


def _skip_gap(text: str, start: int) -> int:
    return _LEADING.match(text, start).end()  # type: ignore[union-attr]  # it may be empty


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


def plant_behind_has(text: str) -> Iterator[tuple[str, str]]:
    """Yield each `has NAME` of a policy, and the policy with a mistake that it alone guards."""
    for found in _HAS.finditer(text):
        if found["name"]:
            end = found.end()
            yield found[0], f"{text[:end]} && {_MISTAKE}{text[end:]}"


def plant_at_end(text: str) -> str:
    """Return a policy with a mistake that is judged where all its conditions may hold."""
    return f"{text.removesuffix(';')} when {{ {_MISTAKE} }};"


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
